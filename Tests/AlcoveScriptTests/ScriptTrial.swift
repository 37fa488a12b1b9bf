import AlcoveCore
import AlcoveSandbox
import AlcoveScript
import Foundation
import Testing

/// Runs programs in this process, in the sandbox, and in the language's own interpreter.
struct ScriptTrial: Equatable {
    var output: String
    var error: String
    var status: Int32

    enum Way: String, Sendable, CaseIterable {
        case here
        case sandbox
    }

    /// Files for the three streams: a pipe could fill up while nobody reads.
    private final class Streams {
        let folder: String
        let descriptors: [Int32]

        init(input: String) throws {
            folder = "/tmp/alcove-streams-\(UInt64.random(in: .min ... .max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try input.write(toFile: folder + "/in", atomically: false, encoding: .utf8)
            descriptors = [
                open(folder + "/in", O_RDONLY | O_CLOEXEC),
                open(folder + "/out", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600),
                open(folder + "/err", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600),
            ]
        }

        func text(_ name: String) -> String {
            String(
                decoding: (try? Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))) ?? Data(), as: UTF8.self)
        }

        deinit {
            for descriptor in descriptors { close(descriptor) }
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    static func run(
        _ way: Way, _ language: ScriptRequest.Language, _ arguments: [String], in folder: String, input: String = "",
        environment: [String: String] = [:], seconds: Double = 60, stop: StopSignal = StopSignal(),
        readOnly: [ConfinedPaths.Mount] = []
    ) throws -> ScriptTrial {
        let streams = try Streams(input: input)
        var request = ScriptRequest(language: language, arguments: arguments)
        request.environment = environment.merging(["HOME": "/workspace"]) { given, _ in given }
        request.limits.seconds = seconds
        let place = ScriptPlace(workspace: folder, readOnly: readOnly)
        let runner: any ScriptRunner = way == .here ? InProcessScripts() : sandbox
        let running = try runner.start(request, in: place, streams: streams.descriptors)
        stop.whenSet { running.kill() }
        if way == .sandbox || language == .python {
            // What a shell's time limit does; JavaScript in this process keeps to it by itself.
            _ = startThread(name: "deadline") {
                var wish = pollfd(fd: running.endDescriptor, events: Int16(POLLIN), revents: 0)
                if poll(&wish, 1, Int32(seconds * 1000)) == 0 { running.kill() }
            }
        }
        let status = try running.wait()
        func shown(_ name: String) -> String { streams.text(name).replacing(folder, with: "/workspace") }
        return ScriptTrial(output: shown("out"), error: shown("err"), status: status)
    }

    static let sandbox = ScriptSandbox(program: products + "/alcove-runtime")

    /// Where the tests and the programs were built.
    static let products: String = {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0])
        for _ in 0..<6 {
            folder.deleteLastPathComponent()
            if FileManager.default.isExecutableFile(atPath: folder.path + "/alcove-runtime") { return folder.path }
        }
        let path = "/proc/self/exe"
        let real = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? path
        return String(real[..<(real.lastIndex(of: "/") ?? real.startIndex)])
    }()

    /// The language's own interpreter, with no confinement: what it says is what ours should.
    static func reference(_ program: String, _ arguments: [String], in folder: String, input: String = "") throws
        -> ScriptTrial
    {
        let streams = try Streams(input: input)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"]
        let handles = streams.descriptors.map { FileHandle(fileDescriptor: $0, closeOnDealloc: false) }
        (process.standardInput, process.standardOutput, process.standardError) = (handles[0], handles[1], handles[2])
        try process.run()
        process.waitUntilExit()
        return ScriptTrial(
            output: streams.text("out").replacing(folder, with: "/workspace"),
            error: streams.text("err").replacing(folder, with: "/workspace"),
            status: process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0))
    }
}

/// A folder that is gone with the value's last reference.
final class ScratchFolder: Sendable {
    let path: String

    init() {
        path = "/tmp/alcove-script-\(UInt64.random(in: .min ... .max))"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func write(_ text: String, to name: String) throws {
        let file = URL(fileURLWithPath: path + "/" + name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    func text(_ name: String) -> String? { try? String(contentsOfFile: path + "/" + name, encoding: .utf8) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Suites with the sandbox run one after another, and nowhere where none can be made: in a chroot.
enum SandboxHere {
    static let isPossible: Bool = {
        guard let text = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return true }
        let isPossible = text.split(separator: "\n").contains { $0.split(separator: " ").dropFirst(4).first == "/" }
        if !isPossible {
            print("\nSKIPPED: programs in the sandbox. This is a chroot, and no sandbox can be made in one.\n")
        }
        return isPossible
    }()

    static var ways: [ScriptTrial.Way] { isPossible ? [.here, .sandbox] : [.here] }
}

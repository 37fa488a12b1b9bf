import AlcoveCore
import AlcoveSandbox
import AlcoveShell
import Foundation
import Synchronization

/// What a script wrote and how it ended, here or in the reference shell.
struct ScriptRun: Equatable {
    var output: [UInt8]
    var status: Int32

    /// Runs a script in this process.
    static func here(
        _ script: String, in folder: String, input: String = "", arguments: [String] = [],
        limits: CommandLimits = CommandLimits(), stop: StopSignal = StopSignal()
    ) -> (run: ScriptRun, error: String, result: CommandResult) {
        let output = Mutex<([UInt8], [UInt8])>(([], []))
        let session = ShellSession(paths: ConfinedPaths(workspace: folder), limits: limits)
        let result = try! session.run(
            .init(script: Array(script.utf8), arguments: arguments.map { Array($0.utf8) }),
            input: .bytes(Array(input.utf8)), stop: stop
        ) { piece in
            output.withLock {
                switch piece {
                case .standardOutput(let bytes): $0.0 += bytes
                case .standardError(let bytes): $0.1 += bytes
                }
            }
        }
        var status: Int32 = -1
        if case .exited(let code) = result.end { status = code }
        return output.withLock {
            (ScriptRun(output: $0.0, status: status), String(decoding: $0.1, as: UTF8.self), result)
        }
    }

    /// Runs it in dash, in a folder of its own that it sees under its real name.
    static func dash(_ script: String, in folder: String, input: String = "", arguments: [String] = []) throws
        -> ScriptRun
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/dash")
        process.arguments = ["-c", script, "sh"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8"]
        let standardOutput = Pipe()
        // A file and not a pipe: dash may be gone before all of it is written.
        let inputPath = folder + ".in"
        try input.write(toFile: inputPath, atomically: false, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: inputPath) }
        process.standardInput = FileHandle(forReadingAtPath: inputPath)
        process.standardOutput = standardOutput
        process.standardError = FileHandle(forWritingAtPath: "/dev/null")
        try process.run()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self).replacing(folder, with: "/workspace")
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        return ScriptRun(output: Array(text.utf8), status: status)
    }

    var shown: String { "\(status) \(String(decoding: output, as: UTF8.self).debugDescription)" }
}

/// A folder that is gone with the value's last reference.
final class ScratchFolder: Sendable {
    let path: String

    init() {
        path = "/tmp/alcove-shell-\(UInt64.random(in: .min ... .max))"
        try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

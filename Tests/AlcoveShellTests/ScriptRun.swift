import AlcoveCore
import AlcoveSandbox
import AlcoveShell
import CPosixShim
import Foundation
import Synchronization
import Testing

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

    /// Runs it in a shell of the system, in a folder of its own that it sees under its real name.
    ///
    /// Started with the signals of a fresh process: dash waits for ever for its children when SIGCHLD is blocked, as it
    /// is in what Foundation's `Process` starts from a thread here.
    static func reference(
        _ shell: String = "/usr/bin/dash", _ script: String, in folder: String, input: String = "",
        arguments: [String] = []
    ) throws -> ScriptRun {
        // Files and not pipes: the shell may be gone before all of its input is written.
        let (inputPath, outputPath) = (folder + ".in", folder + ".out")
        defer { for path in [inputPath, outputPath] { unlink(path) } }
        try input.write(toFile: inputPath, atomically: false, encoding: .utf8)
        let files = [
            open(inputPath, O_RDONLY), open(outputPath, O_WRONLY | O_CREAT | O_TRUNC, 0o600),
            open("/dev/null", O_WRONLY),
        ]
        defer { for file in files { close(file) } }
        let words =
            ["timeout", "-k", "1", "60", shell, "-c", "cd '\(folder)'; unset OLDPWD; " + script, "sh"] + arguments
        let environment = ["PATH=/usr/bin:/bin", "HOME=\(folder)", "LC_ALL=C.UTF-8", "TZ=UTC"]
        var process: Int32 = 0
        let code = withCStrings(words) { words in
            withCStrings(environment) {
                alcove_spawn("/usr/bin/timeout", words, $0, files, Int32(files.count), &process)
            }
        }
        try #require(code == 0, "\(shell) does not start: \(Platform.describe(errno: code))")
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let output = try Data(contentsOf: URL(fileURLWithPath: outputPath))
        let text =
            output.isEmpty || output.contains(folder)
            ? Array(String(decoding: output, as: UTF8.self).replacing(folder, with: "/workspace").utf8) : Array(output)
        return ScriptRun(output: text, status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
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

/// The strings as C has them, for the length of a call.
private func withCStrings<Value>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return (copies.map { $0.map { UnsafePointer($0) } } + [nil]).withUnsafeBufferPointer { body($0.baseAddress!) }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}

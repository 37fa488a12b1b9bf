import AlcoveCore
import Synchronization
import TestFolder
import Testing

@testable import AlcoveSandbox

/// A workspace beside a secret, and scripts that run in it.
///
/// There is no way round a missing sandbox here: where none can be had these tests fail.
struct SandboxedScript {
    let base: TemporaryFolder

    struct Answer: Sendable {
        var output: String
        var error: String
        var result: CommandResult

        var lines: [Substring] { output.split(separator: "\n") }
    }

    init() throws {
        base = try TemporaryFolder(in: "/var/tmp")
        try base.folder("work")
        try base.folder("work/sub")
        try base.file("work/a.txt", "inside\n")
        try base.folder("outside")
        try base.file("outside/secret", "OUTSIDE\n")
    }

    var workspace: String { base.path + "/work" }

    func run(
        _ script: String, limits: CommandLimits = CommandLimits(), input: String = "",
        environment: [String: String] = [:], allowsNetwork: Bool = false, stop: StopSignal = StopSignal()
    ) async throws -> Answer {
        let collected = Mutex((out: [UInt8](), error: [UInt8]()))
        let result = try await SandboxedScript.runner().run(
            CommandRequest(
                script: script, workspace: workspace, environment: environment, input: Array(input.utf8),
                limits: limits, allowsNetwork: allowsNetwork, stop: stop)
        ) { output in
            collected.withLock {
                switch output {
                case .standardOutput(let bytes): $0.out += bytes
                case .standardError(let bytes): $0.error += bytes
                }
            }
        }
        let all = collected.withLock { $0 }
        return Answer(
            output: String(decoding: all.out, as: UTF8.self), error: String(decoding: all.error, as: UTF8.self),
            result: result)
    }

    /// Waits until a script has made this file.
    func waitFor(_ name: String) async throws {
        for _ in 0..<2000 where !base.exists("work/" + name) { try await Task.sleep(for: .milliseconds(5)) }
        try #require(base.exists("work/" + name))
    }

    static func runner() -> any CommandRunner {
        #if os(Linux)
        BubblewrapRunner()
        #else
        SandboxExecRunner()
        #endif
    }
}

/// Whether a process has this word among its arguments, anywhere on the machine.
func isRunning(_ word: String) -> Bool {
    guard let folder = opendir("/proc") else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard let process = Int32(name), process != getpid(), let file = fopen("/proc/\(process)/cmdline", "r")
        else { continue }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = fread(&bytes, 1, bytes.count, file)
        if String(decoding: bytes[..<count], as: UTF8.self).contains(word) { return true }
    }
    return false
}

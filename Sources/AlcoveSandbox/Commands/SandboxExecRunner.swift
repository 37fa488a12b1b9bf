#if os(macOS)
package import AlcoveCore

/// Runs scripts on macOS under sandbox-exec. Never without.
///
/// NOT TESTED: written from Apple's manual pages and the profiles other programs use, on a machine without macOS. Treat
/// it as absent until `Tests/AlcoveSandboxTests` has passed there.
///
/// Weaker than on Linux: no process namespace, so that a child which leaves the process group survives a stop; no file
/// system of its own, so that the workspace is seen at its real path; no limit on address space.
package struct SandboxExecRunner: CommandRunner {
    package let readOnly: [ConfinedPaths.Mount]
    private static let program = "/usr/bin/sandbox-exec"

    package init(readOnly: [ConfinedPaths.Mount] = []) { self.readOnly = readOnly }

    package func run(
        _ request: CommandRequest, output: @escaping @Sendable (CommandOutput) -> Void
    ) async throws -> CommandResult {
        try await request.onItsThread { stop throws(SandboxError) in
            try runBlocking(request, stop: stop, output: output)
        }
    }

    private func runBlocking(
        _ request: CommandRequest, stop: StopSignal, output: @escaping @Sendable (CommandOutput) -> Void
    ) throws(SandboxError) -> CommandResult {
        guard access(SandboxExecRunner.program, X_OK) == 0 else { throw .unsupported(system: "this macOS") }
        try request.check()
        // The profile speaks of real paths: /tmp is a link there.
        guard let workspace = realpath(request.workspace, nil) else {
            throw .workspaceUnusable(path: request.workspace, cause: Platform.describe(errno: errno))
        }
        defer { free(workspace) }
        let folder = String(cString: workspace)
        var variables = [
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder, "TMPDIR": folder, "LANG": "en_US.UTF-8",
            "TERM": "dumb",
        ]
        variables.merge(request.environment) { _, given in given }

        var parameters = ["-D", "WORKSPACE=\(folder)"]
        for (index, mount) in readOnly.enumerated() { parameters += ["-D", "MOUNT\(index)=\(mount.folder)"] }
        let limits = request.limits
        let prelude = """
            ulimit -c 0 && ulimit -n 1024 && ulimit -f \(limits.fileBytes / 512) || exit 126
            ulimit -u \(limits.processes) 2>/dev/null
            cd "$1" || exit 126
            exec /bin/bash -c "$2"
            """
        let process = try ConfinedProcess(limits: limits, input: request.input, stop: stop, output: output)
        let result = try process.run(
            SandboxExecRunner.program,
            ["sandbox-exec", "-p", profile(request.allowsNetwork)] + parameters
                + ["/bin/bash", "-c", prelude, "bash", folder, request.script],
            environment: variables.map { "\($0.key)=\($0.value)" }, makeTree: GroupTree.init)
        // 65 is what sandbox-exec answers to a profile it cannot use (sysexits.h).
        if result.end == .exited(65), String(decoding: process.firstError, as: UTF8.self).hasPrefix("sandbox-exec:") {
            throw .refused(cause: String(decoding: process.firstError, as: UTF8.self))
        }
        return result
    }

    private func profile(_ allowsNetwork: Bool) -> String {
        let mounts = readOnly.indices.map { "(allow file-read* (subpath (param \"MOUNT\($0)\")))" }
        return """
            (version 1)
            (deny default)
            (allow process-fork)
            (allow process-exec)
            (allow signal (target same-sandbox))
            (allow sysctl-read)
            (allow file-read-metadata)
            (allow file-read* (subpath "/usr") (subpath "/bin") (subpath "/sbin") (subpath "/System") (subpath "/Library")
              (subpath "/private/etc") (subpath "/private/var/db/timezone") (literal "/") (literal "/dev/random")
              (literal "/dev/urandom") (literal "/dev/null") (literal "/dev/zero"))
            (allow file-write-data (literal "/dev/null") (literal "/dev/zero"))
            (allow file-read* file-write* (subpath (param "WORKSPACE")))
            \(mounts.joined(separator: "\n"))
            \(allowsNetwork ? "(allow network*)\n(allow system-socket)" : "(deny network*)")
            """
    }
}

/// The processes of one process group. One that leaves the group is lost.
struct GroupTree: ProcessTree {
    let program: Int32

    func learn(_ status: String) {}
    func terminate() { _ = AlcoveCore.kill(-program, SIGTERM) }
    func kill() { _ = AlcoveCore.kill(-program, SIGKILL) }
    func usage() -> TreeUsage? { nil }
    // The group is empty when no signal can be sent to it.
    var isGone: Bool { AlcoveCore.kill(-program, 0) != 0 }
}
#endif

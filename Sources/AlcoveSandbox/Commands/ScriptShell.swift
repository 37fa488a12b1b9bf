package import AlcoveCore

/// The shell that runs scripts, and what it is told before each.
struct ScriptShell: Sendable {
    let path: String
    /// Its `ulimit` counts file sizes in so many bytes.
    private let fileUnit: UInt64
    /// The letter of its limit on processes.
    private let processesFlag: String

    /// bash where it is installed, since that is what models write; else sh.
    static func found(in folders: [String] = ["/usr/bin", "/bin"]) -> ScriptShell {
        for folder in folders where access(folder + "/bash", X_OK) == 0 {
            return ScriptShell(path: folder + "/bash", fileUnit: 1024, processesFlag: "-u")
        }
        return ScriptShell(path: "/bin/sh", fileUnit: 512, processesFlag: "-p")
    }

    var name: String { path.hasSuffix("/bash") ? "bash" : "sh" }

    /// Arguments that set the limits and then become a shell that runs the script in a file.
    ///
    /// The limits are set here and not before the sandbox is made, because the kernel counts processes by user and
    /// namespace: within a new one only the script's own count. A superuser's are never limited.
    func arguments(script: String, limits: CommandLimits) -> [String] {
        let processor = Int(limits.seconds.rounded(.up)) * Platform.processorCount + 1
        let prelude = """
            ulimit -c 0 && ulimit -n 1024 && ulimit -t \(processor) && ulimit -v \(limits.memoryBytes / 1024) \
            && ulimit -f \(limits.fileBytes / fileUnit) || exit 126
            ulimit \(processesFlag) \(limits.processes) 2>/dev/null
            exec \(path) "$1"
            """
        return [path, "-c", prelude, name, script]
    }
}

extension CommandRequest {
    /// Refuses what no shell could be given, or what would mean no limit at all.
    package func check() throws(SandboxError) {
        guard !script.utf8.contains(0) else { throw .invalid("the script contains a zero byte") }
        for (name, value) in environment {
            let isName =
                name.utf8.first.map { !(48...57).contains($0) } ?? false
                && name.utf8.allSatisfy {
                    $0 == 95 || (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                }
            guard isName, !value.utf8.contains(0) else { throw .invalid("\(name) cannot be an environment variable") }
        }
        guard limits.seconds > 0, limits.seconds <= 86_400 else {
            throw .invalid("a time limit of \(limits.seconds) seconds makes no sense")
        }
        guard limits.outputBytes >= 0, limits.processes > 0, limits.memoryBytes >= 16 << 20 else {
            throw .invalid("its limits leave it no room")
        }
        guard workspace.utf8.first == 47, !workspace.utf8.contains(0), workspace.utf8.contains(where: { $0 != 47 })
        else { throw .workspaceUnusable(path: workspace, cause: "it must be the absolute path of a folder") }
        var info = stat()
        guard stat(workspace, &info) == 0 else {
            throw .workspaceUnusable(path: workspace, cause: Platform.describe(errno: errno))
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            throw .workspaceUnusable(path: workspace, cause: "it is not a folder")
        }
    }
}

#if os(Linux)
internal import AlcoveCore

/// What a script sees and may do, in the words of bwrap(1). Everything not named here is not there.
struct BubblewrapArguments {
    /// Where the script itself lies, for the shell in the sandbox.
    static let script = "/run/command"
    static let path = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
    /// Most bytes of each of the folders that live in memory.
    static let memoryFolderBytes = 512 << 20

    /// A file of the sandbox that bwrap fills from a descriptor. Cheaper than a mount, of which each takes half a
    /// millisecond.
    struct Copy {
        let path: String
        let descriptor: Int32
    }

    static let passwd = """
        root:x:0:0:root:/root:/bin/sh
        alcove:x:1000:1000:Alcove:\(ConfinedPaths.workspaceName):/bin/sh
        nobody:x:65534:65534:nobody:/nonexistent:/bin/false

        """
    static let group = "root:x:0:\nalcove:x:1000:\nnogroup:x:65534:\n"
    static let hosts = "127.0.0.1\tlocalhost alcove\n::1\tlocalhost\n"

    /// What programs look up in /etc and that says nothing of the person or the machine.
    static let copiedFiles = [
        "host.conf", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf", "protocols", "services",
        "ssl/openssl.cnf",
    ].map { "/etc/" + $0 }
    private static let folders = ["alternatives", "fonts", "pki/ca-trust/extracted", "pki/tls/certs", "ssl/certs"]

    /// - Parameters:
    ///   - filter: Descriptor of the system call filter in bwrap.
    ///   - copies: Among them the script.
    static func list(
        workspace: String, readOnly: [ConfinedPaths.Mount], environment: [String: String], allowsNetwork: Bool,
        filter: Int32, copies: [Copy]
    ) -> [String] {
        var list = [
            "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv",
            "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "alcove",
        ]
        if allowsNetwork { list += ["--share-net"] }
        list += ["--seccomp", "\(filter)", "--ro-bind", "/usr", "/usr"]
        for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] { list += systemFolder("/" + name) }
        for name in folders { list += ["--ro-bind-try", "/etc/" + name, "/etc/" + name] }
        if allowsNetwork { list += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"] }
        for copy in copies { list += ["--perms", "0444", "--file", "\(copy.descriptor)", copy.path] }
        list += [
            "--proc", "/proc", "--dev", "/dev",
            "--perms", "1777", "--size", "\(memoryFolderBytes)", "--tmpfs", "/dev/shm",
            "--perms", "1777", "--size", "\(memoryFolderBytes)", "--tmpfs", "/tmp", "--symlink", "/tmp", "/var/tmp",
        ]
        for mount in readOnly { list += ["--ro-bind", mount.folder, mount.shownAs] }
        list += [
            "--bind", workspace, ConfinedPaths.workspaceName, "--chdir", ConfinedPaths.workspaceName,
            // What is left of the skeleton lies in memory, without a limit of its own.
            "--remount-ro", "/dev", "--remount-ro", "/",
            // Kernel settings belong to root, and when root runs Alcove that is the script's user, without any right.
            "--remount-ro", "/proc",
        ]
        var variables = [
            "PATH": path, "HOME": ConfinedPaths.workspaceName, "TMPDIR": "/tmp", "LANG": "C.UTF-8", "USER": "alcove",
            "LOGNAME": "alcove", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
        ]
        variables.merge(environment) { _, given in given }
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) { list += ["--setenv", name, value] }
        return list
    }

    /// /bin and its like are links into /usr on most systems and folders on others.
    static func systemFolder(_ path: String) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = buffer.withUnsafeMutableBytes {
            readlink(path, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
        }
        if count > 0 { return ["--symlink", String(decoding: buffer[..<count], as: UTF8.self), path] }
        return ["--ro-bind-try", path, path]
    }
}
#endif

#if os(Linux)
internal import AlcoveCore

/// What a script sees and may do, in the words of bwrap(1). Everything not named here is not there.
struct BubblewrapArguments {
    /// Where the script itself lies, for the shell in the sandbox.
    static let script = "/run/command"
    static let path = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
    /// Most bytes of each of the folders that live in memory.
    static let memoryFolderBytes = 512 << 20

    /// Descriptors in bwrap, in this order from 4 on.
    enum Passed: Int32, CaseIterable {
        case arguments = 4
        case filter
        case script
        case passwd
        case group
        case hosts
    }

    static let passwd = """
        root:x:0:0:root:/root:/bin/sh
        alcove:x:1000:1000:Alcove:\(ConfinedPaths.workspaceName):/bin/sh
        nobody:x:65534:65534:nobody:/nonexistent:/bin/false

        """
    static let group = "root:x:0:\nalcove:x:1000:\nnogroup:x:65534:\n"
    static let hosts = "127.0.0.1\tlocalhost alcove\n::1\tlocalhost\n"

    /// What programs look up in /etc and that says nothing of the person or the machine.
    private static let etc = [
        "alternatives", "ca-certificates", "fonts", "gai.conf", "host.conf", "ld.so.cache", "ld.so.conf",
        "ld.so.conf.d", "localtime", "magic", "magic.mime", "mime.types", "nsswitch.conf", "pki/tls/certs",
        "pki/ca-trust/extracted", "protocols", "python3", "python3.11", "services", "ssl/certs", "ssl/openssl.cnf",
        "perl", "terminfo", "timezone",
    ]

    static func list(
        workspace: String, readOnly: [ConfinedPaths.Mount], environment: [String: String], allowsNetwork: Bool
    ) -> [String] {
        var list = [
            "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv",
            "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "alcove",
        ]
        if allowsNetwork { list += ["--share-net"] }
        list += ["--seccomp", "\(Passed.filter.rawValue)", "--ro-bind", "/usr", "/usr"]
        for name in ["bin", "sbin", "lib", "lib32", "lib64", "libx32"] { list += systemFolder("/" + name) }

        for name in etc { list += ["--ro-bind-try", "/etc/" + name, "/etc/" + name] }
        if allowsNetwork { list += ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"] }
        list += [
            "--ro-bind-data", "\(Passed.passwd.rawValue)", "/etc/passwd",
            "--ro-bind-data", "\(Passed.group.rawValue)", "/etc/group",
            "--ro-bind-data", "\(Passed.hosts.rawValue)", "/etc/hosts",
            "--ro-bind-data", "\(Passed.script.rawValue)", script,
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
    private static func systemFolder(_ path: String) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = buffer.withUnsafeMutableBytes {
            readlink(path, $0.bindMemory(to: CChar.self).baseAddress!, $0.count)
        }
        if count > 0 { return ["--symlink", String(decoding: buffer[..<count], as: UTF8.self), path] }
        return ["--ro-bind-try", path, path]
    }
}
#endif

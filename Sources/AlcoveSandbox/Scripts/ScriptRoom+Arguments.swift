#if os(Linux)
internal import AlcoveCore

extension ScriptRoom {
    /// What programs see: less than a command does. Libraries and no programs, no /tmp.
    ///
    /// - Parameter passed: Descriptors for the sandbox; what is added here follows those that are there.
    static func arguments(
        _ program: String, _ packages: String?, _ place: ScriptPlace, _ allowsNetwork: Bool,
        _ passed: inout [Descriptor]
    ) throws(SandboxError) -> [String] {
        func pass(_ descriptor: Descriptor) -> String {
            passed.append(descriptor)
            return "\(passed.count - 1)"
        }
        var list = [
            "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv",
            "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "alcove",
        ]
        if allowsNetwork { list += ["--share-net"] }
        list += ["--seccomp", pass(try file(try BubblewrapRunner.filter(allowsNetwork)))]
        list += ["--ro-bind", "/usr/lib", "/usr/lib"]
        for name in ["/usr/lib64", "/usr/share/zoneinfo"] { list += ["--ro-bind-try", name, name] }
        for name in ["lib", "lib64"] { list += BubblewrapArguments.systemFolder("/" + name) }
        if allowsNetwork {
            for name in ["/etc/ssl/certs", "/etc/resolv.conf"] { list += ["--ro-bind-try", name, name] }
        }
        for (path, text) in [
            ("/etc/passwd", BubblewrapArguments.passwd), ("/etc/group", BubblewrapArguments.group),
            ("/etc/hosts", BubblewrapArguments.hosts),
        ] {
            list += ["--perms", "0444", "--file", pass(try file(Array(text.utf8))), path]
        }
        for path in BubblewrapArguments.copiedFiles {
            guard let copy = Descriptor(open(path, O_RDONLY | O_CLOEXEC)) else { continue }
            list += ["--perms", "0444", "--file", pass(copy), path]
        }
        list += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", program, "/run/alcove-runtime"]
        for (index, library) in libraries.enumerated() {
            list += ["--ro-bind", library, "/run/lib/\(library.split(separator: "/").last ?? "\(index)")"]
        }
        if let packages { list += ["--ro-bind-try", packages, "/run/packages"] }
        for mount in place.readOnly { list += ["--ro-bind", mount.folder, mount.shownAs] }
        list += [
            "--bind", place.workspace, ConfinedPaths.workspaceName, "--chdir", ConfinedPaths.workspaceName,
            "--remount-ro", "/dev", "--remount-ro", "/", "--remount-ro", "/proc", "--setenv", "LD_LIBRARY_PATH",
            "/run/lib",
            "--setenv", "LANG", "C.UTF-8", "--setenv", "HOME", ConfinedPaths.workspaceName,
        ]
        if !place.readOnly.isEmpty {
            list += ["--setenv", "ALCOVE_READ_ONLY", place.readOnly.map(\.shownAs).joined(separator: ":")]
        }
        return list
    }

    /// The libraries this process uses that are not the system's: Swift's own, which alcove-runtime needs as well.
    private static let libraries: [String] = {
        guard let file = Descriptor(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) else { return [] }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file.raw, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        var found: [String] = []
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            guard let slash = line.firstIndex(of: "/") else { continue }
            let path = String(line[slash...])
            let isSystem = path.hasPrefix("/usr/lib") || path.hasPrefix("/lib")
            let name = path.split(separator: "/").last ?? ""
            if !isSystem, name.hasPrefix("lib"), name.contains(".so"), !found.contains(path) { found.append(path) }
        }
        return found
    }()
}
#endif

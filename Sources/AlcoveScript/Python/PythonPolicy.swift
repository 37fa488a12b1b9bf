internal import AlcoveCore
internal import AlcoveSandbox
internal import CPython
internal import Synchronization

/// What the running program may do, asked by the interpreter before it does it.
///
/// It makes good sentences; it is no wall. Compiled modules, and a few calls that Python does not announce, go around it:
/// the sandbox of the system is what holds.
struct PythonPolicy: Sendable {
    /// nil before and after a program: the interpreter's own doings are free.
    static let current = Mutex<PythonPolicy?>(nil)

    let place: ScriptPlace
    /// Folders and files that may be read besides.
    let readable: [String]
    let allowsNetwork: Bool

    init(place: ScriptPlace, packages: [String], allowsNetwork: Bool) {
        self.place = place
        self.allowsNetwork = allowsNetwork
        var readable = [
            PythonInterpreter.library, "\(PythonInterpreter.prefix)/lib/python3", "/usr/share/zoneinfo",
            "/etc/localtime",
            "/etc/mime.types", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom",
        ]
        if allowsNetwork { readable += ["/etc/ssl", "/etc/resolv.conf", "/etc/hosts", "/usr/lib/ssl"] }
        self.readable = readable + packages + place.readOnly.map(\.shownAs) + place.readOnly.map(\.folder)
    }

    /// Called for every event; most are none of ours.
    static func hook(_ name: UnsafePointer<CChar>?, _ arguments: UnsafeMutablePointer<PyObject>?) -> Int32 {
        guard let name, let kind = kinds[String(cString: name)], let policy = current.withLock({ $0 }) else { return 0 }
        guard let refusal = policy.refusal(kind, String(cString: name), arguments) else { return 0 }
        alcove_py_refuse(refusal.sentence, refusal.path)
        return -1
    }

    struct Refusal {
        var sentence: String
        var path: String?
    }

    private enum Kind {
        case open
        case read
        case change
        case changeTwo
        case link
        case database
        case process
        case library
        case socket
        case connect
        case lookUp
        case fetch
        case signal
    }

    private static let kinds: [String: Kind] = [
        "open": .open, "os.listdir": .read, "os.scandir": .read, "os.chdir": .read, "os.listxattr": .read,
        "os.getxattr": .read, "os.remove": .change, "os.mkdir": .change, "os.rmdir": .change, "os.chmod": .change,
        "os.chown": .change, "os.truncate": .change, "os.utime": .change, "os.setxattr": .change,
        "os.removexattr": .change, "os.chflags": .change, "os.rename": .changeTwo, "os.link": .changeTwo,
        "os.symlink": .link,
        "sqlite3.connect": .database, "subprocess.Popen": .process, "os.system": .process, "os.exec": .process,
        "os.fork": .process, "os.forkpty": .process, "os.posix_spawn": .process, "os.spawn": .process,
        "os.startfile": .process, "pty.spawn": .process, "webbrowser.open": .process, "ctypes.dlopen": .library,
        "ctypes.dlsym": .library, "ctypes.dlsym/handle": .library, "ctypes.call_function": .library,
        "socket.__new__": .socket, "socket.bind": .connect, "socket.connect": .connect, "socket.sendto": .connect,
        "socket.sendmsg": .connect, "socket.getaddrinfo": .lookUp, "socket.gethostbyname": .lookUp,
        "socket.gethostbyaddr": .lookUp, "socket.getnameinfo": .lookUp, "urllib.Request": .fetch,
        "ftplib.connect": .lookUp,
        "http.client.connect": .lookUp, "smtplib.connect": .lookUp, "telnetlib.Telnet.open": .lookUp,
        "os.kill": .signal,
        "os.killpg": .signal, "signal.pthread_kill": .signal,
    ]

    private func refusal(
        _ kind: Kind, _ event: String, _ arguments: UnsafeMutablePointer<PyObject>?
    ) -> Refusal? {
        switch kind {
        case .open: return file(text(arguments, 0), isChange: writes(arguments))
        case .read: return file(text(arguments, 0) ?? ".", isChange: false)
        case .change: return file(text(arguments, 0), isChange: true)
        case .changeTwo: return file(text(arguments, 0), isChange: true) ?? file(text(arguments, 1), isChange: true)
        case .link: return link(text(arguments, 0), text(arguments, 1))
        case .database:
            guard var path = text(arguments, 0), !path.isEmpty, !path.hasPrefix(":memory:") else { return nil }
            if path.hasPrefix("file:") { path = String(path.dropFirst(5).prefix { $0 != "?" }) }
            return path.hasPrefix(":memory:") || path.isEmpty ? nil : file(path, isChange: true)
        case .process:
            return Refusal(
                sentence: "No program was started: Python runs within Alcove, and programs cannot be started from it. "
                    + "Use Python's own modules, or the commands of the shell around it.")
        case .library:
            // The import of ctypes itself opens the program that runs it.
            if event == "ctypes.dlopen", text(arguments, 0) == nil { return nil }
            return Refusal(sentence: "No library was opened: code from outside Python cannot be called here.")
        case .socket:
            let family = alcove_py_number(alcove_py_item(arguments, 1), -1)
            return allowsNetwork || family == Int(AF_UNIX) || family == -1 ? nil : offline(nil)
        case .connect: return allowsNetwork ? nil : offline(host(alcove_py_item(arguments, 1)))
        case .lookUp:
            let isClient = event.hasSuffix("connect") || event.hasSuffix("open")
            return allowsNetwork ? nil : offline(text(arguments, isClient ? 1 : 0))
        case .fetch:
            guard !allowsNetwork, let address = text(arguments, 0), !address.hasPrefix("file:") else { return nil }
            let rest = address.split(separator: "/", omittingEmptySubsequences: false)
            return address.hasPrefix("data:") ? nil : offline(rest.count > 2 ? String(rest[2]) : nil)
        case .signal:
            let target = alcove_py_number(alcove_py_item(arguments, 0), -1)
            if event != "os.kill" || target == Int(getpid()) { return nil }
            return Refusal(sentence: "No signal was sent: there is no other program here.")
        }
    }

    private func offline(_ host: String?) -> Refusal {
        let refusal = PolicyRefusal.networkOff(host: host)
        return Refusal(sentence: [refusal.message, refusal.hint ?? ""].joined(separator: " "))
    }

    // MARK: Arguments

    private func text(_ arguments: UnsafeMutablePointer<PyObject>?, _ index: Int32) -> String? {
        guard let raw = alcove_py_text(alcove_py_item(arguments, index)) else { return nil }
        defer { free(raw) }
        return String(cString: raw)
    }

    private func host(_ address: UnsafeMutablePointer<PyObject>?) -> String? { text(address, 0) }

    private func writes(_ arguments: UnsafeMutablePointer<PyObject>?) -> Bool {
        let flags = Int32(truncatingIfNeeded: alcove_py_number(alcove_py_item(arguments, 2), 0))
        return flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND) != 0
    }
}

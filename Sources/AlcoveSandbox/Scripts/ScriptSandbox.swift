#if os(Linux)
internal import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// Runs Python and JavaScript in `alcove-runtime`, a program of ours that waits within a sandbox and copies itself for
/// each run. So the interpreters are warm, no run sees another's memory, and each can be ended for certain.
package final class ScriptSandbox: ScriptRunner {
    /// Sandboxes that are kept for the next run; each holds some 20 MB.
    private static let mostKept = 3

    private let program: String
    private let packages: String?
    private let rooms = Mutex<[(key: Key, room: ScriptRoom)]>([])

    private struct Key: Hashable {
        let place: ScriptPlace
        let allowsNetwork: Bool
    }

    /// - Parameters:
    ///   - program: `alcove-runtime`.
    ///   - packages: A folder of Python packages that programs may import, or nil.
    package init(program: String, packages: String? = nil) {
        self.program = program
        self.packages = packages
    }

    package func start(
        _ request: ScriptRequest, in place: ScriptPlace, streams: [Int32]
    ) throws(SandboxError) -> any RunningScript {
        let body = request.json.bytes()
        guard let file = Descriptor(alcove_memory_file("alcove-script", body, body.count)) else {
            throw .noResources(cause: Platform.describe(errno: errno))
        }
        let key = Key(place: place, allowsNetwork: request.allowsNetwork)
        for attempt in 0..<2 {
            let room = try room(for: key)
            var ends: [Int32] = [-1, -1]
            let code = alcove_socket_pair(&ends)
            guard code == 0, let own = Descriptor(ends[0]), let other = Descriptor(ends[1]) else {
                throw .noResources(cause: Platform.describe(errno: code))
            }
            let sent = withExtendedLifetime((file, other, room)) {
                alcove_send_descriptors(room.control.raw, streams + [file.raw, other.raw], Int32(streams.count + 2))
            }
            if sent == 0 { return SandboxedScript(room: room, socket: own) }
            // One that had nothing to do for long has gone; a new one is made then.
            rooms.withLock { $0.removeAll { $0.room === room } }
            if attempt == 1 { throw room.fault ?? .noResources(cause: Platform.describe(errno: sent)) }
        }
        throw .noResources(cause: "the sandbox of programs does not stay")
    }

    private func room(for key: Key) throws(SandboxError) -> ScriptRoom {
        if let room = rooms.withLock({ rooms -> ScriptRoom? in
            guard let place = rooms.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = rooms.remove(at: place)
            rooms.append(entry)
            return entry.room
        }) {
            return room
        }
        let made = try ScriptRoom(
            program: program, packages: packages, place: key.place, allowsNetwork: key.allowsNetwork)
        // Those that are used live on until their last run has ended.
        let old = rooms.withLock { rooms -> [ScriptRoom] in
            rooms.append((key, made))
            let surplus = max(0, rooms.count - ScriptSandbox.mostKept)
            defer { rooms.removeFirst(surplus) }
            return rooms.prefix(surplus).map(\.room)
        }
        withExtendedLifetime(old) {}
        return made
    }
}

/// A run in a room: it ends when this side of its socket is closed.
private final class SandboxedScript: RunningScript {
    private let room: ScriptRoom
    private let socket: Descriptor

    init(room: ScriptRoom, socket: Descriptor) {
        self.room = room
        self.socket = socket
    }

    var endDescriptor: Int32 { socket.raw }

    func kill() { _ = shutdown(socket.raw, Int32(SHUT_WR)) }

    func wait() throws(SandboxError) -> Int32 {
        var status: [UInt8] = [0, 0, 0, 0]
        while true {
            let count = read(socket.raw, &status, 4)
            if count < 0, errno == EINTR { continue }
            guard count == 4 else { break }
            return status.withUnsafeBytes { $0.loadUnaligned(as: Int32.self) }
        }
        room.waitForEnd()
        throw room.fault ?? .refused(cause: "the sandbox of programs ended while one was running")
    }
}

/// A sandbox with `alcove-runtime` in it.
final class ScriptRoom: Sendable {
    let control: Descriptor
    private let ended: Descriptor
    private let reason = Mutex<SandboxError?>(nil)

    /// Why it is not there any more, if it did not just end.
    var fault: SandboxError? { reason.withLock { $0 } }

    init(program: String, packages: String?, place: ScriptPlace, allowsNetwork: Bool) throws(SandboxError) {
        guard let bwrap = BubblewrapRunner.installed() else { throw .programMissing }
        guard access(program, X_OK) == 0 else { throw .runtimeMissing(path: program) }
        var ends: [Int32] = [-1, -1]
        let code = alcove_socket_pair(&ends)
        guard code == 0, let own = Descriptor(ends[0]), let other = Descriptor(ends[1]) else {
            throw .noResources(cause: Platform.describe(errno: code))
        }
        control = own
        let end = try Pipe()
        ended = end.reader
        guard let null = Descriptor(AlcoveCore.open("/dev/null", O_RDWR | O_CLOEXEC)) else {
            throw .noResources(cause: Platform.describe(errno: errno))
        }
        let said = try ScriptRoom.file([])
        var passed = [null, null, said, other]
        let arguments = try ScriptRoom.arguments(program, packages, place, allowsNetwork, &passed)
        passed.append(try ScriptRoom.file(arguments.flatMap { Array($0.utf8) + [0] }))
        let words = ["bwrap", "--args", "\(passed.count - 1)", "--", "/run/alcove-runtime"]

        // The sandbox dies with the thread that started it, so that thread waits for its end.
        let start = RoomStart(bwrap: bwrap, words: words, passed: passed, said: said, ended: end.writer)
        guard startThread(name: "alcove.scripts", { [weak self] in start.run { self?.set($0) } }) else {
            throw .noResources(cause: "the system has no thread to give")
        }
    }

    private func set(_ fault: SandboxError) { reason.withLock { $0 = fault } }

    func waitForEnd() {
        var wish = pollfd(fd: ended.raw, events: Int16(POLLIN), revents: 0)
        _ = poll(&wish, 1, 2000)
    }

    static func file(_ bytes: [UInt8]) throws(SandboxError) -> Descriptor {
        guard let file = Descriptor(alcove_memory_file("alcove", bytes, bytes.count)) else {
            throw .noResources(cause: Platform.describe(errno: errno))
        }
        return file
    }
}

/// What the thread of a room does.
private final class RoomStart: Sendable {
    private let bwrap: String
    private let words: [String]
    private let passed: Mutex<[Descriptor]>
    private let said: Descriptor
    private let ended: Mutex<Descriptor?>

    init(bwrap: String, words: [String], passed: [Descriptor], said: Descriptor, ended: Descriptor) {
        self.bwrap = bwrap
        self.words = words
        self.passed = Mutex(passed)
        self.said = said
        self.ended = Mutex(ended)
    }

    func run(_ tell: (SandboxError) -> Void) {
        defer { ended.withLock { $0 = nil } }
        var process: Int32 = 0
        let code = passed.withLock { passed in
            defer { passed = [] }
            return withCStrings(words) { words in
                withCStrings([]) { alcove_spawn(bwrap, words, $0, passed.map(\.raw), Int32(passed.count), &process) }
            }
        }
        guard code == 0 else { return tell(.noResources(cause: Platform.describe(errno: code))) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        if status != 0 { tell(.refused(cause: cause(status))) }
    }

    private func cause(_ status: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(said.raw, &bytes, bytes.count, 0)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let line = text.split(separator: "\n").last.map(String.init)
        return line
            ?? "the sandbox of programs ended with \(status & 0x7F == 0 ? "status \(status >> 8)" : "signal \(status & 0x7F)")"
    }
}
#endif

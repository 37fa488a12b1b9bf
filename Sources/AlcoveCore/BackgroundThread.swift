internal import CPosixShim

/// Starts a thread of its own for work that blocks: sockets, the engine, waiting for a child process.
///
/// The shared pool has as many threads as cores; one that blocks there halves everything else.
///
/// - Parameters:
///   - name: Up to 15 bytes are shown by the system's tools.
///   - stackBytes: Rounded up by the system to whole pages; touched pages only are resident.
/// - Returns: false when the system has no thread to give; `body` then never runs.
public func startThread(name: String, stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setstacksize(&attributes, max(stackBytes, 64 << 10))
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let code = pthread_create(&thread, &attributes, { ThreadStart.run($0) }, start.toOpaque())
    if code != 0 { start.release() }
    return code == 0
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        let start = Unmanaged<ThreadStart>.fromOpaque(pointer).takeRetainedValue()
        let short = String(decoding: Array(start.name.utf8.prefix(15)), as: UTF8.self)
        alcove_name_thread(short)
        start.body()
        return nil
    }
}

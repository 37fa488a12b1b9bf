import AlcoveCore

/// A detached thread with a small stack: what may block lives on one of these, never on the shared pool.
enum ServerThread {
    /// Enough for parsing and sending; only touched pages cost memory.
    private static let stackBytes = 256 * 1024

    fileprivate final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// - Returns: false when the system has no thread to give; `body` then never runs.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(body))
        if create(work.toOpaque()) { return true }
        work.release()
        return false
    }

    // Apart from `start`: with both in one function the optimiser of Swift 6.3.1 crashes.
    @inline(never)
    private static func create(_ work: UnsafeMutableRawPointer) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        return pthread_create(&thread, &attributes, threadEntry, work) == 0
    }
}

#if canImport(Darwin)
private func threadEntry(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? { run(pointer) }
#else
private func threadEntry(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? { run(pointer!) }  // `work`
#endif

private func run(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ServerThread.Work>.fromOpaque(pointer).takeRetainedValue().body()
    return nil
}

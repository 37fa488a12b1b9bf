internal import AlcoveCore

/// A detached thread with a small stack: what may block lives on one of these, never on the shared pool.
enum ServerThread {
    /// - Returns: false when the system has no thread to give; `body` then never runs.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Enough for parsing and sending; only touched pages cost memory.
        startThread(name: "alcove.http", stackBytes: 256 << 10, body)
    }
}

import AlcoveCore
import Synchronization

/// Tells waiting connections that their client has left: one thread polls all their sockets.
///
/// A connection that waits for its handler sleeps on a semaphore, not on its socket, so somebody else has to look. A
/// client that closes only its sending side counts as gone: nothing that speaks HTTP to a local server does that.
final class PeerWatcher: Sendable {
    private struct Entry {
        let socket: Socket
        let onClose: @Sendable () -> Void
        /// Bytes of a next request are waiting: readable says nothing any more, only a hang-up does.
        var hasBytes = false
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        var nextKey = 0
        var isRunning = false
    }

    private let state = Mutex(State())
    private let wake: (read: Int32, write: Int32)

    /// Nil when the system has no descriptors left.
    init?() {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        wake = (ends[0], ends[1])
        for each in ends {
            _ = fcntl(each, F_SETFD, FD_CLOEXEC)
            _ = fcntl(each, F_SETFL, fcntl(each, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        close(wake.read)
        close(wake.write)
    }

    /// Calls `onClose` once, on the watcher's thread, when the peer of this socket has closed.
    func watch(_ socket: Socket, onClose: @escaping @Sendable () -> Void) -> Int {
        let (key, mustStart) = state.withLock { state in
            state.nextKey += 1
            state.entries[state.nextKey] = Entry(socket: socket, onClose: onClose)
            defer { state.isRunning = true }
            return (state.nextKey, !state.isRunning)
        }
        if !mustStart {
            nudge()
        } else if !ServerThread.start({ self.run() }) {
            state.withLock { $0.isRunning = false }
        }
        return key
    }

    func unwatch(_ key: Int) {
        state.withLock { _ = $0.entries.removeValue(forKey: key) }
        nudge()
    }

    private func nudge() {
        var byte: UInt8 = 1
        _ = write(wake.write, &byte, 1)
    }

    /// Ends when there is nothing left to watch; the next `watch` starts it again.
    private func run() {
        while true {
            let watched = state.withLock { state -> [(key: Int, entry: Entry)] in
                if state.entries.isEmpty { state.isRunning = false }
                return state.entries.map { ($0.key, $0.value) }
            }
            if watched.isEmpty { return }
            var polled = [pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
            polled += watched.map {
                pollfd(fd: $0.entry.socket.descriptor, events: $0.entry.hasBytes ? 0 : Int16(POLLIN), revents: 0)
            }
            _ = poll(&polled, nfds_t(polled.count), -1)
            var drained = [UInt8](repeating: 0, count: 256)
            while read(wake.read, &drained, drained.count) > 0 {}
            for ((key, entry), polled) in zip(watched, polled.dropFirst()) where polled.revents != 0 {
                look(at: key, entry, hangUp: polled.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0)
            }
        }
    }

    private func look(at key: Int, _ entry: Entry, hangUp: Bool) {
        if hangUp || entry.socket.peerHasClosed {
            if state.withLock({ $0.entries.removeValue(forKey: key) }) != nil { entry.onClose() }
        } else {
            state.withLock { $0.entries[key]?.hasBytes = true }
        }
    }
}

import Synchronization

/// What the server keeps of a connection in order to end it.
final class ConnectionHandle: Sendable {
    private enum Phase {
        case idle
        case busy(HTTPExchange?)
    }

    let socket: Socket
    private let state = Mutex<(phase: Phase, isStopping: Bool)>((.idle, false))

    init(_ socket: Socket) { self.socket = socket }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func becomeIdle() { state.withLock { $0.phase = .idle } }
    func becomeBusy(_ exchange: HTTPExchange?) {
        let isStopping = state.withLock { state in
            state.phase = .busy(exchange)
            return state.isStopping
        }
        if isStopping { exchange?.noteStopping() }
    }

    /// Idle: closed at once. Busy: the request in flight is the last, and an open stream ends.
    func stop() {
        let phase = state.withLock { state in
            state.isStopping = true
            return state.phase
        }
        switch phase {
        case .idle: socket.shutdownReading()
        case .busy(let exchange): exchange?.noteStopping()
        }
    }
}

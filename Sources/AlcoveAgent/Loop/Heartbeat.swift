internal import AlcoveCore
internal import Synchronization

/// Tells the turn every second what a running tool has written and how long it has been at it.
final class Heartbeat: Sendable {
    /// Most text of one beat; what a flood writes more of is in the result, cut.
    private static let beatLimit = 8_000

    private let turn: Turn
    private let call: String
    private let tool: String
    private let start = Platform.monotonicNanoseconds
    private let pending = Mutex("")
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(turn: Turn, call: String, tool: String, clock: any Clock<Duration>) {
        self.turn = turn
        self.call = call
        self.tool = tool
        task.withLock {
            $0 = Task {
                while !Task.isCancelled {
                    do { try await clock.sleep(for: .seconds(1)) } catch { return }
                    self.beat()
                }
            }
        }
    }

    func take(_ text: String) {
        pending.withLock { pending in
            pending += text
            if pending.utf8.count > 4 * Heartbeat.beatLimit { pending = String(pending.suffix(Heartbeat.beatLimit)) }
        }
    }

    private func beat() {
        let text = pending.withLock { pending -> String in
            defer { pending = "" }
            return Excerpt.middleCut(pending, to: Heartbeat.beatLimit)
        }
        let seconds = Double(Platform.monotonicNanoseconds - start) / 1e9
        turn.append(.toolOutput(call: call, tool: tool, text: text, seconds: seconds))
    }

    /// Ends the beats; what was written after the last one comes now.
    func finish() async {
        let running = task.withLock { task -> Task<Void, Never>? in
            defer { task = nil }
            return task
        }
        running?.cancel()
        await running?.value
        if pending.withLock({ !$0.isEmpty }) { beat() }
    }
}

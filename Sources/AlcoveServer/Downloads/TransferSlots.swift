/// How many transfers run at once: in all, and from one host. The others wait their turn, first come first served.
package actor TransferSlots {
    package struct Limits: Sendable, Hashable {
        package var total = 3
        package var perHost = 2

        package init(total: Int = 3, perHost: Int = 2) {
            self.total = total
            self.perHost = perHost
        }
    }

    private struct Waiter {
        let number: Int
        let host: String
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let limits: Limits
    private var running: [String: Int] = [:]
    private var waiters: [Waiter] = []
    private var lastNumber = 0
    /// Stopped before they had begun to wait.
    private var abandoned: Set<Int> = []

    package init(limits: Limits = Limits()) { self.limits = limits }

    var runningCount: Int { running.values.reduce(0, +) }
    var waitingCount: Int { waiters.count }

    /// A number for one wait, so that it can be given up from elsewhere.
    func ticket() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Waits for a slot.
    ///
    /// - Returns: false when the wait was given up; nothing is to be released then.
    func acquire(_ host: String, ticket: Int) async -> Bool {
        if abandoned.remove(ticket) != nil { return false }
        if waiters.isEmpty, isFree(host) {
            running[host, default: 0] += 1
            return true
        }
        return await withCheckedContinuation { continuation in
            waiters.append(Waiter(number: ticket, host: host, continuation: continuation))
            admit()
        }
    }

    func giveUp(ticket: Int) {
        guard let index = waiters.firstIndex(where: { $0.number == ticket }) else {
            abandoned.insert(ticket)
            return
        }
        waiters.remove(at: index).continuation.resume(returning: false)
        admit()
    }

    func release(_ host: String, ticket: Int) {
        let left = (running[host] ?? 1) - 1
        running[host] = left > 0 ? left : nil
        abandoned.remove(ticket)
        admit()
    }

    private func isFree(_ host: String) -> Bool {
        runningCount < limits.total && running[host] ?? 0 < limits.perHost
    }

    /// Lets in whoever may run now; one whose host is full does not hold up the others.
    private func admit() {
        var index = 0
        while index < waiters.count {
            guard isFree(waiters[index].host) else {
                index += 1
                continue
            }
            let waiter = waiters.remove(at: index)
            running[waiter.host, default: 0] += 1
            waiter.continuation.resume(returning: true)
        }
    }
}

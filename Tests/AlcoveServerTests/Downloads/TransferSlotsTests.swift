import AlcoveCore
import Testing

@testable import AlcoveServer

struct TransferSlotsTests {
    /// Waits in a task of its own; answers once it waits or has been let in.
    private func wait(_ slots: TransferSlots, _ host: String) async -> (ticket: Int, task: Task<Bool, Never>) {
        let ticket = await slots.ticket()
        let before = await (slots.waitingCount, slots.runningCount)
        let task = Task { await slots.acquire(host, ticket: ticket) }
        while await (slots.waitingCount, slots.runningCount) == before { await Task.yield() }
        return (ticket, task)
    }

    @Test func hostsAndTheWholeAreBounded() async {
        let slots = TransferSlots(limits: TransferSlots.Limits(total: 3, perHost: 2))
        let a1 = await wait(slots, "a")
        _ = await wait(slots, "a")
        let a3 = await wait(slots, "a")
        // A host that is full does not hold up another.
        _ = await wait(slots, "b")
        let b2 = await wait(slots, "b")
        #expect(await slots.runningCount == 3)
        #expect(await slots.waitingCount == 2)

        await slots.release("a", ticket: a1.ticket)

        #expect(await a3.task.value)
        #expect(await slots.waitingCount == 1)
        await slots.giveUp(ticket: b2.ticket)
        #expect(await b2.task.value == false)
        #expect(await slots.waitingCount == 0)
    }

    @Test func whoGaveUpBeforeWaitingIsNotLetIn() async {
        let slots = TransferSlots()
        let ticket = await slots.ticket()

        await slots.giveUp(ticket: ticket)

        #expect(await slots.acquire("a", ticket: ticket) == false)
        #expect(await slots.runningCount == 0)
    }
}

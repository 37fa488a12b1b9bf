import AlcoveCore
import Testing

struct ComputeGateTests {
    @Test func itCountsClosuresAndOpensForAllWhoWait() async {
        let gate = ComputeGate()
        await gate.wait()
        gate.close()
        gate.close()
        let waiting = (0..<3).map { _ in Task { await gate.wait() } }
        while gate.waiting < 3 { await Task.yield() }
        #expect(gate.isClosed && gate.closures == 1)
        gate.open()
        for task in waiting { await task.value }

        #expect(!gate.isClosed && gate.waiting == 0)
        let closed = gate.closedSeconds
        #expect(closed > 0 && gate.closedSeconds == closed)
        gate.close()
        #expect(gate.closures == 2)
    }

    @Test func aStopEndsTheWaitAndNobodyIsLeftWaiting() async {
        let gate = ComputeGate(), stop = StopSignal()
        gate.close()
        let waiting = Task { await gate.wait(orStop: stop) }
        while gate.waiting == 0 { await Task.yield() }
        stop.set()
        await waiting.value

        #expect(gate.isClosed && gate.waiting == 0)
    }

    @Test func whoeverForgetsIsNotCalled() {
        let gate = ComputeGate(), called = StopSignal()
        #expect(gate.whenOpened { called.set() } == nil)
        gate.close()
        let waiter = gate.whenOpened { called.set() }
        if let waiter { gate.forget(waiter) }
        gate.open()

        #expect(waiter != nil && !called.isSet)
    }

    @Test func whoeverOpensWithNobodyWaitingOpensForTheNext() async {
        let gate = ComputeGate(), stop = StopSignal()
        gate.close()
        gate.open()
        await gate.wait(orStop: stop)
        gate.close()
        stop.set()
        await gate.wait(orStop: stop)

        #expect(gate.isClosed && gate.waiting == 0 && gate.closures == 2)
    }

    @Test func eitherOfTwoSignalsEndsTheWaitForBoth() async {
        for first in [0, 1] {
            let signals = [StopSignal(), StopSignal()]
            let wait = Task { await signals[0].wait(or: signals[1]) }
            signals[first].set()
            await wait.value
            signals[1 - first].set()
            await signals[0].wait(or: signals[1])
        }
    }
}

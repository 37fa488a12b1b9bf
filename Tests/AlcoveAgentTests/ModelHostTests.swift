import AlcoveAgent
import AlcoveCore
import Synchronization
import Testing

struct ModelHostTests {
    private static func model(_ log: Log, _ path: String) -> LoadedModel {
        LoadedModel(model: ScriptedModel(answers: [])) { log.add("unload \(path)") }
    }

    @Test func aSecondModelTakesThePlaceOfTheFirst() async throws {
        let log = Log()
        let host = ModelHost { path, _ in
            log.add("load \(path)")
            return Self.model(log, path)
        }
        try await host.load("a")
        try await host.load("b")

        #expect(log.lines == ["load a", "unload a", "load b"])
        guard case .loaded("b", _) = await host.state else { return #expect(Bool(false), "not loaded") }
    }

    @Test func aFailureIsKeptAsASentence() async throws {
        let fault = InputError(code: "x", message: "It is no model.", hint: "Choose another.")
        let host = ModelHost { _, _ in throw fault }

        await #expect(throws: fault) { try await host.load("a") }

        guard case .failed("a", let message) = await host.state else { return #expect(Bool(false), "not failed") }
        #expect(message == "It is no model. Choose another.")
    }

    @Test func aLoadThatWasOvertakenIsGivenBack() async throws {
        let log = Log()
        let gate = StopSignal()
        let host = ModelHost { path, _ in
            if path == "slow" {
                await withCheckedContinuation { continuation in gate.whenSet { continuation.resume() } }
            }
            return Self.model(log, path)
        }
        let slow = Task { try await host.load("slow") }
        while true {
            if case .loading("slow", _) = await host.state { break }
            await Task.yield()
        }
        try await host.load("fast")
        gate.set()

        await #expect(throws: CancellationError.self) { try await slow.value }
        #expect(log.lines == ["unload slow"])
        guard case .loaded("fast", _) = await host.state else { return #expect(Bool(false), "not loaded") }
    }

    @Test func aFileThatIsRefusedAtALookLeavesTheModelAnswering() async throws {
        let log = Log()
        let fault = InputError(code: "x", message: "It is no model.")
        let host = ModelHost(check: { path throws in if path == "bad" { throw fault } }) { path, _ in
            Self.model(log, path)
        }
        await #expect(throws: fault) { try await host.load("bad") }
        guard case .failed("bad", _) = await host.state else { return #expect(Bool(false), "not failed") }
        try await host.load("good")

        await #expect(throws: fault) { try await host.load("bad") }

        #expect(log.lines == [])
        guard case .loaded("good", _) = await host.state else { return #expect(Bool(false), "not loaded") }
    }

    @Test func whatIsExpectedIsToldAsLoadingAndNeverStaysSo() async throws {
        let fault = InputError(code: "x", message: "It is no model.")
        let host = ModelHost(check: { path throws in if path == "bad" { throw fault } }) { path, _ in
            Self.model(Log(), path)
        }
        await host.expect("bad")
        guard case .loading("bad", 0) = await host.state else { return #expect(Bool(false), "not told") }
        #expect(await host.settled() == nil)
        await #expect(throws: fault) { try await host.load("bad") }
        guard case .failed("bad", _) = await host.state else { return #expect(Bool(false), "not failed") }

        await host.expect("good")
        guard case .failed("bad", _) = await host.state else { return #expect(Bool(false), "a failure was hidden") }
        try await host.load("good")
        guard case .loaded("good", _) = await host.state else { return #expect(Bool(false), "not loaded") }
    }

    private final class Log: Sendable {
        private let state = Mutex([String]())
        var lines: [String] { state.withLock { $0 } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }
}

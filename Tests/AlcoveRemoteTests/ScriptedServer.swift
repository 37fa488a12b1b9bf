import AlcoveCore
import AlcoveDownloads
import Synchronization

/// A server at the seam: what it answers is written beforehand, what it was asked is kept.
final class ScriptedServer: HTTPFetch, HTTPPost {
    enum Step: Sendable {
        case bytes(String)
        case fail(FetchError)
        /// Says nothing more until the request is stopped.
        case waitForStop(StopSignal)
    }

    struct Answer: Sendable {
        var status = 200
        var fields: [(name: String, value: String)] = [("Content-Type", "text/event-stream")]
        var steps: [Step] = []
        /// Before any head.
        var failure: FetchError?
    }

    struct Asked: Sendable {
        var url: String
        var headers: [String: String]
        var body: JSONValue
    }

    private let state: Mutex<(answers: [Answer], asked: [Asked])>
    private let models: Answer

    init(models: String = #"{"data":[{"id":"m","max_model_len":4096}]}"#, _ answers: [Answer]) {
        self.models = Answer(fields: [("Content-Type", "application/json")], steps: [.bytes(models)])
        state = Mutex((answers, []))
    }

    init(modelsAnswer: Answer) {
        models = modelsAnswer
        state = Mutex(([], []))
    }

    var asked: [Asked] { state.withLock { $0.asked } }

    func get(
        _ request: FetchRequest, gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        try ScriptedServer.play(models, stop, receiver)
    }

    func post(
        _ request: FetchRequest, body: [UInt8], gate: AddressGate, stop: StopSignal, receiver: any FetchReceiver
    ) throws(FetchError) {
        let json = (try? JSONValue(parsing: body)) ?? .null
        let headers = Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        let answer = state.withLock { state in
            state.asked.append(Asked(url: request.address.text, headers: headers, body: json))
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        try ScriptedServer.play(answer, stop, receiver)
    }

    private static func play(_ answer: Answer, _ stop: StopSignal, _ receiver: any FetchReceiver) throws(FetchError) {
        if let failure = answer.failure { throw failure }
        guard receiver.take(ResponseHead(status: answer.status, fields: answer.fields)) else { return }
        for step in answer.steps {
            switch step {
            case .bytes(let text):
                let goesOn = Array(text.utf8).withUnsafeBytes { receiver.take($0) }
                if !goesOn { return }
            case .fail(let error): throw error
            case .waitForStop(let begun):
                let stopped = Condition()
                stop.whenSet { stopped.signal() }
                begun.set()
                stopped.wait()
                throw .stopped
            }
        }
    }
}

/// A clock whose sleeps end at once and are counted.
final class CountingClock: Clock {
    typealias Instant = ContinuousClock.Instant
    private let slept = Mutex<[Duration]>([])

    var sleeps: [Duration] { slept.withLock { $0 } }
    /// Stands still, so that what is slept is exact.
    let now = ContinuousClock.now
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        slept.withLock { $0.append(now.duration(to: deadline)) }
    }
}

/// One thread waits until another has signalled, also when that came first.
final class Condition: Sendable {
    private let lock = Mutex(false)

    func signal() { lock.withLock { $0 = true } }

    func wait() { while !lock.withLock({ $0 }) { usleep(1_000) } }
}

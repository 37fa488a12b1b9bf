import AlcoveCore
import AlcoveStorage
import AlcoveWorkspace
import Synchronization
import Testing

@testable import AlcoveAgent

/// The four gates of the calendar, each by itself, and what goes through them.
struct CalendarToolTests {
    private struct Source: CalendarSource {
        let found: CalendarEvents
        let reads: ReadCount
        var place: String?

        func events(from: Timestamp, to: Timestamp, stop: StopSignal) async throws -> CalendarEvents {
            reads.note(to.milliseconds - from.milliseconds)
            return found
        }
    }

    private final class ReadCount: Sendable {
        private let lengths = Mutex<[Int64]>([])
        func note(_ length: Int64) { lengths.withLock { $0.append(length) } }
        var days: [Int] { lengths.withLock { $0.map { Int(($0 + 43_200_000) / 86_400_000) } } }
    }

    private let reads = ReadCount()
    private let bench: RunBench

    init() async throws { bench = try await RunBench() }

    private func tool(
        _ events: [CalendarEvent] = [], isOpen: Bool = true, path: String? = "/c", place: String? = nil,
        now: Timestamp = .now
    ) -> any Tool {
        CalendarTool.make(
            consent: { CalendarConsent(isOpen: isOpen, path: path) },
            source: { [reads] _, _ in Source(found: CalendarEvents(events), reads: reads, place: place) }, now: { now })
    }

    private func run(_ tool: any Tool, _ text: String, _ outcome: ApprovalOutcome = .allowed) async throws -> [TurnEvent
        .Body]
    {
        let loop = AgentLoop(
            model: ToolsOnly(), tools: try ToolRegistry([tool]), broker: bench.broker, database: bench.database)
        var request = TurnRequest(messages: [Message(role: .user, content: text)], profile: .assistant)
        let plan = try #require(CommandPlan(text))
        request.plan = plan
        let turn = await bench.turns.start(
            key: TurnID().text, loop: loop, request: request, accept: {}, record: { _ in })
        var events: [TurnEvent.Body] = []
        for try await event in turn.events() {
            events.append(event.body)
            if case .approvalAsked(let note) = event.body {
                try await bench.broker.answer(note.id, signature: note.signature, outcome: outcome, turn: turn.id)
            }
        }
        return events
    }

    @Test func anApprovedReadGivesTitlesAndTimesOnly() async throws {
        // Noon where the device is, whatever its zone.
        let noon = LocalTime.midnight(Timestamp(milliseconds: 1_795_996_800_000), plus: 1).milliseconds + 43_200_000
        let events = [
            CalendarEvent(
                title: "Tea\u{1B}[31m\nwith \u{202E}Ann", start: Timestamp(milliseconds: noon),
                end: Timestamp(milliseconds: noon + 3_600_000), isAllDay: false),
            CalendarEvent(
                title: String(repeating: "x", count: 500),
                start: LocalTime.midnight(Timestamp(milliseconds: noon), plus: 0),
                end: LocalTime.midnight(Timestamp(milliseconds: noon), plus: 1), isAllDay: true),
        ]

        let seen = try await run(tool(events, now: Timestamp(milliseconds: noon)), "what's on my calendar today")

        #expect(seen.end?.reason == .stop && reads.days == [1])
        let question = try #require(seen.questions.first)
        #expect(question.effect == "reads your calendar" && !question.mayBeRemembered)
        #expect(question.shown.contains("titles, beginnings and ends of your calendar's events for today"))
        let day = LocalTime.day(Timestamp(milliseconds: noon))
        #expect(seen.text.hasPrefix("- \(day), 12:00 to 13:00: Tea"))
        #expect(!seen.text.contains("\u{1B}") && !seen.text.contains("\u{202E}"))
        #expect(seen.text.contains("- \(day), all day: xxx") && seen.text.hasSuffix("x…"))
        #expect(seen.text.count < 400)
    }

    @Test(arguments: [("今天有什么日程", 1), ("明天的日程", 1), ("read calendar for the next seven days", 7)])
    func theSpanIsWholeDays(_ text: String, _ days: Int) async throws {
        let seen = try await run(tool(), text)

        #expect(reads.days == [days])
        #expect(seen.text.hasPrefix("Nothing is in the calendar for "))
    }

    @Test func whatIsClosedOrNowhereIsNotAskedAbout() async throws {
        for (tool, code) in [(tool(isOpen: false), "not open to the assistant"), (tool(path: nil), "Nobody has said")] {
            let seen = try await run(tool, "what's on my calendar today")
            #expect(seen.questions.isEmpty && seen.end?.reason == .error && seen.text.contains(code))
        }
        #expect(reads.days.isEmpty)
    }

    @Test func whoIsAskedStandsInTheQuestion() async throws {
        let seen = try await run(tool(place: "cal.example.org"), "what's on my calendar today", .refused)

        #expect(seen.questions.first?.shown.contains("The server cal.example.org is asked for them.") == true)
    }

    @Test func aRefusedReadReadsNothing() async throws {
        let seen = try await run(tool(), "what's on my calendar today", .refused)

        #expect(reads.days.isEmpty && seen.end?.reason == .error)
    }

    @Test func whereNobodyIsNothingIsReadOrTaken() async throws {
        let events = [CalendarEvent(title: "Tea", start: .now, end: .now, isAllDay: false)]
        var context = ToolContext(stop: StopSignal(), workspace: nil, switches: Switches(), output: { _ in })
        context.isAttended = { false }
        let before = await tool(events).run(["range": "today"], in: context)
        #expect(!before.succeeded && reads.days.isEmpty)

        // Somebody leaves while it is read.
        context.isAttended = { [reads] in reads.days.isEmpty }
        let after = await tool(events).run(["range": "today"], in: context)
        #expect(!after.succeeded && reads.days == [1] && !after.text.contains("Tea"))
    }

    @Test func aModelHasNoCalendar() {
        #expect(!RunProfile.assistant.forModel.effects.contains(.readsCalendar))
        #expect(!Policy.mayBeRemembered(.readsCalendar))
    }

    @Test func aTurnKnowsWhetherItIsFollowed() async {
        let turn = Turn(key: "k")
        #expect(!turn.isWatched)
        do {
            let reader = turn.events()
            #expect(turn.isWatched)
            _ = reader
        }
        #expect(!turn.isWatched)
    }
}

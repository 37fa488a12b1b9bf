import AlcoveCore
import Foundation
import Testing

@testable import AlcoveServer

/// What a session's stream tells of a turn, held against the contract's own schema.
struct SessionEventsTests {
    /// The contract's branch for each type of event: its properties and the required ones.
    private static let contract: [String: JSONValue] = {
        let file =
            #filePath.split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" }
            + "/Contract/kernel-event.schema.json"
        guard let data = FileManager.default.contents(atPath: file), let schema = try? JSONValue(parsing: Array(data))
        else { return [:] }
        let branches = schema["definitions"]?["KernelEvent"]?["allOf"]?.array?[1]["anyOf"]?.array ?? []
        return Dictionary(
            uniqueKeysWithValues: branches.map { ($0["properties"]?["type"]?["const"]?.string ?? "", $0) })
    }()

    private func project(_ bodies: [TurnEvent.Body]) throws -> [JSONObject] {
        var projection = SessionEvents(model: "m", window: 4096)
        let events = bodies.enumerated().flatMap { projection.events(TurnEvent(sequence: $0, body: $1)) }
        for event in events {
            let type = try #require(event["type"]?.string)
            let branch = try #require(Self.contract[type], "\(type) is no type of the contract")
            let known = Set(branch["properties"]?.object?.keys.map { $0 } ?? [])
            let required = Set(branch["required"]?.array?.compactMap(\.string) ?? [])
            let keys = Set(event.keys)
            #expect(keys.isSubset(of: known), "\(type) has \(keys.subtracting(known))")
            #expect(required.isSubset(of: keys), "\(type) lacks \(required.subtracting(keys))")
            for key in keys {
                guard let allowed = branch["properties"]?[key]?["enum"]?.array, let value = event[key] else { continue }
                #expect(allowed.contains(value), "\(type).\(key) is \(value)")
            }
        }
        return events
    }

    private func types(_ bodies: [TurnEvent.Body]) throws -> [String] {
        try project(bodies).compactMap { $0["type"]?.string }
    }

    private func note(_ failure: ToolFailure?, call: String = "c1") -> ToolNote {
        ToolNote(
            call: call, tool: "shell", failure: failure, detail: "ls", observation: "out", round: 1, seconds: 1.5,
            receipt: nil)
    }

    private let parsed = TurnEvent.Body.callParsed(
        CallNote(id: "c1", tool: "shell", arguments: "{\"command\":\"ls\"}", signature: "s", round: 1))
    private let asked = TurnEvent.Body.approvalAsked(
        ApprovalNote(
            id: "a1", call: "c1", tool: "shell", shown: "ls", effect: "runs code", signature: "s",
            mayBeRemembered: false,
            expiresInSeconds: 600))

    private func end(_ reason: FinishReason, error: String? = nil, stoppedBy: String? = nil) -> TurnEvent.Body {
        .finished(TurnEnd(reason: reason, usage: Usage(), elapsedSeconds: 1, error: error, stoppedBy: stoppedBy))
    }

    @Test func aTurnWithAToolIsToldInTheContractsOrder() throws {
        let events = try types([
            .inputAccepted(messages: 1), .promptProgress(done: 1, total: 2), .reasoning("Hm"), .reasoning("."),
            .text("I look."), .callWriting(tool: "shell", delta: "{"), .usage(Usage()), parsed, asked,
            .approvalAnswered(approval: "a1", call: "c1", .allowed),
            .toolStarted(call: "c1", tool: "shell", detail: "ls"),
            .toolOutput(call: "c1", tool: "shell", text: "out", seconds: 1), .toolFinished(note(nil)),
            .text("Done."), end(.stop),
        ])

        #expect(
            events == [
                "turn.started", "msg.block.start", "msg.thinking.delta", "msg.thinking.delta", "msg.block.end",
                "msg.block.start", "msg.text.delta", "msg.block.end", "cost.usage.updated", "tool.proposed",
                "tool.permission.requested", "tool.permission.decided", "tool.started", "tool.output.delta",
                "tool.completed", "msg.block.start", "msg.text.delta", "msg.block.end", "turn.completed",
            ])
    }

    @Test func blocksAreNumberedAndArgumentsAreAsWritten() throws {
        let events = try project([.reasoning("a"), .text("b"), parsed, .text("c"), end(.stop)])

        #expect(events.compactMap { $0["type"] == "msg.block.start" ? $0["index"]?.int : nil } == [0, 1, 2])
        #expect(events.first { $0["type"] == "tool.proposed" }?["args"] == ["command": "ls"])
    }

    @Test func aCallThatNeedsNobodyIsDecidedByThePolicyOnce() throws {
        let events = try project([parsed, .toolStarted(call: "c1", tool: "shell", detail: "")])
        let decisions = events.filter { $0["type"] == "tool.permission.decided" }

        #expect(decisions.map { $0["decisionSource"] } == ["policy"])
    }

    @Test(arguments: [
        (ToolFailure.unknownTool, "unknown_tool"), (.invalidArguments, "invalid_args"), (.timeout, "timeout"),
        (.aborted, "aborted"), (.notAllowed, "aborted"),
    ])
    func aCallThatCameToNothingSaysWhy(failure: ToolFailure, type: String) throws {
        let events = try project([.toolFinished(note(failure))])

        #expect(events.first?["type"] == "tool.proposed")
        #expect(events.last?["type"] == "tool.failed")
        #expect(events.last?["errorType"]?.string == type)
        #expect(events.contains { $0["decision"] == "deny" } == (failure == .notAllowed))
    }

    @Test func refusalOfAPersonIsADenial() throws {
        let events = try project([
            parsed, asked, .approvalAnswered(approval: "a1", call: "c1", .refused), .toolFinished(note(.notAllowed)),
        ])
        let decisions = events.filter { $0["type"] == "tool.permission.decided" }

        #expect(decisions.map { $0["decision"] } == ["deny"])
        #expect(decisions.map { $0["decisionSource"] } == ["user"])
    }

    @Test func aToolsOwnErrorIsAnAnswer() throws {
        let events = try project([parsed, .toolFinished(note(.failed))])

        #expect(events.last?["type"] == "tool.completed")
        #expect(events.last?["isError"] == true)
    }

    @Test(arguments: [
        ("round limit", "max_tool_rounds"), ("step limit", "max_turns"), ("repetition", "blocking_limit"),
        ("repeated tool call", "blocking_limit"), (nil, "completed"),
    ])
    func theEndSaysWhichLimitItWas(stoppedBy: String?, reason: String) throws {
        #expect(try project([end(.stop, stoppedBy: stoppedBy)]).last?["reason"]?.string == reason)
    }

    @Test func aStopAndAFailureAreToldApart() throws {
        #expect(try types([.text("a"), end(.cancelled)]).suffix(2) == ["msg.block.end", "turn.aborted"])
        let duringTool = try project([parsed, .toolStarted(call: "c1", tool: "shell", detail: ""), end(.cancelled)])
        #expect(duringTool.last?["reason"] == "aborted_tools")
        #expect(try types([end(.error, error: "It broke.")]) == ["turn.error", "turn.completed"])
    }
}

package import AlcoveCore
package import AlcoveStorage
internal import AlcoveWorkspace

/// A run as programs read it.
package enum RunProjection {
    package static func json(_ record: TurnRecord, _ receipts: [Receipt]) -> JSONObject {
        [
            "id": .string(record.id.text), "conversation": JSONValue(record.chat?.text),
            "state": .string(record.state.rawValue), "profile": .string(record.profile),
            "startedAt": .string(record.startedAt.iso8601), "finishedAt": JSONValue(record.finishedAt?.iso8601),
            "reason": JSONValue(record.reason),
            "receipts": .array(receipts.map(json)),
        ]
    }

    /// With its timeline, counters and failures.
    package static func whole(_ record: TurnRecord, in log: TurnLog) async throws -> JSONObject {
        var object = json(record, try await log.receipts(of: record.id))
        let story = RunStory(try await log.outline(of: record.id, limit: RunStory.eventLimit))
        for (key, value) in story.json.members { object[key] = value }
        return object
    }

    private static func json(_ receipt: Receipt) -> JSONValue {
        [
            "id": .string(receipt.id.text), "tool": .string(receipt.tool), "arguments": .string(receipt.arguments),
            "signature": .string(receipt.signature), "effect": .string(receipt.effect),
            "outcome": .string(receipt.outcome), "observation": JSONValue(receipt.observation),
            "startedAt": .string(receipt.startedAt.iso8601), "finishedAt": .string(receipt.finishedAt.iso8601),
        ]
    }
}

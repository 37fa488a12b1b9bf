internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// The tools that put together what is kept, by rules alone, and look over code without running it.
struct ContinuityTools {
    private let database: Database
    private let now: @Sendable () -> Timestamp

    init(_ database: Database, _ now: @escaping @Sendable () -> Timestamp) {
        self.database = database
        self.now = now
    }

    var all: [any Tool] { [insights, context, review, Self.code] }

    private var insights: KeptTool {
        let database = database, now = now
        return KeptTool(
            "insights_list",
            "Tell open questions, stale tasks, contradictions and decisions without evidence among what is kept.",
            effect: .reads
        ) { _, _ in
            let moment = now()
            let found = try await database.read { try Insights($0, now: moment).all() }
            return ToolResult(succeeded: true, text: found.text)
        }
    }

    private var context: KeptTool {
        let database = database
        return KeptTool(
            "project_context", "Put together what is kept about the project, or about a topic of it.", effect: .reads,
            shown: "topic",
            properties: ["topic": ["type": "string", "maxLength": JSONValue(Ranking.queryLength)]]
        ) { arguments, _ in
            let topic = arguments["topic"]?.string ?? ""
            return ToolResult(succeeded: true, text: try await ProjectReport.context(topic: topic, in: database))
        }
    }

    private var review: KeptTool {
        let database = database, now = now
        return KeptTool(
            "project_review",
            "Review what is kept: decisions with their evidence, risks and requirements with what is done about them.",
            effect: .reads
        ) { _, _ in
            let moment = now()
            return ToolResult(
                succeeded: true, text: try await database.read { try ProjectReport.review(now: moment, in: $0) })
        }
    }

    private static let code = KeptTool(
        "code_inspect", "Look over a snippet of code for what usually deserves a second look; nothing is run.",
        effect: .reads,
        // No longest length: a model's grammar cannot hold so large a one. What is beyond the limit is not looked at.
        properties: ["code": ["type": "string", "minLength": 1]], required: ["code"]
    ) { arguments, _ in
        ToolResult(succeeded: true, text: CodeInspection(arguments["code"]?.string ?? "").text)
    }
}

package import AlcoveCore
package import AlcoveStorage
internal import AlcoveWorkspace

/// A tool of the assistant's own store, described by what it is called, what it takes and what it does.
///
/// All of them answer with text for people and models alike. A change is handed back, not made: it is committed together
/// with the receipt.
package struct KeptTool: Tool {
    package let declaration: ToolDeclaration
    package let effect: ToolEffect
    package let observationLimit = 6_000
    package let profiles: Set<String>? = [RunProfile.assistant.name]
    private let shown: String?
    private let body: @Sendable (JSONObject, ToolContext) async throws -> ToolResult

    /// - Parameters:
    ///   - shown: The argument that people see in lists of what was done.
    ///   - body: What it throws becomes a failed result with the error's sentence.
    init(
        _ name: String, _ description: String, effect: ToolEffect, shown: String? = nil,
        properties: JSONObject = JSONObject(), required: [String] = [],
        body: @escaping @Sendable (JSONObject, ToolContext) async throws -> ToolResult
    ) {
        declaration = ToolDeclaration(
            name: name, description: description,
            parameters: [
                "type": "object", "properties": .object(properties),
                "required": .array(required.map { .string($0) }), "additionalProperties": false,
            ])
        self.effect = effect
        self.shown = shown
        self.body = body
    }

    package func detail(of arguments: JSONObject) -> String { shown.flatMap { arguments[$0]?.string } ?? "" }

    package func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult {
        do {
            return try await body(arguments, context)
        } catch {
            return .failed(sentence(of: error))
        }
    }

    /// All of them, in the order they are declared.
    package static func all(_ database: Database, now: @escaping @Sendable () -> Timestamp = { .now }) -> [any Tool] {
        [dateTime(now), calculator] + TaskTools(database, now).all + KnowledgeTools(database, now).all
    }
}

extension KeptTool {
    private static func dateTime(_ now: @escaping @Sendable () -> Timestamp) -> KeptTool {
        KeptTool("date_time", "Tell the current date and time on this device.", effect: .reads) { _, _ in
            ToolResult(succeeded: true, text: LocalTime.words(now()))
        }
    }

    private static let calculator = KeptTool(
        "calculator",
        """
        Evaluate arithmetic: + - * / ^ % (remainder), parentheses, sqrt, abs, round, floor, ceil, min, max, sin, cos, tan, \
        ln, log10, log2, exp, pi, e. Decimal results are exact where they can be.
        """, effect: .reads, shown: "expression",
        properties: [
            "expression": ["type": "string", "minLength": 1, "maxLength": JSONValue(Calculator.lengthLimit)]
        ], required: ["expression"]
    ) { arguments, _ in
        let expression = arguments["expression"]?.string ?? ""
        let answer = try Calculator.evaluate(expression)
        return ToolResult(succeeded: true, text: "\(expression) \(answer.isExact ? "=" : "≈") \(answer.text)")
    }
}

/// A moment as the device's own clock and time zone have it.
enum LocalTime {
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    /// "Monday, 30 November 2026, 11:20 (UTC+01:00)"
    static func words(_ moment: Timestamp) -> String {
        var seconds = time_t(moment.milliseconds / 1_000), parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let offset = parts.tm_gmtoff / 60
        let zone = "UTC\(offset < 0 ? "-" : "+")\(two(abs(offset) / 60)):\(two(abs(offset) % 60))"
        let day = days[Int(parts.tm_wday) % 7], month = months[Int(parts.tm_mon) % 12]
        return
            "\(day), \(parts.tm_mday) \(month) \(Int(parts.tm_year) + 1900), \(two(Int(parts.tm_hour))):\(two(Int(parts.tm_min))) (\(zone))"
    }
}

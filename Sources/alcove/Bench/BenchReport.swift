internal import AlcoveCore

/// What a bench has found: a line for people as soon as it is known, or one JSON object at the end.
struct BenchReport {
    private var object: JSONObject
    private let isJSON: Bool

    init(model: String, threads: Int, isJSON: Bool) {
        object = ["model": .string(model), "threads": JSONValue(threads)]
        self.isJSON = isJSON
    }

    mutating func add(_ name: String, _ value: JSONValue, _ line: String) {
        object[name] = value
        if !isJSON { Terminal.line(name + String(repeating: " ", count: max(1, 36 - name.count)) + line) }
    }

    /// A heading, for people only.
    func head(_ line: String) {
        if !isJSON { Terminal.line("\n" + line) }
    }

    func end() {
        if isJSON { Terminal.line(JSONValue.object(object).text(.indented)) }
    }

    /// One decimal.
    static func rounded(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}

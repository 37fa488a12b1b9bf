internal import AlcoveCore

/// The members of a request's body; whatever is refused is named as the program wrote it. Null is as good as absent.
struct OpenAIBody: Sendable {
    let object: JSONObject
    /// Where this object stands in the request, as `stream_options.`; empty for the request itself.
    var path = ""

    /// - Throws: for a name that is not in the list, because what is silently left out is found out too late.
    init(_ object: JSONObject, knowing names: Set<String>, at path: String = "") throws(OpenAIError) {
        self.object = object
        self.path = path
        for name in object.keys where !names.contains(name) {
            throw OpenAIError(
                code: "unknown_parameter", "Unknown parameter: \"\(path)\(name.prefix(100))\".",
                hint: didYouMean(name, among: names.sorted()), param: path + name)
        }
    }

    subscript(_ name: String) -> JSONValue? {
        // Written out: a bare `nil` would be the JSON value null.
        guard let value = object[name], !value.isNull else { return Optional.none }
        return value
    }

    func text(_ name: String) throws(OpenAIError) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw wrong(name, "should be text") }
        return text
    }

    func flag(_ name: String) throws(OpenAIError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let flag = value.bool else { throw wrong(name, "should be true or false") }
        return flag
    }

    func whole(_ name: String, in range: ClosedRange<Int>) throws(OpenAIError) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.int, range.contains(number) else {
            throw wrong(name, "should be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func number(_ name: String, in range: ClosedRange<Double>) throws(OpenAIError) -> Float? {
        guard let value = self[name] else { return nil }
        guard let number = value.double, range.contains(number) else {
            func short(_ bound: Double) -> String { Int(exactly: bound).map { "\($0)" } ?? "\(bound)" }
            throw wrong(name, "should be a number from \(short(range.lowerBound)) to \(short(range.upperBound))")
        }
        return Float(number)
    }

    func list(_ name: String) throws(OpenAIError) -> [JSONValue]? {
        guard let value = self[name] else { return nil }
        guard let list = value.array else { throw wrong(name, "should be a list") }
        return list
    }

    func object(_ name: String, knowing names: Set<String>) throws(OpenAIError) -> OpenAIBody? {
        guard let value = self[name] else { return nil }
        guard let object = value.object else { throw wrong(name, "should be an object") }
        return try OpenAIBody(object, knowing: names, at: "\(path)\(name).")
    }

    func wrong(_ name: String, _ what: String, hint: String? = nil) -> OpenAIError {
        OpenAIError(code: "invalid_value", "\"\(path)\(name)\" \(what).", hint: hint, param: path + name)
    }

    /// What this host has not, whatever it is set to.
    func refuse(_ name: String, _ reason: String, hint: String? = nil) throws(OpenAIError) {
        guard let value = self[name], value != .object([:]), value != .array([]), value != .bool(false) else { return }
        throw OpenAIError(
            code: "unsupported_parameter", "\"\(path)\(name)\" is not supported here: \(reason).", hint: hint,
            param: path + name)
    }
}

extension OpenAIBody {
    /// Parameters of sampling that both kinds of completion share, with what programs for llama.cpp add to them.
    static let samplingNames: Set<String> = [
        "temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop", "top_k", "min_p",
        "repeat_penalty",
    ]
    /// Parameters that are for somebody else's house and change nothing here.
    static let ignoredNames: Set<String> = [
        "user", "metadata", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
        "prediction", "verbosity",
    ]
    private static let mostStops = 16
    private static let longestStop = 1_024

    func sampling(_ makers: SamplingOptions) throws(OpenAIError) -> SamplingOptions {
        var options = makers
        if let value = try number("temperature", in: 0...2) { options.temperature = value }
        if let value = try number("top_p", in: 0...1) { options.topP = value }
        if let value = try whole("top_k", in: 0...100_000) { options.topK = value }
        if let value = try number("min_p", in: 0...1) { options.minP = value }
        if let value = try number("repeat_penalty", in: 0.1...5) { options.repetitionPenalty = value }
        if let value = try number("frequency_penalty", in: -2...2) { options.frequencyPenalty = value }
        if let value = try number("presence_penalty", in: -2...2) { options.presencePenalty = value }
        if let value = try whole("seed", in: Int.min...Int.max) { options.seed = OpenAIBody.seed(value) }
        return options
    }

    /// A seed of 64 bits as one of 32, never the one that the library takes for "any".
    static func seed(_ value: Int) -> UInt32 {
        let bits = UInt64(bitPattern: Int64(value))
        let folded = UInt32(truncatingIfNeeded: bits ^ (bits >> 32))
        return min(folded, UInt32.max - 1)
    }

    func stops() throws(OpenAIError) -> [String] {
        guard let value = self["stop"] else { return [] }
        let items = value.string.map { [JSONValue.string($0)] } ?? value.array
        guard let items, items.count <= OpenAIBody.mostStops else {
            throw wrong("stop", "should be a text, or a list of at most \(OpenAIBody.mostStops)")
        }
        var stops: [String] = []
        for item in items {
            guard let text = item.string, !text.isEmpty else {
                throw wrong("stop", "should hold texts that are not empty")
            }
            guard text.utf8.count <= OpenAIBody.longestStop else {
                throw wrong("stop", "should hold texts of at most \(OpenAIBody.longestStop) bytes")
            }
            stops.append(text)
        }
        return stops
    }

    /// Whether the answer is streamed, and whether its last chunk tells the usage.
    func streaming() throws(OpenAIError) -> (isOn: Bool, includesUsage: Bool) {
        let isOn = try flag("stream") ?? false
        guard let options = try object("stream_options", knowing: ["include_usage", "include_obfuscation"]) else {
            return (isOn, false)
        }
        guard isOn else { throw wrong("stream_options", "is for streams only", hint: "Set \"stream\" to true.") }
        _ = try options.flag("include_obfuscation")
        return (isOn, try options.flag("include_usage") ?? false)
    }

    func onlyOne(_ name: String) throws(OpenAIError) {
        guard let value = self[name], value.int != 1 else { return }
        throw wrong(
            name, "should be 1: one answer is made at a time", hint: "Send the request again for another answer.")
    }

    func modelName() throws(OpenAIError) -> String {
        guard let name = try text("model"), !name.isEmpty else {
            throw OpenAIError(
                code: "missing_required_parameter", "\"model\" should name the model that is to answer.",
                hint: "GET /v1/models tells its name; \"default\" is whatever model is loaded.", param: "model")
        }
        return name
    }
}

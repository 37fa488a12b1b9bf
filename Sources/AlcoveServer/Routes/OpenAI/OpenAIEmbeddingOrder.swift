internal import AlcoveCore

/// The body of `POST /v1/embeddings`, read and checked.
struct OpenAIEmbeddingOrder: Sendable {
    let model: String
    let inputs: [EmbeddingInput]
    private let isBase64: Bool

    private static let names: Set<String> = OpenAIBody.ignoredNames.union([
        "model", "input", "encoding_format", "dimensions",
    ])

    init(_ object: JSONObject) throws(OpenAIError) {
        let body = try OpenAIBody(object, knowing: OpenAIEmbeddingOrder.names)
        model = try body.modelName()
        try body.refuse("dimensions", "vectors have the length that the model was made for", hint: "Leave it out.")
        switch try body.text("encoding_format") {
        case nil, "float"?: isBase64 = false
        case "base64"?: isBase64 = true
        default: throw body.wrong("encoding_format", "should be float or base64")
        }
        inputs = try OpenAIEmbeddingOrder.inputs(body)
    }

    /// One text, several, one list of tokens, or several of those.
    private static func inputs(_ body: OpenAIBody) throws(OpenAIError) -> [EmbeddingInput] {
        if let text = body["input"]?.string { return [.text(text)] }
        let wrong = body.wrong("input", "should be a text, a list of texts, or a list of tokens or of such lists")
        guard let list = body["input"]?.array, let first = list.first else { throw wrong }
        if first.int != nil {
            guard let tokens = tokens(.array(list)) else { throw wrong }
            return [.tokens(tokens)]
        }
        var inputs: [EmbeddingInput] = []
        for item in list {
            if let text = item.string {
                inputs.append(.text(text))
            } else if let tokens = tokens(item) {
                inputs.append(.tokens(tokens))
            } else {
                throw wrong
            }
        }
        return inputs
    }

    private static func tokens(_ value: JSONValue) -> [Int32]? {
        guard let list = value.array else { return nil }
        let tokens = list.compactMap { $0.int.flatMap { Int32(exactly: $0) } }
        return tokens.count == list.count ? tokens : nil
    }

    func answer(_ made: Embeddings, model: String) -> JSONValue {
        [
            "object": "list",
            "data": .array(
                made.vectors.enumerated().map { index, vector in
                    [
                        "object": "embedding", "index": JSONValue(index),
                        "embedding": isBase64 ? OpenAIEmbeddingOrder.base64(vector) : OpenAIEmbeddingOrder.list(vector),
                    ]
                }), "model": .string(model),
            "usage": ["prompt_tokens": JSONValue(made.tokens), "total_tokens": JSONValue(made.tokens)],
        ]
    }

    /// As short as tells the number apart from every other of its kind.
    private static func list(_ vector: [Float]) -> JSONValue {
        .array(vector.map { .double(Double("\($0)") ?? Double($0)) })
    }

    /// 32-bit numbers, lowest byte first.
    private static func base64(_ vector: [Float]) -> JSONValue {
        .string(
            Base64.text(
                vector.flatMap { number -> [UInt8] in
                    let bits = number.bitPattern
                    return [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: bits >> $0) }
                }))
    }
}

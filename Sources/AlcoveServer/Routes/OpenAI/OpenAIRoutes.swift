internal import AlcoveAgent
internal import AlcoveCore

/// The model of this device for programs written for OpenAI's API.
///
/// Tools belong to the program: nothing of the host runs here, and nothing is stored.
struct OpenAIRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/v1/models") { _ in .json(await models()) }
        router.get("/v1/models/{id}") { try await model($0) }
        router.post("/v1/chat/completions", body: .json(upTo: ChatRoutes.bodyLimit)) { try await chat($0) }
        router.post("/v1/completions", body: .json(upTo: ChatRoutes.bodyLimit)) { try await complete($0) }
        router.post("/v1/embeddings", body: .json(upTo: ChatRoutes.bodyLimit)) { try await embed($0) }
    }

    // MARK: Models

    private static let started = time(nil)

    private func models() async -> JSONValue {
        ["object": "list", "data": .array(await loaded().map { [$0] } ?? [])]
    }

    private func model(_ request: HTTPRequest) async throws -> HTTPResponse {
        _ = try await ready(named: request.parameters["id"] ?? "")
        return .json(await loaded() ?? .null)
    }

    private func loaded() async -> JSONValue? {
        guard case .loaded(let path, let loaded) = await host.model.state else { return nil }
        var status = stat()
        // A model elsewhere has no file here whose age could be told.
        let made = stat(path, &status) == 0 ? status.written.tv_sec : OpenAIRoutes.started
        return [
            "id": .string(loaded.model.description.id), "object": "model", "created": JSONValue(made),
            "owned_by": "alcove",
        ]
    }

    /// The model that is loaded, if it is the one that is meant.
    private func ready(named name: String) async throws(OpenAIError) -> any LanguageModel {
        switch await host.model.state {
        case .loaded(_, let loaded):
            let id = loaded.model.description.id
            guard [id, "default"].contains(name) || name + ".gguf" == id else {
                throw OpenAIError(
                    404, code: "model_not_found", "\"\(name.prefix(200))\" is not loaded; \(id) is.",
                    hint: "Name that one, or \"default\" for whatever is loaded, or load the other first.",
                    param: "model")
            }
            return loaded.model
        case .loading(let path, let fraction):
            throw OpenAIError(
                503, code: "model_loading",
                "The model \(fileName(path)) is still loading (\(Int(100 * fraction)) %).",
                hint: "Try again in a moment.", headers: ["Retry-After": "1"])
        case .failed(_, let message):
            throw OpenAIError(404, code: "model_not_found", message, hint: "Choose another model.", param: "model")
        case .none:
            throw OpenAIError(
                404, code: "model_not_found", "No model is loaded.",
                hint: "Choose one on the page, or start Alcove with --model FILE.", param: "model")
        }
    }

    // MARK: Answers

    private func chat(_ request: HTTPRequest) async throws -> HTTPResponse {
        var order = try OpenAIChatOrder(try await request.jsonObject())
        let model = try await ready(named: order.model)
        try await order.decodeMedia(for: model.description.media, with: host.decoder)
        var generation = try order.request(for: model.description.sampling, stopSignal: StopSignal())
        generation.speculates = host.board.current.speculates
        let head = head("chatcmpl-", model)
        if order.isStream {
            return stream(
                generation, from: model, as: OpenAIChunks(head: head, includesUsage: order.includesUsage))
        }
        var whole = OpenAICompletion(head: head)
        try await collect(generation, from: model) { whole.take($0) }
        return .json(try whole.json())
    }

    private func complete(_ request: HTTPRequest) async throws -> HTTPResponse {
        let order = try OpenAITextOrder(try await request.jsonObject())
        let model = try await ready(named: order.model)
        var generation = try order.request(for: model.description.sampling, stopSignal: StopSignal())
        generation.speculates = host.board.current.speculates
        var chunks = OpenAITextChunks(head: head("cmpl-", model), includesUsage: order.includesUsage)
        if order.isStream { return stream(generation, from: model, as: chunks) }
        try await collect(generation, from: model) { _ = try chunks.chunks($0) }
        return .json(try chunks.json())
    }

    private func head(_ prefix: String, _ model: any LanguageModel) -> OpenAIHead {
        OpenAIHead(
            id: prefix + hexText(Platform.randomBytes(12)), model: model.description.id, created: Int(time(nil)))
    }

    /// The client's leaving cancels the task, which is the wish to stop.
    private func collect(
        _ request: GenerationRequest, from model: any LanguageModel, _ take: (GenerationEvent) throws -> Void
    ) async throws {
        for try await event in host.answers.events(of: request, from: model) { try take(event) }
        // A cancelled task sees the end of the events before it comes.
        try Task.checkCancellation()
    }

    /// Server-sent events. No byte is sent before the model has begun, so that a refusal has its own status.
    private func stream(
        _ request: GenerationRequest, from model: any LanguageModel, as projection: some OpenAIProjection
    ) -> HTTPResponse {
        var response = ServerSentEvents.response { [answers = host.answers] send in
            var projection = projection
            for try await event in answers.events(of: request, from: model) {
                for chunk in try projection.chunks(event) { try await send(chunk) }
            }
            try Task.checkCancellation()
        }
        guard case .stream(var stream) = response.body else { return response }
        let produce = stream.produce
        stream.produce = { writer in
            try await produce(writer)
            try await writer.write(Array("data: [DONE]\n\n".utf8))
        }
        stream.farewell = OpenAIRoutes.errorFrame(
            OpenAIError(503, code: "server_stopping", "Alcove is stopping.", hint: "Send the request again later."))
        stream.failure = { error in
            OpenAIRoutes.errorFrame(
                error as? any UserFacingError
                    ?? OpenAIError(500, code: "internal", "Something went wrong inside Alcove."))
        }
        response.body = .stream(stream)
        return response
    }

    private static func errorFrame(_ error: any UserFacingError) -> [UInt8] {
        let status = (error as? any HTTPStatusProviding)?.httpStatus ?? error.place.httpStatus
        return ServerSentEvents.frame(OpenAIError.body(of: error, status: status))
    }

    // MARK: Embeddings

    private func embed(_ request: HTTPRequest) async throws -> HTTPResponse {
        let order = try OpenAIEmbeddingOrder(try await request.jsonObject())
        let model = try await ready(named: order.model)
        guard let embedder = model as? any EmbeddingModel else {
            throw OpenAIError(
                code: "model_cannot_embed", "\(model.description.id) makes no embeddings.",
                hint: "Load an embedding model.", param: "model")
        }
        let stop = StopSignal()
        let made = try await withTaskCancellationHandler {
            try await host.answers.counting {
                try await embedder.embeddings(of: order.inputs, stopSignal: stop)
            }
        } onCancel: {
            stop.set()
        }
        return .json(order.answer(made, model: model.description.id))
    }
}

/// What makes chunks of a model's events.
protocol OpenAIProjection: Sendable {
    mutating func chunks(_ event: GenerationEvent) throws(OpenAIError) -> [JSONValue]
}

extension OpenAIChunks: OpenAIProjection {}
extension OpenAITextChunks: OpenAIProjection {}

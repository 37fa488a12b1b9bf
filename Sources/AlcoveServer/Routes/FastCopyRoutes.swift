internal import AlcoveAgent
internal import AlcoveCore

/// Quicker copies of models: making, stopping and removing them. The list of models tells which there are.
struct FastCopyRoutes: Sendable {
    let host: HostServices
    let copies: FastCopyServices

    func add(to router: inout Router) {
        router.post("/api/models/optimize") { try await make($0) }
        router.post("/api/models/optimize/cancel") { _ in .json(["cancelled": .bool(await copies.jobs.cancel())]) }
        router.delete("/api/models/optimize") { try await remove($0) }
    }

    /// Starts or joins: `{"model", "to"?}`. The stream is a window: leaving it stops nothing.
    private func make(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        guard let name = body["model"]?.string, !name.isEmpty else {
            throw HTTPError(400, code: "no_model_named", "\"model\" should be the name of a model file.")
        }
        let type = body["to"].flatMap { $0.isNull ? String?.none : $0.string ?? "" }
        let job = try await copies.jobs.start(try host.files.path(name), name: name, type: type)
        return ServerSentEvents.response { send in
            var isRefusal = true
            for await update in job.updates() {
                switch update {
                case .progress(let progress):
                    try await send([
                        "model": .string(name), "phase": .string(progress.phase),
                        "fraction": .double(progress.fraction),
                    ])
                case .ended(.success(let copy)):
                    try await send(["done": true, "model": .string(name), "copy": copy])
                case .ended(.failure(let error)):
                    // Before the first step it is a refusal, with a status of its own.
                    if isRefusal { throw error }
                    if job.stop.isSet { return try await send(["cancelled": true, "model": .string(name)]) }
                    var frame =
                        (error as? any UserFacingError)?.json.object ?? [
                            "error": "Something went wrong inside Alcove.", "code": "internal",
                        ]
                    frame["model"] = .string(name)
                    try await send(.object(frame))
                }
                isRefusal = false
            }
        }
    }

    /// Deletes the fast copies of `?model=`, or the one it names.
    private func remove(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let name = request.query("model"), !name.isEmpty else {
            throw HTTPError(400, code: "no_model_named", "\"model\" should be the name of a model file.")
        }
        let path = try host.files.path(name)
        let loaded: String? =
            switch await host.model.state {
            case .loaded(let path, _), .loading(let path, _): path
            case .none, .failed: nil
            }
        if let used = try copies.copies(path).first(where: { $0.path == loaded }) {
            throw HTTPError(
                409, code: "model_in_use", "\(used.name) is the model that answers now.",
                hint: "Choose another model first.")
        }
        let removed = try copies.remove(path)
        for copy in removed { CheckpointFolder.remove(root: host.root, model: copy.path) }
        return .json(["ok": true, "removed": .array(removed.map { .string($0.name) })])
    }
}

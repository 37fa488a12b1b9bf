internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// What is loaded, what could be, and loading it.
struct ModelRoutes: Sendable {
    /// What computes here.
    private static let backend = "ggml_cpu"

    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/models") { _ in .json(await models()) }
        router.post("/api/models/load") { try await load($0) }
        router.get("/api/agent/engine") { _ in .json(await engine()) }
        router.post("/api/agent/memory/release") { _ in .json(await release()) }
        router.get("/api/agent/notices") { _ in try await notices() }
        router.post("/api/agent/notices/{number}/shown") { try await markShown($0) }
    }

    private func models() async -> JSONValue {
        let loaded = await host.model.ready?.model.description
        let projector = await host.projector
        var body: JSONObject = [
            "models": .array(host.files.list().map { .string($0) }), "mmProjModels": [],
            "loaded": JSONValue(loaded?.id), "loadedMmProj": JSONValue(loaded?.projector),
            "visionReady": .bool(loaded?.media.sees ?? false), "audioReady": .bool(loaded?.media.hears ?? false),
            "acceptsVisionProjector": .bool(projector.isKnown || projector.isLoaded),
            "loadedBackend": loaded == nil
                ? .null : .string(host.model.remoteHost == nil ? ModelRoutes.backend : host.model.remoteEngine),
            "defaultBackend": .string(ModelRoutes.backend),
            "supportedBackends": [["value": .string(ModelRoutes.backend), "label": "CPU"]],
            "architecture": JSONValue(loaded?.architecture),
            "contextTokens": loaded.map { JSONValue($0.contextLength) } ?? .null,
            "modelContextTokens": loaded.map { JSONValue($0.trainedContextLength) } ?? .null,
            "defaultMaxTokens": JSONValue(host.board.current.maxTokens),
            "video": (loaded?.media.sees ?? false)
                ? .object(["maxFrames": JSONValue(max(1, loaded?.media.videoFrames ?? 0))]) : .null,
            "skills": .null,
        ]
        guard let copies = host.fastCopies else { return .object(body) }
        for (key, value) in copies.facts().members { body[key] = value }
        body["optimizing"] = .null
        if let job = await copies.jobs.current {
            body["optimizing"] = [
                "model": .string(job.name), "phase": JSONValue(job.progress?.phase),
                "fraction": .double(job.progress?.fraction ?? 0),
            ]
        }
        return .object(body)
    }

    private func load(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        guard let name = body["model"]?.string, !name.isEmpty else {
            throw HTTPError(400, code: "no_model_named", "\"model\" should be the name of a model file.")
        }
        if let backend = body["backend"], !backend.isNull, backend.string != ModelRoutes.backend {
            throw HTTPError(
                400, code: "unsupported_backend",
                "\"backend\" should be \(ModelRoutes.backend): there is no other here.")
        }
        if let projector = body["mmproj"], !projector.isNull, projector.string != "" {
            throw HTTPError(
                400, code: "unsupported_projector", "A load does not name its projector.",
                hint: "The catalogue's is taken, one beside the model named mmproj-MODEL.gguf, or --projector FILE.")
        }
        let path = try host.files.path(name)
        do {
            try await host.model.load(path)
        } catch {
            let known: any UserFacingError =
                error as? any UserFacingError
                ?? (error is CancellationError
                    ? InputError(
                        code: "model_load_cancelled", message: "Another model was chosen meanwhile.", place: .busy)
                    : InputError(code: "model_load_failed", message: "The model could not be loaded.", place: .host))
            var body = known.json.object ?? [:]
            body["ok"] = false
            return .json(.object(body), status: known.place.httpStatus)
        }
        host.warmUpSoon()
        // A host that is started again begins with what was chosen last.
        _ = try? await host.board.change { try $0.changing(["selectedModelId": .string(name)]) }
        let loaded = await host.model.ready?.model.description
        return .json([
            "ok": true, "model": JSONValue(loaded?.id), "loadedMmProj": JSONValue(loaded?.projector),
            "architecture": JSONValue(loaded?.architecture),
        ])
    }

    private func engine() async -> JSONValue {
        var model: JSONObject = [
            "id": .null, "name": .null, "state": "None", "loading": .null, "error": .null,
            "prefixCacheWarm": .bool(host.warmUp?.isWarm ?? false),
            "memory": JSONValue(Int(Platform.residentBytes)),
        ]
        ModelRoutes.add(MemoryReading.current, to: &model)
        model["memoryNotes"] = .array(
            host.memory.notes.map { note in
                var object: JSONObject = ["moment": .string(note.moment.rawValue)]
                ModelRoutes.add(note.reading, to: &object)
                return .object(object)
            })
        switch await host.model.state {
        case .none: break
        case .loading(let path, let fraction):
            model["state"] = "Loading"
            model["id"] = .string(fileName(path))
            model["name"] = .string(fileName(path))
            model["loading"] = .double(fraction)
        case .failed(let path, let message):
            model["state"] = "Failed"
            model["id"] = .string(fileName(path))
            model["name"] = .string(fileName(path))
            model["error"] = .string(message)
        case .loaded(_, let loaded):
            model["state"] = "Loaded"
            model["id"] = .string(loaded.model.description.id)
            model["name"] = .string(loaded.model.description.name)
            model["notices"] = .array(loaded.notices.map { .string($0) })
        }
        return [
            "engine": .string(engineLine), "now": engineNow,
            "networkDisabledMessage": "Network access is switched off.",
            "modelRoot": .string(host.root + "/models"), "conversationRoot": .string(host.root),
            "model": .object(model), "leavesDevice": .bool(host.model.remoteHost != nil),
            "endpointHost": JSONValue(host.model.remoteHost),
            "gate": [
                "closed": .bool(host.model.gate.isClosed), "closures": JSONValue(host.model.gate.closures),
                "closedSeconds": .double(host.model.gate.closedSeconds), "waiting": JSONValue(host.model.gate.waiting),
                "rebuilds": JSONValue(await host.repair?.rebuilds ?? 0),
            ],
        ]
    }

    /// Gives back what only serves speed, for whoever knows that memory is short.
    private func release() async -> JSONValue {
        let bytes = await host.memory.giveMemoryBack()
        var body: JSONObject = ["ok": true, "freedBytes": JSONValue(bytes)]
        ModelRoutes.add(MemoryReading.current, to: &body)
        return .object(body)
    }

    private static func add(_ reading: MemoryReading, to object: inout JSONObject) {
        func number(_ value: UInt64?) -> JSONValue { value.map { .integer(Int64(clamping: $0)) } ?? .null }
        object["chargedBytes"] = number(reading.chargedBytes)
        object["residentBytes"] = number(reading.residentBytes)
        object["machineTakenBytes"] = number(reading.machineTakenBytes)
        object["memoryLeftBytes"] = number(reading.leftBytes)
        object["memoryLimitBytes"] = number(reading.limitBytes)
        object["memoryLine"] = .string(reading.text)
    }

    /// What `engineLine` says, for who says it in another language.
    private var engineNow: JSONValue {
        let switches = host.board.current.switches
        return [
            "device": host.model.remoteHost == nil ? "CPU" : .null, "code": .bool(switches.runCode),
            "network": .bool(switches.network),
        ]
    }

    /// What the host computes with and may do now, in a line.
    private var engineLine: String {
        let switches = host.board.current.switches
        let place = host.model.remoteHost.map { "answers from \($0): text leaves this device" } ?? "CPU"
        return [
            place, switches.runCode ? "code on" : "code off", switches.network ? "network on" : "network off",
        ].joined(separator: " · ")
    }

    private func notices() async throws -> HTTPResponse {
        let pending = try await host.notices.pending()
        return .json([
            "notices": .array(
                pending.map {
                    ["number": .integer($0.number), "kind": .string($0.kind), "message": .string($0.message)]
                })
        ])
    }

    private func markShown(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let number = request.parameters["number"].flatMap({ Int64($0) }) else { throw HTTPError.notFound }
        try await host.notices.markShown(number)
        return .json(["ok": true])
    }
}

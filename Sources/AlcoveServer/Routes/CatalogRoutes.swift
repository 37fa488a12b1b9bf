internal import AlcoveCore
internal import AlcoveDownloads
internal import AlcoveStorage

/// The models that can be had, and bringing them.
struct CatalogRoutes: Sendable {
    let host: HostServices
    let catalog: CatalogServices

    func add(to router: inout Router) {
        router.get("/api/agent/catalog") { _ in await list() }
        router.get("/api/agent/catalog/{id}") { .json(await json(try entry(of: $0))) }
        router.post("/api/agent/catalog/{id}/download") { try await download($0) }
        router.post("/api/agent/catalog/{id}/download/cancel") { try await cancel($0) }
        router.delete("/api/agent/catalog/{id}") { try await delete($0) }
        router.get("/api/agent/downloads") { _ in
            .json(["downloads": .array(await catalog.downloads.jobs.map(\.json))])
        }
        router.get("/api/models/fit") { request in
            guard let name = request.query("model"), !name.isEmpty else {
                throw HTTPError(400, code: "no_model_named", "\"model\" should be the name of a model file.")
            }
            return .json(try catalog.fit(ofFile: try host.files.path(name)).json)
        }
        router.post("/api/models/import") { try await bringIn($0) }
    }

    private func list() async -> HTTPResponse {
        let all = catalog.catalog()
        let device = catalog.memory()
        var models: [JSONValue] = []
        for item in catalog.items(of: all) { models.append(item.json(download: await job(item.entry.id))) }
        return .json([
            "models": .array(models),
            "errors": .array(
                all.problems.map { ["path": .string($0.path), "message": .string($0.message)] }),
            "device": [
                "memoryBytes": .integer(Int64(device.physicalBytes)), "tierGB": JSONValue(device.tier),
                "freeBytes": device.freeBytes.map { .integer(Int64($0)) } ?? .null,
            ],
        ])
    }

    private func entry(of request: HTTPRequest) throws -> CatalogEntry {
        guard let entry = catalog.catalog().entry(request.parameters["id"] ?? "") else {
            throw HTTPError(404, code: "unknown_model", "There is no such model in the catalogue.")
        }
        return entry
    }

    private func json(_ entry: CatalogEntry) async -> JSONValue {
        let status = catalog.store.status(of: entry)
        let all = catalog.items(of: catalog.catalog())
        let item = CatalogServices.Item(
            entry: entry, status: status, fit: catalog.fit(entry, status, device: catalog.memory()),
            isRecommended: all.contains { $0.entry.id == entry.id && $0.isRecommended })
        return item.json(download: await job(entry.id))
    }

    private func job(_ id: String) async -> JSONValue { await catalog.downloads.job(id)?.json ?? .null }

    /// Starts or joins. The stream is a window: leaving it stops nothing.
    private func download(_ request: HTTPRequest) async throws -> HTTPResponse {
        let entry = try entry(of: request)
        if !entry.canBeDownloaded, catalog.store.status(of: entry).state != .installed {
            throw HTTPError(
                409, code: "not_downloadable", "\(entry.name) has no address to download it from.",
                hint: "Import the file instead.")
        }
        let roles = try await roles(request)
        if catalog.store.status(of: entry).state == .installed,
            entry.files(with: roles).allSatisfy({ catalog.store.isComplete($0, in: entry) })
        {
            return ServerSentEvents.response { try await $0(["done": true, "id": .string(entry.id)]) }
        }
        let hosts = catalog.catalog().allowedHosts
        let job = try await catalog.downloads.start(entry, roles: roles, gate: AddressGate(hosts: hosts))
        return ServerSentEvents.response { send in
            for await update in job.updates() {
                switch update {
                case .progress(let progress): try await send(progress.json)
                case .ended(.completed, _): try await send(["done": true, "id": .string(job.id)])
                case .ended(.cancelled, _): try await send(["cancelled": true, "id": .string(job.id)])
                case .ended(_, let error):
                    try await send([
                        "error": JSONValue(error?.sentence), "code": JSONValue(error?.code), "id": .string(job.id),
                    ])
                }
            }
        }
    }

    /// The optional files that are wanted: what the body names, else what the settings say.
    private func roles(_ request: HTTPRequest) async throws -> Set<CatalogFile.Role> {
        if request.body.isPresent, let value = try await request.jsonObject()["optional"], !value.isNull {
            let names = value.array?.map { $0.string?.lowercased() ?? "" } ?? ["?"]
            return Set(
                try names.map { name in
                    guard let role = CatalogFile.Role.allCases.first(where: { $0.rawValue.lowercased() == name })
                    else {
                        throw InputError(
                            code: "bad_optional", message: "\"optional\" should be a list of Projector and Draft.")
                    }
                    return role
                })
        }
        return host.board.current.downloadOptionalFiles ? [.projector, .draft] : []
    }

    private func cancel(_ request: HTTPRequest) async throws -> HTTPResponse {
        let id = request.parameters["id"] ?? ""
        return .json(["cancelled": .bool(await catalog.downloads.cancel(id)), "id": .string(id)])
    }

    private func delete(_ request: HTTPRequest) async throws -> HTTPResponse {
        let entry = try entry(of: request)
        guard entry.origin != .embedded else {
            throw HTTPError(409, code: "comes_with_alcove", "\(entry.name) comes with Alcove and cannot be deleted.")
        }
        _ = await catalog.downloads.cancel(entry.id)
        CheckpointFolder.remove(root: host.root, model: catalog.store.path(of: entry.weights, in: entry))
        try catalog.store.delete(entry)
        await catalog.downloads.forget(entry.id)
        return .json(await json(entry))
    }

    /// Takes in a file of this device: `{"path", "copy"?: bool}`.
    private func bringIn(_ request: HTTPRequest) async throws -> HTTPResponse {
        let body = try await request.jsonObject()
        guard let path = body["path"]?.string, !path.isEmpty else {
            throw InputError(code: "no_path", message: "\"path\" should be the path of a GGUF file of this device.")
        }
        if let copy = body["copy"], copy.bool == nil {
            throw InputError(code: "bad_copy", message: "\"copy\" should be true or false.")
        }
        let imported = try await catalog.imports.run(path, copies: body["copy"]?.bool ?? true)
        return .json([
            "ok": true, "model": .string(imported.name), "path": .string(imported.path),
            "copied": .bool(imported.isCopy), "bytes": .integer(Int64(imported.bytes)),
        ])
    }
}

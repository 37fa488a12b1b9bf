internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

/// Files that a person gives to a chat, and their way back out.
struct UploadRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.post("/api/upload", body: .multipart(upTo: UploadLimits().requestBytes)) { request in
            try await DiskFullRefusal.telling(root: host.root) { try await upload(request) }
        }
        router.get("/uploads/{name}") { try file($0) }
    }

    /// Takes one file or several. They are kept together or not at all, and are on the disk before the answer goes out.
    private func upload(_ request: HTTPRequest) async throws -> HTTPResponse {
        let limits = await host.uploadLimits()
        let receiver = UploadReceiver(store: host.uploads, limits: limits)
        let files = try await receiver.receive(request.body, contentType: request.headers["content-type"] ?? "")
        do {
            var digests: [UploadDigest] = []
            let sees = await host.model.ready?.model.description.media.sees ?? false
            for file in files {
                digests.append(try await UploadDigest(of: file, decoder: host.decoder, modelSees: sees))
            }
            // A client that has left gets no answer, so nothing is kept for it.
            try Task.checkCancellation()
            try await host.uploads.keep(files, with: digests.flatMap(\.derived), limits)
            await receiver.finish()
            let context = await host.model.ready?.model.description.contextLength
            let replies = zip(files, digests).map { UploadReply.json($0, $1, contextLimit: context) }
            return .json(replies.count == 1 ? replies[0] : ["ok": true, "files": .array(replies)])
        } catch {
            await receiver.discard()
            throw error
        }
    }

    /// An upload, or what was made from one. Nothing of it is ever a page of ours: text is plain text, and what is not listed
    /// is not there.
    private func file(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let name = request.parameters["name"], UploadName.isServed(name),
            let ending = UploadNaming.ending(ofName: name),
            var response = HTTPResponse.file(
                [name], in: ConfinedFolder(host.uploads.folder), for: request,
                contentType: UploadKind.contentType(ending: ending))
        else {
            throw HTTPError(404, code: "unknown_upload", "There is no such upload.")
        }
        response.headers["X-Content-Type-Options"] = "nosniff"
        if let shown = request.query("name").map({ ShownName.clean($0, fallback: name) }) {
            let isSaved = request.query("download") != nil
            response.headers["Content-Disposition"] =
                isSaved ? ContentDisposition.attachment(shown) : ContentDisposition.inline(shown)
        } else if request.query("download") != nil {
            response.headers["Content-Disposition"] = ContentDisposition.attachment(name)
        }
        return response
    }
}

internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// What was said and done, in numbers, and its removal.
struct ActivityRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/activity") { _ in
            let activity = try await host.database.read { try Activity(in: $0) }
            var answer = activity.json
            answer["text"] = .string(activity.text)
            return .json(.object(answer))
        }
        router.post("/api/agent/activity/clear") { try await clear($0) }
        router.get("/api/agent/excerpts") { _ in
            let found = try await host.database.read { try RetainedExcerpt.all(in: $0) }
            return .json(["excerpts": .array(found.map(\.json))])
        }
        router.delete("/api/agent/excerpts") { try await forget($0) }
    }

    /// Removes the copies of one handoff, or of one message in it.
    private func forget(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let handoff = request.query("handoff").flatMap({ KeptID($0) }) else {
            throw InputError(code: "no_handoff", message: "\"handoff\" should name the handoff that holds the copy.")
        }
        let message = request.query("message")
        let removed = try await DiskReserve.spending {
            try await host.database.write {
                try RetainedExcerpt.remove(handoff: handoff, message: message, at: .now, in: $0)
            }
        }
        guard removed > 0 else {
            throw HTTPError(404, code: "no_excerpt", "There is no such copy any more.")
        }
        return .json(["removed": JSONValue(removed)])
    }

    /// Needs the word of a person: a request that only reached the wrong address clears nothing.
    private func clear(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard try await request.jsonObject()["confirm"]?.string == "clear" else {
            throw InputError(
                code: "not_confirmed", message: "\"confirm\" should be \"clear\".",
                hint: "GET /api/agent/activity tells what would go.")
        }
        let before = try await host.database.read { try Activity(in: $0) }
        try await host.clearActivity()
        return .json(["cleared": .object(before.json)])
    }
}

extension HostServices {
    /// Deletes all chats with their files, all records of runs, and what handoffs copied from chats.
    func clearActivity() async throws {
        _ = try await delete(try await chats.summaries(includingEmpty: true).map(\.id))
        try await DiskReserve.spending {
            try await database.write { try Activity.clearRuns(at: .now, in: $0) }
            _ = try await chats.deleteAll()
        }
        await giveRoomBack()
    }
}

internal import AlcoveAgent
internal import AlcoveCore
internal import Dispatch

/// The settings: read, sent whole, or changed in part.
struct SettingsRoutes: Sendable {
    let host: HostServices

    func add(to router: inout Router) {
        router.get("/api/agent/settings") { _ in .json(.object(host.board.current.json)) }
        router.post("/api/agent/settings") { request in
            let whole = try await request.jsonObject()
            return .json(.object(try await host.board.change { try $0.replacing(with: whole) }.json))
        }
        router.patch("/api/agent/settings") { request in
            let part = try await request.jsonObject()
            return .json(.object(try await host.board.change { try $0.changing(part) }.json))
        }
        router.get("/api/agent/disk") { [root = host.root] _ in
            // A large folder takes long to look through: not on a thread that others wait for.
            let use: DiskUse = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: DiskUse(root: root)) }
            }
            return .json(use.json)
        }
    }
}

import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

/// kill -9 at random moments. Losing power cannot be tried here: that an acknowledged write is on the disk then rests on
/// SQLite's synchronous=FULL and on a disk that does not lie about fsync.
@Suite(.serialized) struct KillTests {
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// What the child said is safe.
    private struct Acknowledged {
        var counts: [String: Int] = [:]
        var names: [String: String] = [:]
        var gone: Set<String> = []
        /// The chat each child had to do with when it was killed: its next step may have been done or not.
        var last: Set<String> = []
        private var current: String?

        mutating func endRound() {
            if let current { last.insert(current) }
            current = nil
        }

        mutating func note(_ line: String) {
            let words = line.split(separator: " ", maxSplits: 2).map { String($0) }
            if words.count > 1 { current = words[1] }
            switch words.first {
            case "chat": counts[words[1]] = Int(words[2])
            case "name": names[words[1]] = words[2]
            case "gone": gone.insert(words[1])
            default: break
            }
        }
    }

    @Test func everyAcknowledgedWriteSurvivesKills() async throws {
        let folder = try TemporaryFolder()
        var random = Seeded(state: 20_261_130)
        var acknowledged = Acknowledged()

        for round in 1...40 {
            let child = try Child(folder.path, "\(round)")
            for _ in 0..<Int.random(in: 0...25, using: &random) {
                if let line = child.line() { acknowledged.note(line) }
            }
            // Not to wait for anything: to hit the middle of a write instead of its end.
            usleep(UInt32.random(in: 0...6_000, using: &random))
            child.kill()
            while let line = child.line() { acknowledged.note(line) }
            acknowledged.endRound()

            let database = try await Database.open(folder: folder.path)
            #expect(database.opening.keptAside == nil)
            try await check(acknowledged, in: database)
            await database.close()
        }

        #expect(acknowledged.counts.count > 30, "the children got far enough to prove something")
    }

    private func check(_ acknowledged: Acknowledged, in database: Database) async throws {
        let verdict = try await database.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } }
        #expect(verdict == "ok")
        try await database.write { try $0.run("INSERT INTO message_index (message_index) VALUES ('integrity-check')") }
        let summaries = try await ChatStore(database).summaries(includingEmpty: true)
        let found = Dictionary(uniqueKeysWithValues: summaries.map { ($0.id.text, $0) })
        for (id, count) in acknowledged.counts {
            guard let summary = found[id] else {
                #expect(acknowledged.gone.contains(id) || acknowledged.last.contains(id), "chat \(id) is lost")
                continue
            }
            #expect(!acknowledged.gone.contains(id), "chat \(id) came back")
            // One more may have been written than was acknowledged, but never fewer, and never half of one.
            #expect((count...count + 1).contains(summary.messageCount), "chat \(id)")
            if let name = acknowledged.names[id] { #expect(summary.title == name) }
        }
    }
}

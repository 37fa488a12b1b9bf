import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

/// No room, at every moment there can be: the old state or the new one, never neither, and a sentence.
@Suite(.serialized) struct FullDiskTests {
    private static let sentence = "There is no room left on the disk for the database"

    private func drafts(_ count: Int, _ word: String) -> [MessageDraft] {
        (0..<count).map {
            MessageDraft(role: .user, content: "\(word) \($0) " + String(repeating: "abc def ", count: 400))
        }
    }

    /// The database may grow by 0, 1, 2, ... pages until a save fits.
    @Test func aSaveThatMeetsTheLimitAtAnyPageLeavesTheOldState() async throws {
        let folder = try TemporaryFolder()
        let database = try await Database.open(folder: folder.path)
        let store = ChatStore(database)
        let chat = try await store.create()
        let old = try await store.replaceMessages(of: chat.id, with: drafts(3, "old"))

        var refusals = 0
        for room in 0...1_000 {
            try await database.write { transaction in
                let pages = try transaction.first("PRAGMA page_count") { $0.int(0) } ?? 0
                try transaction.run("PRAGMA max_page_count=\(pages + room)")
            }
            do {
                try await store.replaceMessages(of: chat.id, with: drafts(8, "new"))
                break
            } catch let error as StorageError {
                refusals += 1
                #expect(error == .diskFull(path: database.path))
                #expect(try await store.transcript(chat.id)?.messages == old)
            }
        }

        #expect(refusals > 3)
        #expect(try await store.transcript(chat.id)?.messages.map(\.body) == drafts(8, "new").map(\.body))
        let verdict = try await database.read { try $0.first("PRAGMA integrity_check") { $0.text(0) } }
        #expect(verdict == "ok")
    }

    /// A real write that the system refuses, in a process of its own: its limit is the whole process's.
    @Test(arguments: [60_000, 100_000, 200_000, 400_000]) func aFileThatMayNotGrowIsAFullDisk(_ limit: Int) async throws
    {
        let folder = try TemporaryFolder()
        let child = try Child(folder.path, "1", "\(limit)")
        var acknowledged: [String: Int] = [:]
        var last = ""
        while let line = child.line() {
            last = line
            let words = line.split(separator: " ").map { String($0) }
            if words[0] == "chat" { acknowledged[words[1]] = Int(words[2]) }
            if words[0] == "gone" { acknowledged[words[1]] = nil }
        }

        #expect(last == "error storage_full")
        let database = try await Database.open(folder: folder.path)
        let summaries = try await ChatStore(database).summaries(includingEmpty: true)
        let found = Dictionary(uniqueKeysWithValues: summaries.map { ($0.id.text, $0.messageCount) })
        #expect(found == acknowledged)
    }

    #if os(Linux)
    /// A disk of 300 KiB. Needs the right to mount one.
    @Test(.enabled(if: Mount.isAllowed, "only root may mount a small disk to fill"))
    func aFullDiskSaysSoAndTakesWritesAgain() async throws {
        let folder = try TemporaryFolder()
        let disk = try Mount(folder.path, bytes: 300 << 10)
        let database = try await Database.open(folder: disk.path)
        let store = ChatStore(database)
        let chat = try await store.create()

        var kept: [StoredMessage] = []
        let error = await #expect(throws: StorageError.self) {
            for count in 1...100 { kept = try await store.replaceMessages(of: chat.id, with: drafts(count, "text")) }
        }
        #expect(error?.sentence.hasPrefix(FullDiskTests.sentence) == true)
        #expect(try await store.transcript(chat.id)?.messages == kept)

        try disk.remount(bytes: 4 << 20)
        _ = try await store.append(drafts(1, "room again")[0], to: chat.id)
        await database.close()
        let again = try await Database.open(folder: disk.path)
        #expect(try await ChatStore(again).transcript(chat.id)?.messages.count == kept.count + 1)
        await again.close()
    }

    @Test(.enabled(if: Mount.isAllowed, "only root may mount a small disk to fill"))
    func aFullDiskAtTheStartIsASentence() async throws {
        let folder = try TemporaryFolder()
        let disk = try Mount(folder.path, bytes: 16 << 10)

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: disk.path) }

        #expect(error?.code == "storage_full")
    }

    @Test(.enabled(if: Mount.isAllowed, "only root may mount a disk to make it read-only"))
    func aReadOnlyDiskIsASentence() async throws {
        let folder = try TemporaryFolder()
        let disk = try Mount(folder.path, bytes: 1 << 20)
        let database = try await Database.open(folder: disk.path)
        await database.close()
        try disk.remount(bytes: 1 << 20, readOnly: true)

        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: disk.path) }
        let below = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: disk.path + "/new") }

        #expect(
            error?.sentence
                == "Alcove cannot keep its data in \(disk.path): Read-only file system. Choose a folder you may write, with --root."
        )
        #expect(below == .folderUnusable(path: disk.path + "/new", cause: "Read-only file system"))
    }
    #endif

    /// For those who run the tests as anyone but root.
    @Test(.enabled(if: getuid() != 0, "root may write everywhere")) func aFolderOfAnothersIsASentence() async throws {
        let error = await #expect(throws: StorageError.self) { _ = try await Database.open(folder: "/alcove-not-ours") }

        #expect(error?.code == "storage_folder_unusable")
    }
}

#if os(Linux)
/// A small disk in memory, mounted over a folder until it is let go.
final class Mount {
    static let isAllowed: Bool = {
        guard getuid() == 0, let folder = try? TemporaryFolder(),
            mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0
        else { return false }
        return umount2(folder.path, 2) == 0
    }()

    let path: String

    init(_ path: String, bytes: Int) throws {
        self.path = path
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=\(bytes)") == 0)
    }

    deinit { umount2(path, 2) }  // MNT_DETACH: also when a failed test still has a file open

    func remount(bytes: Int, readOnly: Bool = false) throws {
        let flags = UInt(32) | (readOnly ? 1 : 0)  // MS_REMOUNT, MS_RDONLY
        // A child that another test is just starting holds our files until it executes: busy for a moment.
        var result = mount("tmpfs", path, "tmpfs", flags, "size=\(bytes)")
        for _ in 0..<1_000 where result != 0 && errno == EBUSY {
            usleep(1_000)
            result = mount("tmpfs", path, "tmpfs", flags, "size=\(bytes)")
        }
        try #require(result == 0)
    }
}
#endif

import AlcoveCore
import AlcoveStorage
import TestFolder
import Testing

@testable import AlcoveServer

struct UploadStoreTests {
    static func stem(_ digit: Int) -> String { String(repeating: "\(digit)", count: 32) }

    @Test func whatACrashLeftIsTakenAway() async throws {
        let folder = try TemporaryFolder()
        mkdir(folder.path + "/.incoming", 0o700)
        try folder.put(".incoming/half")
        for name in [stem(1) + ".png", stem(1) + "-preview.png", stem(2) + "-preview.png", "notes.txt"] {
            try folder.put(name)
        }
        let store = UploadStore(folder: folder.path)
        _ = await store.stale(graceSeconds: 0)

        #expect(folder.stored == [stem(1) + "-preview.png", stem(1) + ".png", "notes.txt"])
        #expect(UploadStore.names(in: folder.path + "/.incoming").isEmpty)
    }

    private func stem(_ digit: Int) -> String { UploadStoreTests.stem(digit) }

    @Test func onlyWhatNothingMentionsIsSweptAndWithItsFamily() async throws {
        let folder = try TemporaryFolder()
        for (digit, age) in [(1, 100), (2, 100), (3, 100), (4, 0), (5, 100), (6, 100)] {
            try folder.put(stem(digit) + ".png", age: age)
            try folder.put(stem(digit) + "-preview.png", age: age)
        }
        let store = UploadStore(folder: folder.path)
        let database = try await Database.inMemory()
        let chats = ChatStore(database)
        let chat = try await chats.create()
        let draft = MessageDraft(json: [
            "role": "user", "content": .string(stem(6)), "attachments": [["file": .string(stem(1) + ".png")]],
        ])
        _ = try await chats.append(draft, to: chat.id)
        try await SettingsStore(database).set("draft.x", to: ["files": [.string(stem(2) + ".png")]])

        let stale = await store.stale(graceSeconds: 50)
        #expect(stale == [stem(1), stem(2), stem(3), stem(5), stem(6)])
        let mentioned = try await database.mentions(of: stale)
        #expect(mentioned == [stem(1), stem(2)])
        // Somebody sends it at this very moment.
        let five = try #require(UploadName(stem(5) + ".png"))
        #expect(await store.touch([five, UploadName(stem(9) + ".png")!]) == [five])
        #expect(await store.sweep(stale.subtracting(mentioned), graceSeconds: 50) == 2)
        #expect(folder.stored.filter { !$0.contains("-") } == [1, 2, 4, 5].map { stem($0) + ".png" })
        #expect(folder.stored.count == 8)
    }

    @Test func roomIsPromisedOnce() async throws {
        let folder = try TemporaryFolder()
        let store = UploadStore(folder: folder.path)
        var limits = UploadLimits()
        limits.quotaBytes = 1_000
        limits.spareBytes = 0
        try await store.reserve(600, limits)
        await #expect(throws: UploadError.overQuota(limit: 1_000)) { try await store.reserve(401, limits) }
        try await store.reserve(400, limits)
        await store.release(600)
        try await store.reserve(600, limits)
        limits.quotaBytes = 0
        limits.spareBytes = .max / 2
        await #expect {
            try await store.reserve(1, limits)
        } throws: { error in
            (error as? UploadError)?.code == "disk_full"
        }
    }

    @Test func aFamilyThatCannotBeKeptWholeIsNotKept() async throws {
        let folder = try TemporaryFolder()
        let store = UploadStore(folder: folder.path)
        try await store.reserve(0, UploadLimits())
        let name = try #require(UploadName(stem(1) + ".txt"))
        let gone = ReceivedFile(name: name, shownName: "a.txt", path: folder.path + "/.incoming/gone", bytes: 1)
        let derived = UploadDigest.Derived(name: stem(1) + "-text.txt", bytes: [1])
        await #expect(throws: UploadError.self) { try await store.keep([gone], with: [derived], UploadLimits()) }
        #expect(folder.stored.isEmpty)
        #expect(UploadStore.names(in: folder.path + "/.incoming").isEmpty)
    }

}

extension TemporaryFolder {
    fileprivate var stored: [String] { UploadStore.names(in: path) }

    /// Stores something that was last used so many seconds ago.
    fileprivate func put(_ name: String, age: Int = 0) throws {
        try UploadStore.write([1, 2, 3], to: path + "/" + name)
        let moment = timespec(tv_sec: time(nil) - age, tv_nsec: 0)
        _ = utimensat(AT_FDCWD, path + "/" + name, [moment, moment], 0)
    }
}

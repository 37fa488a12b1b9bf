import AlcoveAgent
import AlcoveCore
import AlcoveSandbox
import TestFolder
import Testing

struct AttachmentStagingTests {
    /// Workspaces in one folder, uploads in another.
    final class Place: Sendable {
        private let folder: TemporaryFolder
        var path: String { folder.path }
        init() throws {
            folder = try TemporaryFolder()
            for name in ["workspaces", "workspaces/chat", "uploads"] { try folder.folder(name) }
        }
        var workspace: ConfinedPaths { ConfinedPaths(workspace: path + "/workspaces/chat") }
        func upload(_ key: String, _ text: String, as shown: String) throws -> AttachmentStaging.File {
            try ConfinedPaths(workspace: path + "/uploads").replace(key, Array(text.utf8))
            return AttachmentStaging.File(key: key, shownName: shown, path: path + "/uploads/" + key)
        }
        func text(_ name: String) throws -> String {
            String(decoding: try workspace.read(name, limit: 1 << 20), as: UTF8.self)
        }
        func stage(_ files: AttachmentStaging.File...) async throws -> [String: String] {
            try await AttachmentStaging(folder: path + "/workspaces").stage(files, in: "chat")
        }
        func names() throws -> [String] { try workspace.list(".").map(\.name) }
    }

    @Test func theFirstFileOfANameKeepsItAndOthersGetNumbers() async throws {
        let place = try Place()
        let one = try place.upload("1", "one", as: "a.txt"), two = try place.upload("2", "two", as: "a.txt")
        let three = try place.upload("3", "three", as: "A.TXT"), same = try place.upload("4", "one", as: "a.txt")

        #expect(
            try await place.stage(one, two, three, same, one)
                == ["1": "a.txt", "2": "a-2.txt", "3": "A-3.TXT", "4": "a.txt"])
        #expect(try place.text("a.txt") == "one")
        #expect(try place.text("a-2.txt") == "two")
        #expect(try place.names() == ["A-3.TXT", "a-2.txt", "a.txt"])
        // The next message sends the whole history again.
        #expect(try await place.stage(one, two)["2"] == "a-2.txt")
        #expect(try place.names().count == 3)
    }

    @Test func whatToolsMadeOfAFileStaysAndWhatTheyRemovedComesBack() async throws {
        let place = try Place()
        let one = try place.upload("1", "one", as: "a.txt")
        _ = try await place.stage(one)
        try place.workspace.replace("a.txt", Array("changed".utf8))
        #expect(try await place.stage(one) == ["1": "a.txt"])
        #expect(try place.text("a.txt") == "changed")
        try place.workspace.remove("a.txt")
        #expect(try await place.stage(one) == ["1": "a.txt"])
        #expect(try place.text("a.txt") == "one")
    }

    @Test func aToolsOwnFileIsNotOverwritten() async throws {
        let place = try Place()
        try place.workspace.create("a.txt", Array("mine".utf8))
        try place.workspace.makeFolders("b.txt")
        let files = [try place.upload("1", "one", as: "a.txt"), try place.upload("2", "two", as: "b.txt")]
        #expect(try await place.stage(files[0], files[1]) == ["1": "a-2.txt", "2": "b-2.txt"])
        #expect(try place.text("a.txt") == "mine")
    }

    @Test func linksInTheWorkspaceLeadNowhere() async throws {
        let place = try Place()
        let outside = place.path + "/outside.txt"
        symlink(outside, place.path + "/workspaces/chat/a.txt")
        let one = try place.upload("1", "one", as: "a.txt")
        #expect(try await place.stage(one) == ["1": "a-2.txt"])
        #expect(access(outside, F_OK) != 0)
    }

    @Test func namesBecomePlainOnes() async throws {
        let place = try Place()
        let odd = ["-rf.txt", ".hidden.txt", "a/b.txt", "\u{1F600} x.txt"]
        var staged: [String] = []
        for (number, name) in odd.enumerated() {
            let file = try place.upload("\(number)", "\(number)", as: name)
            staged.append(try #require(try await place.stage(file)["\(number)"]))
        }
        #expect(staged == ["_rf.txt", "_hidden.txt", "b.txt", "\u{1F600} x.txt"])
    }

    @Test func aCopyThatAnEndLeftHalfDoneIsTakenAway() async throws {
        let place = try Place()
        try place.workspace.create(".alcove-copy-0123.tmp", Array("half".utf8))
        _ = try await place.stage(try place.upload("1", "one", as: "a.txt"))
        #expect(try place.names() == ["a.txt"])
    }

    @Test func aRecordGoesWithItsWorkspace() async throws {
        let place = try Place()
        let staging = AttachmentStaging(folder: place.path + "/workspaces")
        let file = try place.upload("1", "one", as: "a.txt")
        let workspaces = ConfinedPaths(workspace: place.path + "/workspaces")
        for name in ["chat", "other"] {
            mkdir(place.path + "/workspaces/" + name, 0o700)
            _ = try await staging.stage([file], in: name)
        }
        try workspaces.remove("other", recursively: true)
        await staging.forgetLost()
        #expect(try workspaces.list(".").map(\.name) == ["chat", "chat.files.json"])
    }

    @Test func aFileThatIsGoneIsSaid() async throws {
        let place = try Place()
        let file = AttachmentStaging.File(key: "1", shownName: "a.txt", path: place.path + "/uploads/none")
        await #expect(throws: ConfinementError.self) { _ = try await place.stage(file) }
        #expect(try place.names().isEmpty)
    }
}

import Foundation
import Testing

@testable import AlcoveAgent

struct PatchFolderTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "patch-\(UUID().uuidString)").path

    private func withFolder(_ files: [String: String], _ body: (PatchFolder) throws -> Void) throws {
        for (path, text) in files {
            let full = root + "/" + path
            try FileManager.default.createDirectory(
                atPath: (full as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(filePath: full))
        }
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        try body(PatchFolder(root))
    }

    /// Every file below the folder and what it holds, hidden ones too.
    private func contents() -> [String: String] {
        var found: [String: String] = [:]
        for path in FileManager.default.enumerator(atPath: root)?.allObjects as? [String] ?? [] {
            let full = root + "/" + path
            let isFolder = (try? FileManager.default.contentsOfDirectory(atPath: full)) != nil
            let text = FileManager.default.contents(atPath: full).map { String(decoding: $0, as: UTF8.self) }
            found[path] = isFolder ? "/" : text ?? "?"
        }
        return found
    }

    private static let five = """
        *** Begin Patch
        *** Update File: a
        @@
        -1
        +one
        *** Update File: b
        *** Move to: deep/er/b
        @@
        -2
        +two
        *** Add File: c
        +three
        *** Delete File: d
        *** Update File: e
        @@
        -5
        +five
        *** End Patch
        """
    private static let before = ["a": "1\n", "b": "2\n", "d": "4\n", "e": "5\n"]

    @Test func allKindsOfChangesAreMade() throws {
        try withFolder(PatchFolderTests.before) { folder in
            chmod(root + "/b", 0o751)

            _ = try Patch(parsing: PatchFolderTests.five).apply(to: folder)

            #expect(
                contents() == [
                    "a": "one\n", "deep": "/", "deep/er": "/", "deep/er/b": "two\n", "c": "three\n", "e": "five\n",
                ])
            let mode = try FileManager.default.attributesOfItem(atPath: root + "/deep/er/b")[.posixPermissions] as? Int
            #expect(mode == 0o751)
        }
    }

    @Test(arguments: 0..<6) func aFailureAtAnyStepPutsEverythingBack(_ step: Int) throws {
        try withFolder(PatchFolderTests.before) { folder in
            var folder = folder
            folder.willChange = { number throws(PatchError) in
                if number == step { throw .unusable(path: "", reason: "No space left on device") }
            }

            let error = #expect(throws: PatchError.self) { try Patch(parsing: PatchFolderTests.five).apply(to: folder) }

            #expect(contents() == PatchFolderTests.before)
            if step == 3 {
                #expect(
                    error?.report
                        == "Nothing was changed. Writing c failed (No space left on device); a, b, deep/er/b put back as before."
                )
            }
        }
    }

    @Test func aRealFailureOfTheThirdFilePutsTheFirstTwoBack() throws {
        try withFolder(["a": "1\n"]) { folder in
            let text =
                "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Add File: x/y\n+y\n*** Add File: x\n+x\n*** End Patch"

            let error = #expect(throws: PatchError.self) { try Patch(parsing: text).apply(to: folder) }

            #expect(error?.message == "Writing x failed (File exists); a, x/y put back as before.")
            #expect(contents() == ["a": "1\n"])
        }
    }

    @Test func aNameThatIsTooLongChangesNothing() throws {
        try withFolder(["a": "1\n"]) { folder in
            let name = String(repeating: "n", count: 300)
            let text = "*** Begin Patch\n*** Update File: a\n@@\n-1\n+one\n*** Add File: new/\(name)\n+y\n*** End Patch"

            #expect(throws: PatchError.self) { try Patch(parsing: text).apply(to: folder) }

            #expect(contents() == ["a": "1\n"])
        }
    }

    @Test func linksLeadNowhereOutside() throws {
        let outside = FileManager.default.temporaryDirectory.appending(path: "outside-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try Data("secret\n".utf8).write(to: URL(filePath: outside + "/s"))
        defer { try? FileManager.default.removeItem(atPath: outside) }
        try withFolder(["in/a": "1\n"]) { folder in
            symlink(outside, root + "/out")
            symlink("../\((outside as NSString).lastPathComponent)/s", root + "/rel")
            symlink("loop", root + "/loop")
            for path in ["out/s", "out/new", "rel", "loop", "loop/x"] {
                for section in [
                    "Update File: \(path)\n@@\n-secret\n+x", "Add File: \(path)\n+x", "Delete File: \(path)",
                ] {
                    #expect(throws: PatchError.self) {
                        try Patch(parsing: "*** Begin Patch\n*** \(section)\n*** End Patch").apply(to: folder)
                    }
                }
            }
            #expect(FileManager.default.contents(atPath: outside + "/s") == Data("secret\n".utf8))
            let left = try FileManager.default.contentsOfDirectory(atPath: outside)
            #expect(left == ["s"])
        }
    }

    @Test func aLinkInsideLeadsToItsFileAndStaysALink() throws {
        try withFolder(["in/a": "1\n"]) { folder in
            symlink("in/a", root + "/link")
            let text =
                "*** Begin Patch\n*** Update File: link\n@@\n-1\n+one\n*** Update File: in/a\n@@\n-one\n+ONE\n*** End Patch"

            _ = try Patch(parsing: text).apply(to: folder)

            #expect(contents() == ["in": "/", "in/a": "ONE\n", "link": "ONE\n"])
            #expect(
                throws: PatchError.unusable(
                    path: "link", reason: "it is a link to in/a, and only the file itself can go")
            ) {
                try Patch(parsing: "*** Begin Patch\n*** Delete File: link\n*** End Patch").apply(to: folder)
            }
        }
    }

    @Test func foldersAndPipesAreRefused() throws {
        try withFolder(["in/a": "1\n"]) { folder in
            mkfifo(root + "/pipe", 0o600)

            #expect(throws: PatchError.unusable(path: "in", reason: "it is a folder")) { try folder.read("in") }
            #expect(throws: PatchError.unusable(path: "pipe", reason: "it is no plain file")) {
                try folder.read("pipe")
            }
            #expect(throws: PatchError.unusable(path: "in/a/b", reason: "a is no folder")) { try folder.read("in/a/b") }
            let nothing = try folder.read("none/at/all")
            #expect(nothing == nil)
        }
    }

    @Test func whatSomebodyElseWroteMeanwhileIsNotOverwritten() throws {
        try withFolder(["a": "theirs\n"]) { folder in
            let change = PatchChange(place: "a", before: Array("old\n".utf8), after: Array("ours\n".utf8))

            #expect(throws: PatchError.changedMeanwhile(path: "a")) { try folder.commit([change]) }
            #expect(contents() == ["a": "theirs\n"])
        }
    }
}

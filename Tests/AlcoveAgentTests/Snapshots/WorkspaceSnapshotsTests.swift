import AlcoveAgent
import AlcoveCore
import Foundation
import TestFolder
import Testing

struct WorkspaceSnapshotsTests {
    private let place: TemporaryFolder
    private var folder: String { place.path }
    private let workspace: String
    private var snapshots: WorkspaceSnapshots

    init() throws {
        place = try TemporaryFolder()
        workspace = try place.folder("workspace")
        snapshots = WorkspaceSnapshots(folder: place.path + "/snapshots")
    }

    private func write(_ path: String, _ text: String) throws {
        let place = workspace + "/" + path
        try FileManager.default.createDirectory(
            atPath: (place as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try text.write(toFile: place, atomically: false, encoding: .utf8)
    }

    /// Every file below the workspace with its contents, links with what they point to, folders with a stroke.
    private func contents() throws -> [String: String] {
        var found: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: workspace) {
            let full = workspace + "/" + path
            if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: full) {
                found[path] = "-> " + target
            } else if let text = try? String(contentsOfFile: full, encoding: .utf8) {
                found[path] = text
            } else {
                found[path] = "/"
            }
        }
        return found
    }

    private func objects() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder + "/snapshots/chat/objects").count) ?? 0
    }

    @Test func whatATurnChangedIsPutBack() throws {
        try write("keep.txt", "keep")
        try write("notes/a.txt", "one")
        try write("notes/gone.txt", "gone")
        try write(".hidden", "h")
        try FileManager.default.createDirectory(atPath: workspace + "/empty", withIntermediateDirectories: true)
        chmod(workspace + "/notes/gone.txt", 0o755)
        let before = try contents()
        try snapshots.take(of: workspace, chat: "chat", name: "t1")

        try write("notes/a.txt", "two")
        try write("new/deep/b.txt", "new")
        try FileManager.default.removeItem(atPath: workspace + "/notes/gone.txt")
        try FileManager.default.removeItem(atPath: workspace + "/empty")
        try FileManager.default.createSymbolicLink(atPath: workspace + "/out", withDestinationPath: "/etc")
        // A file where a folder was, and the other way round.
        try FileManager.default.removeItem(atPath: workspace + "/keep.txt")
        try write("keep.txt/inside", "x")

        let changed = try snapshots.restore("t1", chat: "chat", to: workspace)

        #expect(try contents() == before)
        #expect(changed == ["keep.txt", "keep.txt/inside", "new/deep/b.txt", "notes/a.txt", "notes/gone.txt", "out"])
        #expect(access(workspace + "/notes/gone.txt", X_OK) == 0)
        #expect(try snapshots.restore("t1", chat: "chat", to: workspace).isEmpty)
    }

    /// A folder that was exchanged for a link leads nowhere else.
    @Test func nothingOutsideIsTouchedThroughALink() throws {
        try write("notes/a.txt", "one")
        try snapshots.take(of: workspace, chat: "chat", name: "t1")
        let outside = folder + "/outside"
        try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: true)
        try "theirs".write(toFile: outside + "/a.txt", atomically: false, encoding: .utf8)
        try FileManager.default.removeItem(atPath: workspace + "/notes")
        try FileManager.default.createSymbolicLink(atPath: workspace + "/notes", withDestinationPath: outside)
        try FileManager.default.createSymbolicLink(atPath: workspace + "/loop", withDestinationPath: ".")

        _ = try snapshots.restore("t1", chat: "chat", to: workspace)

        #expect(try contents() == ["notes": "/", "notes/a.txt": "one"])
        #expect(try String(contentsOfFile: outside + "/a.txt", encoding: .utf8) == "theirs")
    }

    @Test func equalContentsAreKeptOnceAndGoWithTheirLastSnapshot() throws {
        var snapshots = snapshots
        snapshots.limits.kept = 2
        try write("a", "same")
        try write("b", "same")
        try snapshots.take(of: workspace, chat: "chat", name: "t1")
        #expect(objects() == 1)
        for turn in 2...4 {
            try write("a", "text of \(turn)")
            try snapshots.take(of: workspace, chat: "chat", name: "t\(turn)")
        }

        #expect(["t1", "t2", "t3", "t4"].map { snapshots.has($0, chat: "chat") } == [false, false, true, true])
        #expect(objects() == 3)
        snapshots.forget(chat: "chat")
        #expect(!FileManager.default.fileExists(atPath: folder + "/snapshots/chat"))
    }

    /// A change within the grain of the file's time, of equal length, is seen.
    @Test func aQuickChangeOfEqualLengthIsNotTakenForNone() throws {
        for turn in 0..<10 {
            try write("a", "\(turn)")
            try snapshots.take(of: workspace, chat: "chat", name: "t\(turn)")
        }
        for turn in (0..<10).reversed() {
            _ = try snapshots.restore("t\(turn)", chat: "chat", to: workspace)
            #expect(try contents() == ["a": "\(turn)"])
        }
    }

    @Test func tooMuchIsRefusedWithBothNumbersAndKeepsNothing() throws {
        var snapshots = snapshots
        snapshots.limits.entries = 3
        for name in ["a", "b", "c", "d", "e"] { try write(name, name) }
        let error = #expect(throws: WorkspaceSnapshots.SnapshotError.self) {
            try snapshots.take(of: workspace, chat: "chat", name: "t1")
        }
        #expect(error?.code == "files_too_large_to_undo")
        #expect(!snapshots.has("t1", chat: "chat"))
    }

    @Test func aDamagedCopyLeavesTheFilesAlone() throws {
        try write("a", "one")
        try write("b", "two")
        try snapshots.take(of: workspace, chat: "chat", name: "t1")
        for object in try FileManager.default.contentsOfDirectory(atPath: folder + "/snapshots/chat/objects") {
            try "damage".write(
                toFile: folder + "/snapshots/chat/objects/" + object, atomically: false, encoding: .utf8)
        }
        try write("a", "changed")
        try write("c", "new")
        let now = try contents()

        #expect(throws: WorkspaceSnapshots.SnapshotError.damaged(path: "a")) {
            try snapshots.restore("t1", chat: "chat", to: workspace)
        }
        #expect(throws: WorkspaceSnapshots.SnapshotError.missing) {
            try snapshots.restore("t2", chat: "chat", to: workspace)
        }
        #expect(try contents() == now)
    }
}

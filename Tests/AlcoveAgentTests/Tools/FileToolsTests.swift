import AlcoveAgent
import AlcoveCore
import Foundation
import Testing

/// The file tools as a model reaches them: through the loop, on a real folder.
struct FileToolsTests {
    /// Makes the calls one after the other and answers what the model was told of each.
    private func calls(
        _ bench: RunBench, _ calls: (String, JSONValue)...
    ) async throws -> [ToolNote] {
        let rounds: [[ScriptedModel.Step]] = calls.map { [.call($0.0, $0.1)] } + [[.text("Done.")]]
        let tools: [any Tool] = [ReadFileTool(), WriteFileTool(), ApplyPatchTool()]
        return try await bench.run(rounds, tools: tools).events.finishedCalls
    }

    private func text(_ name: String, in bench: RunBench) -> String? {
        try? String(contentsOfFile: bench.workspace + "/" + name, encoding: .utf8)
    }

    private let patch = """
        *** Begin Patch
        *** Update File: notes/a.txt
        @@
         one
        -two
        +2
        *** Add File: b.txt
        +new
        *** End Patch
        """

    @Test func aFileIsWrittenReadAndChanged() async throws {
        let bench = try await RunBench()
        let notes = try await calls(
            bench, ("write_file", ["path": "notes/a.txt", "content": "one\ntwo\n"]),
            ("read_file", ["path": "notes/a.txt"]), ("apply_patch", ["patch": .string(patch)]))

        #expect(notes.map(\.succeeded) == [true, true, true])
        #expect(notes[1].observation.contains("    1 | one\n    2 | two"))
        #expect(notes[2].observation.contains("notes/a.txt"))
        #expect(text("notes/a.txt", in: bench) == "one\n2\n")
        #expect(text("b.txt", in: bench) == "new\n")
        #expect(notes[0].files.map(\.name) == ["notes/a.txt"])
        #expect(Set(notes[2].files.map(\.name)) == ["notes/a.txt", "b.txt"])
    }

    /// Names models use instead of the declared ones.
    @Test(arguments: [
        ("edit_file", "input"), ("apply-patch", "diff"), ("patch", "patch"), ("apply_patch", "content"),
    ])
    func aPatchIsTakenUnderOtherNamesToo(tool: String, key: String) async throws {
        let bench = try await RunBench()
        let notes = try await calls(
            bench, ("write_file", ["path": "notes/a.txt", "content": "one\ntwo\n"]), (tool, [key: .string(patch)]))

        #expect(notes.map(\.succeeded) == [true, true])
        #expect(text("b.txt", in: bench) == "new\n")
    }

    @Test func whatCannotBeDoneChangesNothingAndSaysWhy() async throws {
        let bench = try await RunBench()
        let notes = try await calls(
            bench, ("write_file", ["path": "a.txt", "content": "mine\n"]),
            ("write_file", ["path": "a.txt", "content": "other\n"]), ("read_file", ["path": "b.txt"]),
            ("apply_patch", ["patch": .string(patch)]), ("apply_patch", ["patch": "change a.txt"]),
            ("write_file", ["path": "../out.txt", "content": "x"]), ("read_file", ["path": "/etc/hostname"]))

        #expect(notes.map(\.succeeded) == [true] + Array(repeating: false, count: 6))
        #expect(notes[1].observation.contains("apply_patch"))
        #expect(notes[2].observation.contains("b.txt"))
        #expect(notes[3].observation.hasPrefix("Nothing was changed."))
        #expect(notes[4].observation.contains("*** Begin Patch"))
        #expect(text("a.txt", in: bench) == "mine\n")
        #expect(text("b.txt", in: bench) == nil)
        #expect(text("../out.txt", in: bench) == nil)
    }
}

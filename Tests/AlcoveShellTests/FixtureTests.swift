import Foundation
import Testing

/// Scripts of the files in Fixtures, cut at lines of `%%`: the same bytes and the same status here and in bash, with
/// Debian's utilities. What is beyond POSIX is bash's to say.
@Suite(.serialized) struct FixtureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let file: String
        let number: Int
        let script: String
        var testDescription: String { "\(file) \(number): \(script.prefix(60))" }
    }

    static let cases: [Case] = ["bc", "extensions", "utilities"].flatMap { file -> [Case] in
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
        guard let text = try? String(contentsOf: folder.appendingPathComponent(file + ".txt"), encoding: .utf8) else {
            return []
        }
        return text.components(separatedBy: "\n%%\n").enumerated().map {
            Case(file: file, number: $0.offset, script: $0.element)
        }
    }

    @Test func allFilesAreThere() {
        #expect(Set(FixtureTests.cases.map(\.file)) == ["bc", "extensions", "utilities"])
        #expect(FixtureTests.cases.count > 100)
    }

    @Test(arguments: cases) func likeBash(_ given: Case) throws {
        let (ours, theirs) = (ScratchFolder(), ScratchFolder())
        let arguments = ["-a", "-b", "val", "-c"]

        let wanted = try ScriptRun.reference(
            "/usr/bin/bash", given.script, in: theirs.path, input: Scripts.input, arguments: arguments)
        let (run, error, _) = ScriptRun.here(given.script, in: ours.path, input: Scripts.input, arguments: arguments)

        #expect(
            run == wanted, "\(given.script)\nhere: \(run.shown)\nbash: \(wanted.shown)\nerror: \(error)")
    }
}

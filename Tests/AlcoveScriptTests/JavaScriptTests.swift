import AlcoveSandbox
import Foundation
import Testing

/// Programs of Fixtures/node print the same here and in Debian's node, and end with the same status.
@Suite(.serialized) struct JavaScriptTests {
    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Fixtures/node")

    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []).filter {
            $0.hasSuffix(".js") || $0.hasSuffix(".mjs")
        }.sorted()

    struct Case: Sendable, CustomTestStringConvertible {
        let way: ScriptTrial.Way
        let name: String
        var testDescription: String { "\(name), \(way.rawValue)" }
    }

    static let cases = SandboxHere.ways.flatMap { way in names.map { Case(way: way, name: $0) } }

    @Test func allFilesAreThere() { #expect(JavaScriptTests.names.count >= 18) }

    @Test(arguments: cases) func likeNode(_ given: Case) throws {
        let (ours, theirs) = (ScratchFolder(), ScratchFolder())
        for folder in [ours, theirs] {
            for entry in [given.name, "lib"] {
                try FileManager.default.copyItem(
                    atPath: JavaScriptTests.fixtures.path + "/" + entry, toPath: folder.path + "/" + entry)
            }
        }
        let input = "a\nb\nlast"

        let wanted = try ScriptTrial.reference("/usr/bin/node", [given.name], in: theirs.path, input: input)
        let run = try ScriptTrial.run(given.way, .javascript, [given.name], in: ours.path, input: input)

        #expect(run.output == wanted.output, "\(run.error)")
        #expect(run.status == wanted.status, "\(run.error)")
        #expect(run.error.isEmpty == wanted.error.isEmpty, "here: \(run.error)\nnode: \(wanted.error)")
    }

    @Test(arguments: SandboxHere.ways) func wordsAndInputReachTheProgram(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        let code = "console.log(process.argv.slice(1), process.env.GREETING, process.cwd())"

        let inline = try ScriptTrial.run(
            way, .javascript, ["-e", code, "a", "-b"], in: folder.path, environment: ["GREETING": "hello"])
        let printed = try ScriptTrial.run(way, .javascript, ["-p", "[1, 2].map((x) => x * 2)"], in: folder.path)
        let piped = try ScriptTrial.run(
            way, .javascript, ["-", "x"], in: folder.path, input: "console.log(process.argv[2])")

        #expect(inline.output == "[ 'a', '-b' ] hello /workspace\n")
        #expect(printed.output == "[ 2, 4 ]\n")
        #expect(piped.output == "x\n")
    }

    /// As Node has drawn them since version 20; the one that is compared with may be older.
    @Test(arguments: SandboxHere.ways) func aTableIsDrawn(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        let code = "console.table([{a: 1, b: 'x'}, {a: 2, c: true}])"

        let run = try ScriptTrial.run(way, .javascript, ["-e", code], in: folder.path)

        #expect(
            run.output == """
                ┌─────────┬───┬─────┬──────┐
                │ (index) │ a │ b   │ c    │
                ├─────────┼───┼─────┼──────┤
                │ 0       │ 1 │ 'x' │      │
                │ 1       │ 2 │     │ true │
                └─────────┴───┴─────┴──────┘

                """)
    }

    @Test(arguments: SandboxHere.ways) func faultsNameThePlace(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        try folder.write("function deep() {\n  throw new RangeError('too far');\n}\ndeep();\n", to: "a.js")

        let run = try ScriptTrial.run(way, .javascript, ["a.js"], in: folder.path)

        #expect(run.status == 1)
        #expect(run.error.hasPrefix("/workspace/a.js:2\n  throw new RangeError('too far');\n"))
        #expect(run.error.contains("RangeError: too far\n    at deep (/workspace/a.js:2:"))
    }

    @Test(arguments: SandboxHere.ways) func whatIsNotThereSaysWhy(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        func said(_ code: String) throws -> String {
            try ScriptTrial.run(way, .javascript, ["-e", code], in: folder.path).error
        }

        #expect(try said("require('child_process')").contains("programs cannot be started here"))
        #expect(try said("require('express')").contains("Packages of npm cannot be installed here"))
        #expect(
            try said("fetch('http://example.org/').catch((e) => console.error(e.cause.message))")
                .contains("network access is disabled by the user (the switch \"Network\" is off)"))
    }
}

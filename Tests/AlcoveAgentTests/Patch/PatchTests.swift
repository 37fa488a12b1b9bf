import AlcoveCore
import Testing

@testable import AlcoveAgent

struct PatchTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let before: String
        let patch: String
        let after: String
        var fuzz = 0
        var testDescription: String { name }
    }

    static let updates = [
        Case(name: "one line", before: "a\nb\nc\n", patch: "@@\n a\n-b\n+B\n c", after: "a\nB\nc\n"),
        Case(name: "the first hunk needs no anchor", before: "a\nb\n", patch: "-a\n+A", after: "A\nb\n"),
        Case(
            name: "several hunks", before: "a\nb\nc\nd\ne\n", patch: "@@\n-b\n+B\n@@\n-d\n+D1\n+D2",
            after: "a\nB\nc\nD1\nD2\ne\n"),
        Case(name: "CRLF stays", before: "a\r\nb\r\nc\r\n", patch: "@@\n-b\n+B\n+x", after: "a\r\nB\r\nx\r\nc\r\n"),
        Case(
            name: "mixed line ends stay where they are", before: "a\r\nb\nc\r\nd\n", patch: "@@\n-b\n-c\n+B\n+C\n+x",
            after: "a\r\nB\nC\r\nx\r\nd\n"),
        Case(name: "a missing final newline stays missing", before: "a\nb", patch: "@@\n-b\n+B", after: "a\nB"),
        Case(name: "lines after a last line without an end", before: "a\nb", patch: "@@\n b\n+c", after: "a\nb\nc"),
        Case(
            name: "CRLF lines after a last line without an end", before: "a\r\nb", patch: "@@\n b\n+c",
            after: "a\r\nb\r\nc"),
        Case(name: "the last line without an end goes", before: "a\nb", patch: "@@\n a\n-b", after: "a"),
        Case(name: "everything goes", before: "a\nb\n", patch: "@@\n-a\n-b", after: ""),
        Case(name: "a byte order mark stays", before: "\u{FEFF}a\nb\n", patch: "@@\n-a\n+A", after: "\u{FEFF}A\nb\n"),
        Case(name: "lines into an empty file", before: "", patch: "@@\n+a\n+b", after: "a\nb\n"),
        Case(
            name: "trailing white space is forgiven and kept", before: "a  \nb\n", patch: "@@\n a\n-b\n+B",
            after: "a  \nB\n", fuzz: 1),
        Case(
            name: "indentation is forgiven last", before: "    a\n    b\n", patch: "@@\n a\n-b\n+    B",
            after: "    a\n    B\n", fuzz: 100),
        Case(
            name: "U+001C to U+001F are white space", before: "a\u{1C}\nb\n", patch: "@@\n a\n-b\n+B",
            after: "a\u{1C}\nB\n", fuzz: 1),
        Case(
            name: "an exact place wins over a nearer one", before: "x \ny\nx\ny\n", patch: "@@\n x\n-y\n+Y",
            after: "x \ny\nx\nY\n"),
        Case(
            name: "an anchor moves on", before: "f\n x\ng\n x\n", patch: "@@ g\n- x\n+ y", after: "f\n x\ng\n y\n"),
        Case(
            name: "anchors stack", before: "class A\n def run\n  1\nclass B\n def run\n  1\n",
            patch: "@@ class B\n@@  def run\n-  1\n+  2", after: "class A\n def run\n  1\nclass B\n def run\n  2\n"),
        Case(name: "a trimmed anchor", before: "  f()\nx\n", patch: "@@ f()\n-x\n+y", after: "  f()\ny\n", fuzz: 1),
        Case(
            name: "an unknown anchor is only advice", before: "a\nb\n", patch: "@@ nothing like it\n-b\n+B",
            after: "a\nB\n"),
        Case(
            name: "an anchor that is behind counts as found", before: "f\na\nb\nf\nb\n",
            patch: "@@ f\n-a\n+A\n@@ f\n-b\n+B", after: "f\nA\nB\nf\nb\n"),
        Case(
            name: "an anchor written again as context", before: "f\na\nf\na\n", patch: "@@ f\n f\n-a\n+A",
            after: "f\nA\nf\na\n"),
        Case(
            name: "the end of the file", before: "x\ny\nx\n", patch: "@@\n-x\n+z\n*** End of File", after: "x\ny\nz\n"),
        Case(
            name: "an end that is elsewhere", before: "x\ny\n", patch: "@@\n-x\n+z\n*** End of File", after: "z\ny\n",
            fuzz: 10_000),
        Case(name: "lines at the end", before: "a\n", patch: "@@\n+b\n*** End of File", after: "a\nb\n"),
        Case(name: "an insertion after its anchor", before: "a\nb\n", patch: "@@ a\n+x", after: "a\nx\nb\n"),
        Case(name: "an insertion at the top", before: "a\n", patch: "@@\n+x", after: "x\na\n"),
        Case(name: "an empty line is empty context", before: "a\n\nb\n", patch: "@@\n a\n\n-b\n+B", after: "a\n\nB\n"),
        Case(name: "a gap before the end is no context", before: "a\nb\n", patch: "@@\n-a\n+A\n", after: "A\nb\n"),
        Case(
            name: "a gap does not drag an insertion away", before: "a\nb\n\nc\n", patch: "@@ a\n+x\n",
            after: "a\nx\nb\n\nc\n"),
        Case(name: "added before deleted", before: "a\nb\n", patch: "@@\n+A\n-a\n b", after: "A\nb\n"),
        Case(
            name: "git's mark for a missing end", before: "a\nb",
            patch: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c", after: "a\nc"),
        Case(
            name: "lines that look like markers", before: "*** End Patch\nx\n",
            patch: "@@\n-*** End Patch\n+*** Begin Patch", after: "*** Begin Patch\nx\n"),
    ]

    @Test(arguments: updates) func changesAFile(_ c: Case) throws {
        let files = MemoryFiles(["f": c.before])

        let outcome = try files.apply("*** Update File: f\n\(c.patch)")

        #expect(files.texts == ["f": c.after])
        #expect(outcome.fuzz == c.fuzz)
    }

    @Test(arguments: updates) func aPatchWithCRLFDoesTheSame(_ c: Case) throws {
        let files = MemoryFiles(["f": c.before])

        try files.apply("*** Update File: f\n\(c.patch)".replacing("\n", with: "\r\n") + "\r")

        #expect(files.texts == ["f": c.before.isEmpty ? c.after.replacing("\n", with: "\r\n") : c.after])
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let name: String
        let patch: String
        let report: String
        var testDescription: String { name }
    }

    static let refusals = [
        Refusal(
            name: "nothing there", patch: "*** Update File: none\n@@\n-a\n+b",
            report: """
                Nothing was changed. There is no file at none.
                Use *** Add File for a new file, and check the spelling of the path.
                """),
        Refusal(
            name: "deleting nothing", patch: "*** Delete File: none",
            report: """
                Nothing was changed. There is no file at none.
                Use *** Add File for a new file, and check the spelling of the path.
                """),
        Refusal(
            name: "adding what is there", patch: "*** Add File: f\n+x",
            report: "Nothing was changed. There is a file at f already.\nUse *** Update File to change it."),
        Refusal(
            name: "moving onto another file", patch: "*** Update File: f\n*** Move to: g",
            report: "Nothing was changed. There is a file at g already.\nUse *** Update File to change it."),
        Refusal(
            name: "a miss shows what was looked for and the nearest lines",
            patch: "*** Update File: f\n@@\n one\n-tow\n+2",
            report: """
                Nothing was changed. Hunk 1 of f was not found: no line reads "one" and what follows.
                It looked for:
                  one
                  tow
                The nearest place in f (4 lines):
                    1 | one
                    2 | two
                    3 | three
                    4 | four
                Copy the lines as they stand in the file, then send the whole patch again.
                """),
        Refusal(
            name: "line numbers are recognised", patch: "*** Update File: f\n@@\n     1 | one\n-    2 | two\n+2",
            report: """
                Nothing was changed. Hunk 1 of f was not found: its lines carry the line numbers of read_file.
                It looked for:
                      1 | one
                      2 | two
                The nearest place in f (4 lines):
                    1 | one
                    2 | two
                    3 | three
                    4 | four
                Leave out the number and the bar before each line, then send the whole patch again.
                """),
        Refusal(
            name: "hunks against the order of the file", patch: "*** Update File: f\n@@\n-three\n+3\n@@\n-one\n+1",
            report: """
                Nothing was changed. Hunk 2 of f fits only at line 1, but the patch has passed line 3 by then.
                Put the hunks in the order of the file, without overlaps, and each @@ line before the lines it names.
                """),
        Refusal(
            name: "hunks that overlap", patch: "*** Update File: f\n@@\n-one\n-two\n+1\n@@\n-two\n-three\n+3",
            report: """
                Nothing was changed. Hunk 2 of f fits only at line 2, but the patch has passed line 2 by then.
                Put the hunks in the order of the file, without overlaps, and each @@ line before the lines it names.
                """),
        Refusal(
            name: "a line without its mark", patch: "*** Update File: f\n@@\n-one\nuno",
            report: """
                Nothing was changed. Line 5 of the patch cannot be read: a line of a hunk begins with a space, - or +, \
                and a hunk with @@, not like "uno".
                """),
        Refusal(
            name: "a new file's line without its mark", patch: "*** Add File: n\n+a\nb",
            report: """
                Nothing was changed. Line 4 of the patch cannot be read: every line of a new file begins with +, not \
                like "b".
                """),
        Refusal(
            name: "a new file without lines", patch: "*** Add File: n",
            report: """
                Nothing was changed. Line 3 of the patch cannot be read: the new file has no lines; one "+" alone is an \
                empty line.
                """),
        Refusal(
            name: "an update of nothing", patch: "*** Update File: f",
            report: "Nothing was changed. Line 3 of the patch cannot be read: *** Update File: f has no hunk."),
        Refusal(
            name: "a second hunk without @@", patch: "*** Update File: f\n@@\n-one\n*** End of File\n-two",
            report: """
                Nothing was changed. Line 6 of the patch cannot be read: a hunk after the first begins with @@, not with \
                "-two".
                """),
        Refusal(
            name: "an insertion whose anchor is not there", patch: "*** Update File: f\n@@ five\n+x",
            report: """
                Nothing was changed. Hunk 1 of f has no lines to look for, and its @@ line "five" is not in the file.
                Copy the @@ line from the file, or give lines around the place, then send the whole patch again.
                """),
    ]

    @Test(arguments: refusals) func refusesInWordsAModelCanActOn(_ c: Refusal) throws {
        let before = ["f": "one\ntwo\nthree\nfour\n", "g": "g\n"]
        let files = MemoryFiles(before)

        let error = #expect(throws: PatchError.self) {
            try files.apply("*** Add File: first\n+x\n" + c.patch)
        }

        let moved = error?.report.replacing(#/Line (\d+)/#) { "Line \(Int($0.1)! - 2)" }
        #expect(moved == c.report)
        #expect(files.texts == before)
        #expect(files.commits == 0)
    }

    static let badPaths: [(String, String)] = [
        ("/etc/passwd", "it is absolute"), ("../x", "it leads out with .."), ("a/../../x", "it leads out with .."),
        ("a/..", "it leads out with .."), ("C:\\x", "it names a drive"), ("c:x", "it names a drive"),
        ("\\\\host\\share", "it is absolute"), ("//host/share", "it is absolute"),
        ("a\\..\\..\\x", "it leads out with .."),
        ("", "it is empty"), (".", "it names a folder"), ("a/", "it names a folder"),
        ("~/x", "it is in the home folder"),
        ("a\u{7}b", "it holds a control character"),
    ]

    @Test(arguments: badPaths) func pathsStayInside(_ path: String, _ reason: String) {
        let shown = path.replacing("\u{7}", with: "?")
        for section in [
            "*** Add File: \(path)\n+x", "*** Delete File: \(path)", "*** Update File: f\n*** Move to: \(path)",
        ] {
            #expect(throws: PatchError.badPath(path: shown, reason: reason)) {
                try MemoryFiles(["f": "x"]).apply(section)
            }
        }
    }

    @Test func sectionsSeeWhatEarlierOnesDid() throws {
        let files = MemoryFiles(["a": "1\n", "b": "2\n", "c": "3\n"])

        let outcome = try files.apply(
            """
            *** Update File: a
            *** Move to: dir/a
            @@
            -1
            +one
            *** Update File: dir/a
            @@
            -one
            +ONE
            *** Delete File: b
            *** Add File: b
            +new
            *** Add File: gone
            +x
            *** Delete File: gone
            *** Update File: c
            *** Move to: c
            """)

        #expect(files.texts == ["dir/a": "ONE\n", "b": "new\n", "c": "3\n"])
        #expect(
            outcome.text == """
                Moved a to dir/a (+1 -1).
                Updated dir/a (+1 -1).
                Deleted b.
                Added b (+1).
                Added gone (+1).
                Deleted gone.
                Updated c (+0 -0).
                c is as it was: the patch changes no line of it.
                """)
    }

    @Test func anAmbiguousHunkGoesFirstAndNamesThreeOthers() throws {
        let files = MemoryFiles(["f": "x\n1\nx\n2\nx\n3\nx\n4\nx\n"])

        let outcome = try files.apply("*** Update File: f\n@@\n-x\n+y")

        #expect(files.texts["f"] == "y\n1\nx\n2\nx\n3\nx\n4\nx\n")
        #expect(
            outcome.text == """
                Updated f (+1 -1).
                Hunk 1 of f was applied at line 1 and would fit at lines 3, 5 and 7 too; if that was meant, name the place \
                with an @@ line.
                """)
    }

    @Test func bytesThatAreNoTextSurvive() throws {
        let files = MemoryFiles()
        files.files["f"] = [0xFF, 0x00, 0xC3, 0x0A] + Array("a\nb\n".utf8) + [0x80, 0x81]

        try files.apply("*** Update File: f\n@@\n a\n-b\n+B")

        #expect(files.files["f"] == [0xFF, 0x00, 0xC3, 0x0A] + Array("a\nB\n".utf8) + [0x80, 0x81])
    }

    @Test(arguments: [true, false]) func utf16Stays(_ isLittle: Bool) throws {
        func encoded(_ text: String) -> [UInt8] {
            (isLittle ? [0xFF, 0xFE] : [0xFE, 0xFF])
                + text.utf16.flatMap {
                    isLittle ? [UInt8($0 & 255), UInt8($0 >> 8)] : [UInt8($0 >> 8), UInt8($0 & 255)]
                }
        }
        let lone: [UInt8] = isLittle ? [0x3D, 0xD8] : [0xD8, 0x3D]
        let files = MemoryFiles()
        files.files["f"] = encoded("é😸\r\nb\r\n") + lone

        try files.apply("*** Update File: f\n@@\n é😸\n-b\n+ß🙂")

        #expect(files.files["f"] == encoded("é😸\r\nß🙂\r\n") + lone)
    }

    struct Form: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        var testDescription: String { name }
    }

    static let envelope = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch"
    static let forms = [
        Form(name: "plain", text: envelope),
        Form(name: "fence", text: "```diff\n\(envelope)\n```\n"),
        Form(name: "heredoc", text: "apply_patch <<'EOF'\n\(envelope)\nEOF\n"),
        Form(name: "heredoc without the name", text: "<<EOF\n\(envelope)\nEOF"),
        Form(name: "byte order mark", text: "\u{FEFF}\(envelope)"),
        Form(name: "blank lines around", text: "\n\n\(envelope)\n\n"),
        Form(name: "markers with space after them", text: envelope.replacing("Patch", with: "Patch  ")),
        Form(name: "one operation", text: #"{"type":"update_file","path":"f","diff":"@@\n-a\n+b"}"#),
        Form(name: "a list", text: #"[{"type":"update_file","path":"f","diff":"-a\n+b\n"}]"#),
        Form(name: "operations", text: #"{"operations":[{"type":"update","path":"./f","diff":"@@\n-a\n+b"}]}"#),
        Form(name: "JSON around it", text: JSONValue.object(["input": .string(envelope)]).text()),
        Form(name: "any argument with it", text: JSONValue.object(["whatever": .string(envelope)]).text()),
    ]

    @Test(arguments: forms) func readsTheFormsModelsWrite(_ form: Form) throws {
        let files = MemoryFiles(["f": "a\n"])

        _ = try Patch(parsing: form.text).apply(to: files)

        #expect(files.texts == ["f": "b\n"])
    }

    static let noPatches: [(String, String)] = [
        ("", "The patch cannot be read: it does not begin with *** Begin Patch."),
        ("hello\n\(envelope)", "Line 1 of the patch cannot be read: it should be *** Begin Patch, not \"hello\"."),
        (
            "*** Begin Patch\n*** Add File: n\n+a\n",
            "The patch cannot be read: it ends without *** End Patch, so part of it may be missing."
        ),
        ("\(envelope)\nmore", "Line 7 of the patch cannot be read: there is text after *** End Patch: \"more\"."),
        ("{\"type\":", "The patch cannot be read: it begins like JSON, but at byte 8 it ends where a value should be."),
        (
            "*** Begin Patch\n\n*** End Patch",
            "Line 3 of the patch cannot be read: there is nothing between *** Begin Patch and *** End Patch."
        ),
        ("[]", "The patch cannot be read: it does not begin with *** Begin Patch."),
        (
            #"[{"type":"chmod","path":"f"}]"#,
            "The patch cannot be read: operation 1 has no type that is known: create_file, update_file or delete_file."
        ),
    ]

    @Test(arguments: noPatches) func whatIsNoPatchIsNamed(_ text: String, _ message: String) {
        let error = #expect(throws: PatchError.self) { try Patch(parsing: text) }
        #expect(error?.message == message)
    }

    @Test(.timeLimit(.minutes(1))) func aFileOfEqualLinesIsNoTrap() throws {
        let files = MemoryFiles(["f": String(repeating: "x\n", count: 200_000) + "y\n"])
        let context = String(repeating: " x\n", count: 20_000)

        try files.apply("*** Update File: f\n@@\n\(context)-y\n+z")

        #expect(files.texts["f"]?.hasSuffix("x\nz\n") == true)
    }

    @Test(.timeLimit(.minutes(1))) func manyHunksWithAnchorsThatAreNotThereTakeNoTime() throws {
        let files = MemoryFiles(["f": (0..<5000).map { "line \($0)\n" }.joined()])
        let hunks = (0..<5000).map { "@@ nothing\n-  line \($0)\n+\($0)\n" }.joined()

        try files.apply("*** Update File: f\n\(hunks)")

        #expect(files.texts["f"]?.hasPrefix("0\n1\n2\n") == true)
    }
}

import AlcoveSandbox
import Foundation
import Testing

/// Programs of Fixtures/python print the same here and in Debian's python3, faults included, and end with the same status.
@Suite(.serialized) struct PythonTests {
    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "Fixtures/python")

    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []).filter { $0.hasSuffix(".py") }
        .sorted()

    struct Case: Sendable, CustomTestStringConvertible {
        let way: ScriptTrial.Way
        let name: String
        var testDescription: String { "\(name), \(way.rawValue)" }
    }

    static let cases = SandboxHere.ways.flatMap { way in names.map { Case(way: way, name: $0) } }

    @Test func allFilesAreThere() { #expect(PythonTests.names.count >= 10) }

    @Test(arguments: cases) func likePython(_ given: Case) throws {
        let (ours, theirs) = (ScratchFolder(), ScratchFolder())
        for folder in [ours, theirs] {
            for entry in [given.name, "package"] {
                try FileManager.default.copyItem(
                    atPath: PythonTests.fixtures.path + "/" + entry, toPath: folder.path + "/" + entry)
            }
        }
        let input = "a\nb\nlast"

        let wanted = try ScriptTrial.reference(
            "/usr/bin/python3", ["-B", given.name, "x"], in: theirs.path, input: input)
        let run = try ScriptTrial.run(given.way, .python, [given.name, "x"], in: ours.path, input: input)

        #expect(run.output == wanted.output, "\(run.error)")
        #expect(run.status == wanted.status, "\(run.error)")
        #expect(run.error == wanted.error)
    }

    struct Words: Sendable, CustomTestStringConvertible {
        let words: [String]
        var input = ""
        var testDescription: String { "\(words)" }
    }

    static let commandLines = [
        Words(words: ["-c", "import sys; print(sys.argv)", "a", "-b"]), Words(words: ["-c", "1/0"]),
        Words(words: ["-c", "import sys; sys.exit('bye')"]), Words(words: ["-c", "import sys; sys.exit(7)"]),
        Words(words: ["-c", "raise SystemExit"]), Words(words: ["-c", "print('a'"]),
        Words(words: ["-c", "x = input(); print(x * 2)"], input: "ab\n"),
        Words(words: ["-"], input: "import sys\nprint(sys.argv)\n"),
        Words(words: [], input: "print(__name__)\nundefined\n"),
        Words(words: ["-m", "json.tool"], input: "{\"b\": [1, 2]}"),
        Words(words: ["-m", "base64", "-e"], input: "hello"),
        Words(words: ["-uBc", "print(1)"]), Words(words: ["-m", "package"]),
        Words(words: ["-m", "package.inner", "z"]), Words(words: ["package"]),
        Words(words: ["-c", "import atexit; atexit.register(print, 'last'); print('first')"]),
        Words(words: [
            "-c",
            "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start(); print('main')",
        ]),
        Words(words: ["-c", "raise KeyError('k') from ValueError('v')"]),
        Words(words: ["-c", "import warnings; warnings.warn('careful')"]),
        Words(words: ["-c", "for i in range(3): print(i, end=' ')"]),
        Words(words: ["-c", "import sys; print('e', file=sys.stderr); print('o')"]),
    ]

    @Test(arguments: commandLines) func commandLinesAreLikePythons(_ given: Words) throws {
        for way in SandboxHere.ways {
            let (ours, theirs) = (ScratchFolder(), ScratchFolder())
            for folder in [ours, theirs] {
                try FileManager.default.copyItem(
                    atPath: PythonTests.fixtures.path + "/package", toPath: folder.path + "/package")
            }
            let wanted = try ScriptTrial.reference(
                "/usr/bin/python3", ["-B"] + given.words, in: theirs.path, input: given.input)
            let run = try ScriptTrial.run(way, .python, given.words, in: ours.path, input: given.input)
            #expect(run == wanted, "\(way)")
        }
    }

    @Test(arguments: SandboxHere.ways) func eachRunIsFresh(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        try folder.write("value = 1\n", to: "mine.py")
        func run(_ code: String) throws -> String {
            try ScriptTrial.run(way, .python, ["-c", code], in: folder.path, environment: ["A": "1"]).output
        }

        _ = try run(
            "import mine, os, sys; mine.value = 2; os.environ['LEFT'] = '1'; left = 3; sys.path.append('/x'); sys.argv = []"
        )
        try folder.write("value = 5\n", to: "mine.py")

        #expect(
            try run(
                "import mine, os, sys; print(mine.value, os.environ.get('LEFT'), 'left' in globals(), '/x' in sys.path)"
            ) == "5 None False False\n")
    }

    @Test(arguments: SandboxHere.ways) func temporaryFilesLieInTheWorkspace(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        let code =
            "import tempfile, os; f = tempfile.NamedTemporaryFile(delete=False); print(os.path.relpath(f.name).split('/')[0])"
        #expect(
            try ScriptTrial.run(
                way, .python, ["-c", code], in: folder.path, environment: [:]
            ).output == ".tmp\n")
    }

    static let loops = [
        "while True: pass", "import time; time.sleep(100)", "sum(range(10**12))",
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
        "import threading\nthreading.Thread(target=lambda: [1 for _ in iter(int, 1)]).start()",
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
    ]

    @Test(.enabled(if: SandboxHere.isPossible), arguments: loops) func anythingEndsInTheSandbox(_ code: String) throws {
        let folder = ScratchFolder()
        let run = try ScriptTrial.run(.sandbox, .python, ["-c", code], in: folder.path, seconds: 0.5)
        #expect(run.status == 137, "\(run)")
    }

    @Test(arguments: [
        "while True: pass", "import time; time.sleep(100)", "import re; re.match('(a+)+$', 'a' * 30 + 'b')",
    ])
    func aStopIsFeltInThisProcess(_ code: String) throws {
        let folder = ScratchFolder()
        let run = try ScriptTrial.run(.here, .python, ["-c", code], in: folder.path, seconds: 0.5)
        #expect(run.status == 130, "\(run)")
        #expect(run.error.contains("KeyboardInterrupt"))
        #expect(try ScriptTrial.run(.here, .python, ["-c", "print(1)"], in: folder.path).output == "1\n")
    }

    @Test(.enabled(if: SandboxHere.isPossible)) func memoryHasAnEndInTheSandbox() throws {
        let folder = ScratchFolder()
        let run = try ScriptTrial.run(
            .sandbox, .python, ["-c", "all = []\nwhile True: all.append(bytearray(b'x') * (1 << 26))"], in: folder.path)
        #expect(run.error.contains("MemoryError") || run.error.contains("it used more than"), "\(run)")
        #expect(run.status != 0)
    }
}

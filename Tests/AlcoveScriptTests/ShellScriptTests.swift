import AlcoveCore
import AlcoveSandbox
import AlcoveShell
import Foundation
import Synchronization
import Testing

/// `node` and `python3` as commands of the shell within the program.
@Suite(.serialized, .enabled(if: SandboxHere.isPossible)) struct ShellScriptTests {
    static func shell(_ script: String, in folder: String, seconds: Double = 60, stop: StopSignal = StopSignal()) throws
        -> (output: String, error: String, end: CommandResult.End)
    {
        let written = Mutex<([UInt8], [UInt8])>(([], []))
        var limits = CommandLimits()
        limits.seconds = seconds
        let session = ShellSession(
            paths: ConfinedPaths(workspace: folder), limits: limits,
            scripts: ScriptUse(runner: ScriptTrial.sandbox, place: ScriptPlace(workspace: folder), allowsNetwork: false)
        )
        let result = try session.run(.init(script: Array(script.utf8)), input: .bytes([]), stop: stop) { piece in
            written.withLock {
                switch piece {
                case .standardOutput(let bytes): $0.0 += bytes
                case .standardError(let bytes): $0.1 += bytes
                }
            }
        }
        return written.withLock {
            (String(decoding: $0.0, as: UTF8.self), String(decoding: $0.1, as: UTF8.self), result.end)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let script: String
        let output: String
        var status: Int32 = 0
        var testDescription: String { script }
    }

    static let cases = [
        Case(script: "node -e 'console.log(6 * 7)'", output: "42\n"),
        Case(
            script:
                "printf '3\\n1\\n2\\n' | node -e 'console.log(require(\"fs\").readFileSync(0, \"utf8\").split(\"\\n\").sort().join(\"\"))' | cat -n",
            output: "     1\t123\n"),
        Case(
            script: "printf '1\\n2\\n3\\n' | while read x; do node -e \"console.log($x * 2)\"; done",
            output: "2\n4\n6\n"),
        Case(script: "printf 'a\\nb\\n' > f; { node -e 1; cat; } < f", output: "a\nb\n"),
        Case(script: "node -e 'process.exit(7)'; echo $?", output: "7\n"),
        Case(script: "mkdir -p d; cd d; node -p 'process.cwd()'", output: "/workspace/d\n"),
        Case(script: "X=5 node -p 'process.env.X'; export Y=6; node -p 'process.env.Y'", output: "5\n6\n"),
        Case(script: "echo 'console.log(1)' | node; node <<< 'console.log(2)'", output: "1\n2\n"),
        Case(script: "node -e 'for (let i = 0; i < 1e6; i++) console.log(i)' | head -2", output: "0\n1\n"),
        Case(script: "node -e 'console.error(\"e\"); console.log(\"o\")' 2>&1 >/dev/null", output: "e\n"),
        Case(
            script: "printf '#!/usr/bin/env node\\nconsole.log(process.argv[2])\\n' > s; chmod +x s; ./s hello",
            output: "hello\n"),
        Case(
            script:
                "seq 100000 | node -e 'let n = 0; process.stdin.on(\"data\", (d) => { n += d.length }).on(\"end\", () => console.log(n))'",
            output: "588895\n"),
        Case(script: "timeout 0.3 node -e 'for(;;);'; echo $?", output: "124\n"),
        Case(script: "node -e 'setTimeout(() => console.log(1), 100)' & wait; echo 2", output: "1\n2\n"),
        Case(script: "python3 -c 'print(6 * 7)'; python -c 'print(1)'", output: "42\n1\n"),
        Case(
            script:
                "seq 5 | python3 -c 'import sys; print(sum(map(int, sys.stdin)))' | node -e 'console.log(require(\"fs\").readFileSync(0, \"utf8\") * 2)'",
            output: "30\n"),
        Case(script: "printf 'a\nb\n' | while read x; do python3 -c \"print('$x' * 2)\"; done", output: "aa\nbb\n"),
        Case(script: "python3 <<'E'\nopen('made.txt', 'w').write('x')\nE\ncat made.txt", output: "x"),
        Case(script: "python3 -c 'while True: print(1)' | head -1", output: "1\n"),
        Case(script: "python3 -c 'import sys; sys.exit(3)' || echo $?", output: "3\n"),
        Case(
            script: "printf '#!/usr/bin/env python3\nimport sys; print(sys.argv[1:])\n' > p; chmod +x p; ./p a b",
            output: "['a', 'b']\n"),
        Case(script: "timeout 0.3 python3 -c 'while True: pass'; echo $?", output: "124\n"),
        Case(
            script: "find . -name '*.none'; echo f.txt | xargs -I X python3 -c 'import sys; print(sys.argv[1])' X",
            output: "f.txt\n"),
        Case(script: "npm install x", output: "", status: 127),
    ]

    @Test(arguments: cases) func scriptsAreCommands(_ given: Case) throws {
        let folder = ScratchFolder()
        let run = try ShellScriptTests.shell(given.script, in: folder.path)
        #expect(run.output == given.output, "\(run.error)")
        #expect(run.end == .exited(given.status), "\(run.error)")
    }

    @Test func timeEndsAProgram() throws {
        let folder = ScratchFolder()
        let run = try ShellScriptTests.shell("node -e 'console.log(1); for (;;);'", in: folder.path, seconds: 0.5)
        #expect(run.output == "1\n")
        #expect(run.end == .timedOut)
    }
}

import AlcoveCore
import AlcoveSandbox
import Foundation
import Testing

/// Programs without end, and programs that want everything.
@Suite(.serialized) struct LimitTests {
    static let loops = [
        "while (true) {}", "try { while (true) {} } catch {} finally { while (true) {} }",
        "for (;;) { [1].map(String) }",
        "setInterval(() => {}, 1)", "process.stdin.on('data', () => {}); setInterval(() => {}, 5)",
    ]

    @Test(arguments: loops) func aLoopEndsInThisProcess(_ code: String) throws {
        let folder = ScratchFolder()
        let start = Platform.monotonicNanoseconds

        let run = try ScriptTrial.run(.here, .javascript, ["-e", code], in: folder.path, seconds: 0.4)

        #expect(run.status == 124)
        #expect(Platform.monotonicNanoseconds - start < 10_000_000_000)
    }

    @Test func aStopIsFeltInThisProcess() throws {
        let folder = ScratchFolder()
        let stop = StopSignal()
        stop.set()
        let run = try ScriptTrial.run(.here, .javascript, ["-e", "while (true) {}"], in: folder.path, stop: stop)
        #expect(run.status == 130)
    }

    @Test(
        .enabled(if: SandboxHere.isPossible),
        arguments: loops + [
            "function f() { Promise.resolve().then(f); } f()", "(async () => { for (;;) await 0; })()",
            "process.nextTick(function f() { process.nextTick(f); })", "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        ])
    func anythingEndsInTheSandbox(_ code: String) throws {
        let folder = ScratchFolder()
        let run = try ScriptTrial.run(.sandbox, .javascript, ["-e", code], in: folder.path, seconds: 0.5)
        #expect(run.status == 137, "\(run)")
    }

    @Test(.enabled(if: SandboxHere.isPossible)) func memoryHasAnEndInTheSandbox() throws {
        let folder = ScratchFolder()
        let code = "const all = []; for (;;) all.push(new Uint8Array(1 << 24).fill(1))"

        let run = try ScriptTrial.run(.sandbox, .javascript, ["-e", code], in: folder.path)

        #expect(run.status == 137)
        #expect(run.error.contains("The program was ended: it used more than"))
    }

    @Test(arguments: SandboxHere.ways) func deepRecursionIsAFaultOfTheProgram(_ way: ScriptTrial.Way) throws {
        let folder = ScratchFolder()
        let code = "function f() { return f() + 1 } try { f() } catch (error) { console.log(error.name) }"
        let run = try ScriptTrial.run(way, .javascript, ["-e", code], in: folder.path)
        #expect(run.output == "RangeError\n")
    }

    @Test(.enabled(if: SandboxHere.isPossible)) func runsDoNotSeeOneAnother() throws {
        let folder = ScratchFolder()
        _ = try ScriptTrial.run(
            .sandbox, .javascript,
            [
                "-e",
                "globalThis.left = 1; process.env.LEFT = 'x'; Array.prototype.left = 2; process.chdir('/workspace')",
            ],
            in: folder.path)
        let run = try ScriptTrial.run(
            .sandbox, .javascript, ["-p", "[typeof left, process.env.LEFT, [].left]"], in: folder.path)
        #expect(run.output == "[ 'undefined', undefined, undefined ]\n")
    }
}

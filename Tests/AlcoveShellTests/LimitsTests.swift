import AlcoveCore
import AlcoveShell
import Testing

@Suite(.serialized) struct LimitsTests {
    @Test(arguments: [
        "f() { f; }; f; echo no", "f() { f | f; }; f; true", "f() { f & f & wait; }; f; true", "yes | head -n 1",
        "cat /dev/zero | head -c 10 | wc -c",
        "x=aaaaaaaa; while :; do x=$x$x; done", "eval 'f() { eval f; }; f'", "x=$(yes)",
        "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done | tail -n 1",
        "echo 'sh s' >s; sh s", "x='x+1'; echo $((x))", "f() { local -a a=(1); f; }; f", "echo {1..99999}{1..99999}",
        "f() { echo <(f); }; f",
        "while :; do cat <(echo x) >/dev/null; break; done",
        "awk 'function f() { return f() } BEGIN { f() }'", "awk 'BEGIN { while (1) s = s \"xxxxxxxxxxxxxxxx\" s }'",
        "jq -n 'def f: f; f'",
        "yes | awk 'NR > 3 { exit } { print }'", "yes | sed 3q", "seq 1 1000000000 | head -n 2",
        "yes | xargs -n 1 echo | head -n 3",
    ])
    func runawaysEnd(_ script: String) {
        let folder = ScratchFolder()
        var limits = CommandLimits()
        limits.processes = 40

        let (_, _, result) = ScriptRun.here(script, in: folder.path, limits: limits)

        if case .exited = result.end {} else { Issue.record("\(script) ended with \(result.end)") }
    }

    @Test(arguments: [
        "while :; do :; done", "sleep 1000", "yes >/dev/null", "sleep 1000 | cat", "cat /dev/zero | wc -c",
        "sleep 1000 & wait", "(while :; do :; done) | cat", "awk 'BEGIN { while (1) x++ }'", "yes | awk '{ n++ }'",
        "echo a | sed ':a;ba'", "jq -n 'def f: f; [range(infinite)] | f'", "yes | sort", "for ((;;)); do :; done",
        "while [[ 1 ]]; do :; done", "timeout 1000 sleep 1000", "cat <(yes) >/dev/null", "sleep 1000 | awk '{ print }'",
        "awk 'BEGIN { \"sleep 1000\" | getline }'", "find / -name x -exec sleep 1000 ';'; sleep 1000",
        "yes | tee >(sleep 1000)",
    ])
    func aStopEndsEverything(_ script: String) {
        let folder = ScratchFolder()
        let stop = StopSignal()
        #expect(startThread(name: "stopper") { stop.set() })

        let (_, _, result) = ScriptRun.here(script, in: folder.path, stop: stop)

        #expect(result.end == .stopped)
    }

    @Test func outputBeyondTheLimitIsCountedAndDropped() {
        let folder = ScratchFolder()
        var limits = CommandLimits()
        limits.outputBytes = 1000

        let (run, _, result) = ScriptRun.here("seq 10000", in: folder.path, limits: limits)

        #expect(run.output.count == 1000)
        #expect(result.outputBytes == 48_894)
    }

    @Test func aMissingCommandSaysWhatIsHere() {
        let folder = ScratchFolder()

        let (run, error, _) = ScriptRun.here("\ngerp x", in: folder.path)

        #expect(run.status == 127)
        #expect(
            error.hasPrefix("sh: line 2: gerp: this command is not here. Did you mean grep? What works: arch awk "))
    }

    @Test func aJobAndACommandWithATimeAreStoppedAlone() {
        let folder = ScratchFolder()

        let (run, _, _) = ScriptRun.here(
            "sleep 1000 & kill $!; wait $!; echo $?; timeout 0.01 sh -c 'while :; do :; done'; echo $?; timeout 0.01 cat <(sleep 1000); echo $?",
            in: folder.path)

        #expect(String(decoding: run.output, as: UTF8.self) == "143\n124\n124\n")
    }

    @Test func pipefailTakesTheLastFailure() {
        let folder = ScratchFolder()
        #expect(
            ScriptRun.here("set -o pipefail; (exit 3) | true; echo $?", in: folder.path).run.output == Array("3\n".utf8)
        )
    }

    @Test func reportedOctalsAreRight() {
        let folder = ScratchFolder()
        #expect(ScriptRun.here("printf '\\0377\\n'", in: folder.path).run.output == [0x1F, 0x37, 0x0A])
    }
}

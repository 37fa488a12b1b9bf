#if os(Linux)
import AlcoveCore
import Synchronization
import TestFolder
import Testing

@testable import AlcoveSandbox

extension OneAtATime {
    /// The duties of every runner; whom it keeps in is `EscapeTests`' subject.
    struct CommandRunnerTests {
        let sandbox: SandboxedScript
        init() throws { sandbox = try SandboxedScript() }

        @Test func theSandboxCanBeHadHere() {
            guard case .ready(let version, let milliseconds) = BubblewrapRunner.probe() else {
                Issue.record("no sandbox on this machine: \(BubblewrapRunner.probe())")
                return
            }
            #expect(version.hasPrefix("bubblewrap ") && milliseconds > 0)
        }

        @Test func withoutTheProgramNothingIsRun() async {
            let request = CommandRequest(script: "touch ran", workspace: sandbox.workspace)
            await #expect(throws: SandboxError.programMissing) {
                try await BubblewrapRunner(program: "/nowhere/bwrap").run(request) { _ in }
            }
            #expect(
                SandboxError.programMissing.sentence
                    == "Commands cannot be run: the sandbox program bwrap is missing, and without it nothing is run. "
                    + "Install it with `sudo apt install bubblewrap`.")
            #expect(!sandbox.base.exists("work/ran"))
        }

        @Test func aSandboxThatCannotBeMadeIsAnError() async {
            let runner = BubblewrapRunner(readOnly: [.init(folder: "/no/such/folder", shownAs: "/skills")])
            await #expect(
                throws: SandboxError.refused(cause: "Can't find source path /no/such/folder: No such file or directory")
            ) {
                try await runner.run(CommandRequest(script: "true", workspace: sandbox.workspace)) { _ in }
            }
        }

        @Test func runsInTheWorkspaceAndKeepsWhatItMakes() async throws {
            let answer = try await sandbox.run("pwd; cat a.txt; echo made > new.txt; echo oops >&2; exit 3")
            #expect(answer.output == "/workspace\ninside\n")
            #expect(answer.error == "oops\n")
            #expect(answer.result.end == .exited(3))
            #expect(answer.result.outputBytes == 23)
            #expect(sandbox.base.text("work/new.txt") == "made\n")
        }

        @Test func readOnlyFoldersAreSeenAndNotWritten() async throws {
            let collected = Mutex("")
            let request = CommandRequest(
                script: "cat /skills/secret; echo x > /skills/secret || echo held", workspace: sandbox.workspace)
            let runner = BubblewrapRunner(
                readOnly: [.init(folder: sandbox.base.path + "/outside", shownAs: "/skills")])
            _ = try await runner.run(request) { output in
                if case .standardOutput(let bytes) = output {
                    collected.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                }
            }
            #expect(collected.withLock { $0 } == "OUTSIDE\nheld\n")
        }

        @Test(arguments: [
            ("exit 0", CommandResult.End.exited(0)), ("exit 42", .exited(42)), ("exit 200", .exited(200)),
            ("kill -9 $$", .signalled(9)), ("kill -SEGV $$", .signalled(11)), ("no-such-command", .exited(127)),
        ])
        func reportsHowItEnded(_ script: String, _ end: CommandResult.End) async throws {
            #expect(try await sandbox.run(script).result.end == end)
        }

        @Test func anyTextIsAScript() async throws {
            let word = #"'"\$`!\#u{202e}é %s -- &|;<>()*?[]{}~#"#
            let long = String(repeating: "x", count: 300_000)
            let script = "cat <<'END'\n\(word)\nEND\n: \(long)\necho last"
            #expect(try await sandbox.run(script).output == word + "\nlast\n")
            #expect(try await sandbox.run("-x() { echo dash; }; -x").output == "dash\n")
            await #expect(throws: SandboxError.invalid("the script contains a zero byte")) {
                try await sandbox.run("a\0b")
            }
        }

        @Test func standardInputArrivesWhole() async throws {
            let input = String(repeating: "0123456789abcdef", count: 40_000)
            #expect(try await sandbox.run("wc -c", input: input).output == "640000\n")
            #expect(try await sandbox.run("head -c 3", input: input).output == "012")
            #expect(try await sandbox.run("cat; echo end").output == "end\n")
        }

        @Test func environmentIsOursAlone() async throws {
            setenv("ALCOVE_TEST_SECRET", "tr0mbone", 1)
            let script = "env; tr '\\0' '\\n' </proc/1/environ; tr '\\0' '\\n' </proc/1/cmdline"
            let answer = try await sandbox.run(script, environment: ["GREETING": "a b\"c", "HOME": "/tmp"])
            #expect(answer.output.contains("GREETING=a b\"c\n") && answer.output.contains("HOME=/tmp\n"))
            #expect(!answer.output.contains("tr0mbone") && !answer.output.contains(sandbox.base.path))
            let names = Set(answer.lines.compactMap { $0.contains("=") ? $0.split(separator: "=").first : nil })
            let known: Set<Substring> = [
                "GREETING", "HOME", "LANG", "LOGNAME", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE", "SHLVL", "TERM",
                "TMPDIR",
                "USER", "_", "OLDPWD",
            ]
            #expect(names.subtracting(known).filter { !$0.contains(" ") } == [])
            await #expect(throws: SandboxError.invalid("A=B cannot be an environment variable")) {
                try await sandbox.run("true", environment: ["A=B": ""])
            }
        }

        @Test func outputIsBoundedAndTheRestCounted() async throws {
            var limits = CommandLimits()
            limits.outputBytes = 1000
            let answer = try await sandbox.run("seq -w 100000; echo done >&2; exit 5", limits: limits)
            #expect(answer.output.utf8.count + answer.error.utf8.count == 1000)
            #expect(answer.output.hasPrefix("000001\n000002\n"))
            #expect(answer.result.outputBytes == 700_005)
            #expect(answer.result.end == .exited(5))
        }

        @Test func endlessOutputEndsWithTheTime() async throws {
            var limits = CommandLimits()
            limits.seconds = 1.5
            limits.outputBytes = 10
            let answer = try await sandbox.run("yes", limits: limits)
            #expect(answer.result.end == .timedOut)
            #expect(answer.output == "y\ny\ny\ny\ny\n")
            #expect(answer.result.seconds < 3 && answer.result.outputBytes > 100_000)
        }

        @Test func runsSideBySideDoNotMix() async throws {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let sandbox = try SandboxedScript()
                        let answer = try await sandbox.run(
                            "echo \(number) > f; sleep 0.05; cat f; ls | wc -l; exit \(number)")
                        return answer.output == "\(number)\n3\n" && answer.result.end == .exited(Int32(number))
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }

        @Test(arguments: [0.0, -1, .nan, .infinity, 1e9]) func refusesSenselessTimes(_ seconds: Double) async {
            var limits = CommandLimits()
            limits.seconds = seconds
            await #expect(throws: SandboxError.self) { try await sandbox.run("true", limits: limits) }
        }

        @Test(arguments: ["", "relative", "/", "/no/such/folder", "/etc/passwd"])
        func refusesSenselessWorkspaces(_ path: String) async {
            await #expect(throws: SandboxError.self) {
                try await SandboxedScript.runner().run(CommandRequest(script: "true", workspace: path)) { _ in }
            }
        }
    }
}
#endif

#if os(Linux)
import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveSandbox

extension OneAtATime {
    /// Ending a script ends all that it started, however it hid.
    struct StopTests {
        let sandbox: SandboxedScript
        init() throws { sandbox = try SandboxedScript() }

        /// Forks twice, leaves the session, ignores what it can, and holds both pipes open. `$1` is a word to find it by.
        static let daemon = """
            python3 -I -c '
            import os, signal, sys, time
            if os.fork(): os._exit(0)
            os.setsid()
            if os.fork(): os._exit(0)
            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
            open("daemon", "w").close()
            time.sleep(600)
            ' WORD
            while [ ! -e daemon ]; do sleep 0.01; done
            """

        static func hidden(_ word: String) -> String { daemon.replacing("WORD", with: word) }

        enum Way: String, CaseIterable, Sendable {
            case stop
            case timeOut
            case cancel
        }

        @Test(arguments: Way.allCases) func everythingEndsWithinASecond(_ way: Way) async throws {
            let word = "hidden-\(way)-\(getpid())"
            let stop = StopSignal()
            var limits = CommandLimits()
            if way == .timeOut { limits.seconds = 3 }
            let script = StopTests.hidden(word) + "\ntrap '' TERM HUP INT\nwhile :; do sleep 600 & wait; done"
            let sandbox = self.sandbox
            let task = Task { [limits] in try await sandbox.run(script, limits: limits, stop: stop) }
            try await sandbox.waitFor("daemon")
            #expect(isRunning(word))

            let began = Platform.monotonicNanoseconds
            switch way {
            case .stop: stop.set()
            case .cancel: task.cancel()
            case .timeOut: break
            }
            let answer = try await task.value

            #expect(answer.result.end == (way == .timeOut ? .timedOut : .stopped))
            if way == .timeOut {
                #expect(answer.result.seconds < 4)
            } else {
                #expect(Platform.monotonicNanoseconds - began < 1_000_000_000)
            }
            #expect(!isRunning(word))
        }

        @Test func whatRunsInTheBackgroundEndsWithTheScript() async throws {
            let word = "left-behind-\(getpid())"
            let answer = try await sandbox.run(StopTests.hidden(word) + "\nsleep 600 &\necho over")
            #expect(answer.output == "over\n")
            #expect(answer.result.end == .exited(0))
            #expect(answer.result.seconds < 5)
            #expect(!isRunning(word))
        }

        @Test func aScriptMayTidyUpWhenStopped() async throws {
            let stop = StopSignal()
            let sandbox = self.sandbox
            let task = Task {
                try await sandbox.run(
                    "trap 'echo tidy > tidied; exit 9' TERM; touch up; while :; do sleep 0.05; done", stop: stop)
            }
            try await sandbox.waitFor("up")
            stop.set()
            #expect(try await task.value.result.end == .stopped)
            #expect(sandbox.base.text("work/tidied") == "tidy\n")
        }

        @Test func stoppedBeforeItBegan() async throws {
            let stop = StopSignal()
            stop.set()
            let answer = try await sandbox.run("sleep 0.5; touch ran", stop: stop)
            #expect(answer.result.end == .stopped && answer.result.seconds < 1)
            #expect(!sandbox.base.exists("work/ran"))
        }

        /// Stops at every moment of the start, when it is not known yet what there is to end.
        @Test func stopsAtAnyMoment() async throws {
            for delay in 0..<60 {
                let stop = StopSignal()
                let sandbox = self.sandbox
                let task = Task { try await sandbox.run("sleep 600.\(delay)", stop: stop) }
                try await Task.sleep(for: .microseconds(delay * 500))
                stop.set()
                let answer = try await task.value
                #expect(answer.result.end == .stopped)
            }
            #expect(!isRunning("600."))
            // Not even one that had not yet begun.
            #expect(!isRunning("--json-status-fd"))
        }

        @Test func noProcessStaysUnreaped() async throws {
            for _ in 0..<5 { _ = try await sandbox.run("true") }
            // With nothing to wait for there is an error; a zombie would be returned.
            var code: Int32 = 0
            let left = waitpid(-1, &code, WNOHANG)
            #expect(left <= 0)
        }

        @Test func filesAreNotLeftOpen() async throws {
            func count() -> Int { (0..<512).count { fcntl(Int32($0), F_GETFD) >= 0 } }
            _ = try await sandbox.run("true")
            let before = count()
            for _ in 0..<20 { _ = try await sandbox.run("echo x", input: "y") }
            // Other suites run beside this one.
            #expect(count() < before + 20)
        }
    }
}
#endif

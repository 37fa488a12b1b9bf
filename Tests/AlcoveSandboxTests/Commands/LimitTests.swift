#if os(Linux)
import AlcoveCore
import Testing

@testable import AlcoveSandbox

extension OneAtATime {
    /// A script cannot take more of the machine than it was given.
    struct LimitTests {
        let sandbox: SandboxedScript
        var limits = CommandLimits()

        init() throws {
            sandbox = try SandboxedScript()
            limits.seconds = 20
        }

        /// Processes, endless and quick: refused by the kernel, or all ended by us where that does not limit them (root).
        @Test func aForkBombEnds() async throws {
            var limits = limits
            limits.processes = 64
            limits.seconds = 3
            let answer = try await sandbox.run(
                "bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done", limits: limits)
            #expect(answer.result.seconds < 4)
            if geteuid() == 0 {
                #expect(answer.result.end == .signalled(9))
                #expect(answer.error.hasSuffix("Alcove ended the script: it started more than 64 processes.\n"))
            }
        }

        @Test func processesWithinTheLimitRun() async throws {
            let answer = try await sandbox.run(
                "for i in $(seq 100); do sleep 0.3 & done; wait; echo works", limits: limits)
            #expect(answer.output == "works\n")
        }

        @Test func oneProcessGetsSoMuchMemory() async throws {
            var limits = limits
            limits.memoryBytes = 256 << 20
            let code = "try: b = bytearray(%d << 20); print('got it')\nexcept MemoryError: print('held')"
            func script(_ count: Int) -> String {
                "python3 -I - <<'END'\n\(code.replacing("%d", with: "\(count)"))\nEND"
            }
            #expect(try await sandbox.run(script(100), limits: limits).output == "got it\n")
            #expect(try await sandbox.run(script(300), limits: limits).output == "held\n")
        }

        @Test func allProcessesTogetherGetSoMuchMemory() async throws {
            var limits = limits
            limits.memoryBytes = 256 << 20
            let answer = try await sandbox.run(
                "for i in 1 2 3 4; do python3 -I -c 'b = b\"x\" * (100 << 20); import time; time.sleep(60)' & done; wait",
                limits: limits)
            #expect(answer.result.end == .signalled(9))
            #expect(answer.error == "Alcove ended the script: it used more than 256 MiB of memory.\n")
        }

        @Test func filesStaySmall() async throws {
            var limits = limits
            limits.fileBytes = 10 << 20
            let answer = try await sandbox.run(
                "dd if=/dev/zero of=big bs=1M count=10240 2>/dev/null; stat -c %s big; dd if=/dev/zero of=ok bs=1M count=9 && echo works",
                limits: limits)
            #expect(answer.output == "10485760\nworks\n")
        }

        @Test func foldersInMemoryHaveASize() async throws {
            let answer = try await sandbox.run("df -B1 --output=size /tmp /dev/shm | tail -n +2")
            #expect(answer.lines.compactMap { Int($0.drop { $0 == " " }) } == [512 << 20, 512 << 20])
            #expect(try await sandbox.run("dd if=/dev/zero of=/run/x; touch /run/y || echo held").output == "held\n")
        }

        @Test func theShellSetsTheLimits() async throws {
            var limits = limits
            limits.processes = 77
            limits.fileBytes = 5 << 20
            limits.memoryBytes = 1 << 30
            let answer = try await sandbox.run(
                "ulimit -c; ulimit -n; ulimit -v; ulimit -f; ulimit -u; ulimit -Ht", limits: limits)
            let processor = 20 * Platform.processorCount + 1
            #expect(answer.output == "0\n1024\n1048576\n5120\n77\n\(processor)\n")
        }

        @Test func anEndlessLoopEnds() async throws {
            var limits = limits
            limits.seconds = 0.5
            let answer = try await sandbox.run("while :; do :; done", limits: limits)
            #expect(answer.result.end == .timedOut)
            #expect(answer.result.seconds >= 0.5)
        }

        @Test func aMillionWordsAreOnlyAnError() async throws {
            let answer = try await sandbox.run(
                "/bin/echo $(seq 1000000) | wc -c; echo {1..200000} | wc -w", limits: limits)
            #expect(answer.output == "0\n200000\n")
            #expect(answer.error.contains("Argument list too long"))
        }

        @Test func manyOpenFilesAreOnlyAnError() async throws {
            let answer = try await sandbox.run(
                "python3 -I -c 'a = []\nwhile True: a.append(open(\"/dev/null\"))'; echo $?", limits: limits)
            #expect(answer.output == "1\n")
            #expect(answer.error.contains("Too many open files"))
        }
    }
}
#endif

#if os(Linux)
import AlcoveCore
import Synchronization
import Testing

@testable import AlcoveSandbox

/// What root's scripts are held by; ordinary users have `RLIMIT_NPROC`, which LimitTests shows.
@Suite(.enabled(if: geteuid() == 0 && ControlGroup(tasks: 8) != nil, "only root on a system with the pids controller"))
struct ControlGroupTests {
    /// Runs a shell in a group of so many tasks, which it enters before the shell's first line.
    private func run(_ script: String, tasks: Int) throws -> (result: CommandResult, output: String) {
        let output = Mutex<[UInt8]>([])
        var group = ControlGroup(tasks: tasks)
        var gate: Pipe? = try Pipe()
        let passed = try [#require(gate).reader]
        let shell = try ConfinedProcess(limits: CommandLimits(), input: [], stop: StopSignal()) { part in
            switch part {
            case .standardOutput(let bytes), .standardError(let bytes): output.withLock { $0 += bytes }
            }
        }
        let result = try shell.run(
            "/bin/sh", ["sh", "-c", "cat <&4; " + script], environment: ["PATH=/usr/bin:/bin"], passed: passed
        ) { process in
            #expect(group?.add(process) == true)
            gate = nil
            return NamespaceTree(program: process)
        }
        group = nil
        return (result, String(decoding: output.withLock { $0 }, as: UTF8.self))
    }

    @Test func theKernelRefusesWhatIsAbove() throws {
        let script = "for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait; echo all"
        #expect(try run(script, tasks: 20).output == "all\n")
        let held = try run(script, tasks: 5)
        #expect(held.result.end == .exited(2) || held.result.end == .exited(254), "\(held.result.end)")
        #expect(held.output.contains("ork"))
    }
}
#endif

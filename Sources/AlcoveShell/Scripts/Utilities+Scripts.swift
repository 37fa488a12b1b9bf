internal import AlcoveCore
internal import AlcoveSandbox

/// `python3` and `node`: programs in languages whose interpreters are Alcove's own.
extension Utilities {
    static let scriptTable: [String: Utility] = [
        "node": node, "nodejs": node, "pip": noPackages, "pip3": noPackages, "python": python, "python3": python,
    ]

    @Sendable static func node(_ call: UtilityCall) throws(Flow) -> Int32 { try script(.javascript, call) }

    @Sendable static func python(_ call: UtilityCall) throws(Flow) -> Int32 { try script(.python, call) }

    @Sendable static func noPackages(_ call: UtilityCall) throws(Flow) -> Int32 {
        throw .failed(
            "packages cannot be installed here yet. python3 has its standard library; python3 -c 'help(\"modules\")' lists it"
        )
    }

    private static func script(_ language: ScriptRequest.Language, _ call: UtilityCall) throws(Flow) -> Int32 {
        guard let scripts = call.control.scripts else {
            try call.complain("there is no interpreter for that language in this program: awk, sed and jq are here")
            return 127
        }
        var request = ScriptRequest(language: language, arguments: call.words.dropFirst().map(\.text))
        request.folder = call.shell.state.folder
        request.limits = call.control.limits
        request.allowsNetwork = scripts.allowsNetwork
        for (name, variable) in call.shell.state.variables where variable.isExported {
            if let value = variable.value, !value.contains(0) { request.environment[name] = value.text }
        }
        let pipes = ScriptPipes()
        guard pipes.isWhole else { throw .failed(Platform.describe(errno: EMFILE)) }
        let running: any RunningScript
        do throws(SandboxError) {
            running = try scripts.runner.start(request, in: scripts.place, streams: pipes.childSide)
        } catch { throw .failed(error.sentence) }
        pipes.closeChildSide()
        return try ScriptStage(call, running, pipes).run()
    }
}

/// One program as a stage of a pipeline: its three pipes, fed and emptied until it ends.
private final class ScriptStage {
    private let call: UtilityCall
    private let running: any RunningScript
    private let pipes: ScriptPipes

    init(_ call: UtilityCall, _ running: any RunningScript, _ pipes: ScriptPipes) {
        self.call = call
        self.running = running
        self.pipes = pipes
    }

    func run() throws(Flow) -> Int32 {
        let feeder = try startFeeding()
        defer { feeder?.finish(call.control) }
        do throws(Flow) {
            try passOn()
        } catch {
            running.kill()
            throw error
        }
        do throws(SandboxError) { return try running.wait() } catch { throw .failed(error.sentence) }
    }

    private func startFeeding() throws(Flow) -> ScriptFeeder? {
        guard let source = call.shell.state.files[0]?.source, !(source is NullStream) else {
            pipes.closeInput()
            return nil
        }
        let feeder = ScriptFeeder(source, pipes, call.control.child(), number: call.control.nextNumber())
        guard call.control.start({ feeder.run() }) else {
            running.kill()
            throw .failed("there is no thread to feed it")
        }
        return feeder
    }

    /// Until both outputs are at their end and the program has ended.
    private func passOn() throws(Flow) {
        let sinks = [call.shell.state.files[1]?.sink, call.shell.state.files[2]?.sink]
        var isOpen = [true, true]
        while true {
            try call.control.check()
            if RunControl.isCurrentStopped { throw .stopped }
            var polled = [running.endDescriptor, isOpen[0] ? pipes.output : -1, isOpen[1] ? pipes.error : -1].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // In slices, so that a stop is felt.
            guard poll(&polled, 3, 20) > 0 else { continue }
            var hasRead = false
            for index in 0..<2 where polled[index + 1].revents != 0 {
                let bytes = pipes.read(index == 0 ? pipes.output : pipes.error)
                guard !bytes.isEmpty else {
                    isOpen[index] = false
                    continue
                }
                hasRead = true
                try sinks[index]?.write(bytes)
            }
            // What it wrote before its end is in the pipes by then.
            if polled[0].revents != 0, !hasRead { return }
        }
    }
}

/// Hands a stage's input to a program that may or may not want it.
///
/// Unchecked: `rest` is written by the feeding thread and read when that has ended.
private final class ScriptFeeder: @unchecked Sendable {
    private let source: any ByteSource
    private let pipes: ScriptPipes
    private let control: RunControl
    private let job: Job
    private var rest: [UInt8] = []

    init(_ source: any ByteSource, _ pipes: ScriptPipes, _ control: RunControl, number: Int) {
        self.source = source
        self.pipes = pipes
        self.control = control
        job = Job(number: number, control: control)
    }

    func run() {
        RunControl.makeCurrent(control)
        do throws(Flow) {
            while !control.isStopped {
                rest = try source.read(1 << 16, isLine: false)
                if rest.isEmpty { break }
                while !rest.isEmpty, !control.isStopped { rest.removeFirst(pipes.offer(rest)) }
            }
        } catch {
            // A stop, or a file that cannot be read: the program sees the end of its input.
        }
        if rest.isEmpty { pipes.closeInput() }
        control.finish(job, 0)
    }

    /// Ends the feeding, and gives back what the program did not read: it is the next command's.
    func finish(_ whole: RunControl) {
        control.stop()
        guard (try? whole.wait(for: job)) != nil else { return }
        let unread = pipes.takeUnread() + rest
        if !unread.isEmpty { source.unread(unread) }
    }
}

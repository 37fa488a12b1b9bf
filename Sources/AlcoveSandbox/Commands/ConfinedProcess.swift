internal import AlcoveCore
internal import CPosixShim

/// One run of a sandbox program: feeds it, reads it, holds it to its limits, and leaves nothing behind.
///
/// Not Sendable on purpose: all of it happens on the thread that calls `run()`. That thread spawns and outlives the
/// child, for the kernel's "die with parent" means the thread.
final class ConfinedProcess {
    /// How long a script may take to end by itself once it was asked to.
    static let grace: UInt64 = 200_000_000
    /// How often the tree's usage is looked at.
    private static let tick: UInt64 = 100_000_000
    /// How long the last output and the last process are waited for after the end.
    private static let afterwards: UInt64 = 500_000_000

    private let limits: CommandLimits
    private let stop: StopSignal
    private let output: (CommandOutput) -> Void
    private var input: ArraySlice<UInt8>

    private var process: Int32 = 0
    private var tree: (any ProcessTree)?
    private var inputPipe: Descriptor?
    private var streams: [Stream: Descriptor] = [:]
    private var wake: Descriptor
    private let wakeWriter: Descriptor

    private var reason: CommandResult.End?
    /// Said after the script's last word, for whoever reads what it wrote.
    private var verdict: String?
    private var killsAt: UInt64?
    private var nextLook: UInt64 = 0
    private var written = 0
    private var kept = 0

    /// What the sandbox program says about itself, at descriptor 3.
    private(set) var status = ""
    /// The beginning of standard error, for the case that no script was run.
    private(set) var firstError: [UInt8] = []

    private enum Stream: CaseIterable {
        case output
        case error
        case status
    }

    init(
        limits: CommandLimits, input: [UInt8], stop: StopSignal, output: @escaping (CommandOutput) -> Void
    ) throws(SandboxError) {
        self.limits = limits
        self.input = input[...]
        self.stop = stop
        self.output = output
        let pipe = try Pipe()
        wake = pipe.reader
        wakeWriter = pipe.writer
    }

    /// - Parameters:
    ///   - passed: Become 4, 5, ... in the child.
    ///   - makeTree: From the number of the sandbox program's process, which is our child until the end.
    func run(
        _ program: String, _ arguments: [String], environment: [String] = [], passed: [Descriptor] = [],
        makeTree: (Int32) -> any ProcessTree
    ) throws(SandboxError) -> CommandResult {
        let began = Platform.monotonicNanoseconds
        try spawn(program, arguments, environment, passed)
        let tree = makeTree(process)
        self.tree = tree
        let wakeWriter = self.wakeWriter
        stop.whenSet { _ = alcove_write_quietly(wakeWriter.raw, [1], 1) }
        guard let end = Descriptor(alcove_end_descriptor(process)) else {
            // Without it we would not notice the end; without the child nothing is lost but this run.
            let cause = Platform.describe(errno: errno)
            tree.kill()
            _ = reap()
            throw .noResources(cause: cause)
        }

        let deadline = began + UInt64(limits.seconds * 1e9)
        nextLook = began + ConfinedProcess.tick
        while !wait(for: end, until: deadline) { enforce(tree, deadline) }
        let code = reap()
        // What the script left in the background ends with it.
        tree.kill()
        drain(tree)
        if let verdict { output(.standardError(Array(verdict.utf8))) }
        return CommandResult(
            end: reason ?? ConfinedProcess.end(code), seconds: Double(Platform.monotonicNanoseconds - began) / 1e9,
            outputBytes: written)
    }

    private func spawn(
        _ program: String, _ arguments: [String], _ environment: [String], _ passed: [Descriptor]
    ) throws(SandboxError) {
        // The child's ends close when this returns: kept open here, they would keep the pipes open for ever.
        var childSide: [Descriptor] = []
        if input.isEmpty {
            guard let null = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)) else {
                throw .noResources(cause: Platform.describe(errno: errno))
            }
            childSide.append(null)
        } else {
            let pipe = try Pipe()
            childSide.append(pipe.reader)
            setNonBlocking(pipe.writer)
            inputPipe = pipe.writer
        }
        for stream in Stream.allCases {
            let pipe = try Pipe()
            childSide.append(pipe.writer)
            setNonBlocking(pipe.reader)
            streams[stream] = pipe.reader
        }
        childSide += passed
        let code = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                alcove_spawn(program, arguments, environment, childSide.map(\.raw), Int32(childSide.count), &process)
            }
        }
        guard code == 0 else { throw .noResources(cause: Platform.describe(errno: code)) }
    }

    // MARK: The loop

    /// Waits for anything to happen and takes what the pipes hold.
    ///
    /// - Returns: whether the child has ended.
    private func wait(for end: Descriptor?, until deadline: UInt64) -> Bool {
        var polled: [pollfd] = []
        var sources: [Stream] = []
        for (stream, descriptor) in streams {
            polled.append(pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0))
            sources.append(stream)
        }
        polled.append(pollfd(fd: end?.raw ?? -1, events: Int16(POLLIN), revents: 0))
        polled.append(pollfd(fd: end == nil || stop.isSet ? -1 : wake.raw, events: Int16(POLLIN), revents: 0))
        polled.append(pollfd(fd: inputPipe?.raw ?? -1, events: Int16(POLLOUT), revents: 0))

        let now = Platform.monotonicNanoseconds
        var until = min(deadline, now + ConfinedProcess.tick)
        if let killsAt { until = min(until, killsAt) }
        let milliseconds = until > now ? Int32((until - now) / 1_000_000 + 1) : 0
        guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return false }

        for (index, stream) in sources.enumerated() where polled[index].revents != 0 { take(stream) }
        if polled[sources.count + 2].revents != 0 { feed() }
        return polled[sources.count].revents != 0
    }

    private func enforce(_ tree: any ProcessTree, _ deadline: UInt64) {
        let now = Platform.monotonicNanoseconds
        if let killsAt {
            guard now >= killsAt else { return }
            tree.kill()
            // Should the kernel be slow about it, once more a little later.
            self.killsAt = now + ConfinedProcess.tick
            return
        }
        if stop.isSet {
            end(tree, .stopped, now)
        } else if now >= deadline {
            end(tree, .timedOut, now)
        } else if now >= nextLook {
            nextLook = now + ConfinedProcess.tick
            guard let usage = tree.usage() else { return }
            if usage.processes > limits.processes {
                punish(tree, "it started more than \(limits.processes) processes", now)
            } else if usage.residentBytes > limits.memoryBytes {
                punish(tree, "it used more than \(limits.memoryBytes >> 20) MiB of memory", now)
            }
        }
    }

    private func end(_ tree: any ProcessTree, _ reason: CommandResult.End, _ now: UInt64) {
        self.reason = reason
        killsAt = now + ConfinedProcess.grace
        tree.terminate()
    }

    private func punish(_ tree: any ProcessTree, _ what: String, _ now: UInt64) {
        reason = .signalled(SIGKILL)
        killsAt = now + ConfinedProcess.tick
        tree.kill()
        verdict = "Alcove ended the script: \(what).\n"
    }

    /// Reads what is still in the pipes, and waits until nothing of the tree is left.
    private func drain(_ tree: any ProcessTree) {
        inputPipe = nil
        let limit = Platform.monotonicNanoseconds + ConfinedProcess.afterwards
        while !streams.isEmpty || !tree.isGone, Platform.monotonicNanoseconds < limit {
            // Nothing left to poll: the kernel ends the tree in a millisecond or so.
            if streams.isEmpty { usleep(500) } else { _ = wait(for: nil, until: limit) }
            // It may have been learnt only now what there is to end.
            tree.kill()
        }
        streams = [:]
    }

    // MARK: Pipes

    private func take(_ stream: Stream) {
        guard let descriptor = streams[stream] else { return }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            let taken = read(descriptor.raw, buffer.baseAddress, 65_536)
            code = taken < 0 ? errno : 0
            count = max(0, taken)
        }
        if code == EAGAIN || code == EINTR { return }
        guard !bytes.isEmpty else {
            streams[stream] = nil
            return
        }
        if stream == .status {
            status += String(decoding: bytes, as: UTF8.self)
            tree?.learn(status)
            return
        }
        if stream == .error, firstError.count < 4096 { firstError += bytes.prefix(4096 - firstError.count) }
        written += bytes.count
        let room = limits.outputBytes - kept
        guard room > 0 else { return }
        let passedOn = bytes.count <= room ? bytes : Array(bytes[..<room])
        kept += passedOn.count
        output(stream == .output ? .standardOutput(passedOn) : .standardError(passedOn))
    }

    private func feed() {
        guard let inputPipe else { return }
        let count = input.withUnsafeBytes { alcove_write_quietly(inputPipe.raw, $0.baseAddress, min($0.count, 65_536)) }
        let code = errno
        if count < 0, code == EAGAIN || code == EINTR { return }
        if count > 0 { input.removeFirst(count) }
        // Also when nobody reads any more: the rest is then of no use.
        if count < 0 || input.isEmpty { self.inputPipe = nil }
    }

    // MARK: The end

    private func reap() -> Int32 {
        var code: Int32 = 0
        while waitpid(process, &code, 0) < 0, errno == EINTR {}
        return code
    }

    /// Sandbox programs report a signal as shells do: 128 and its number.
    private static func end(_ code: Int32) -> CommandResult.End {
        let signal = code & 0x7F
        guard signal == 0 else { return .signalled(signal) }
        let exit = (code >> 8) & 0xFF
        return (129...128 + 64).contains(exit) ? .signalled(exit - 128) : .exited(exit)
    }
}

extension CommandRequest {
    /// Runs the command on a thread of its own, as `ConfinedProcess` needs it. Cancelling the task stops the command.
    ///
    /// - Parameter body: Is told of the request's stop and of the task's by the same signal.
    func onItsThread(
        _ body: @escaping @Sendable (StopSignal) throws(SandboxError) -> CommandResult
    ) async throws -> CommandResult {
        let stop = StopSignal()
        self.stop.whenSet { stop.set() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isStarted = startThread(name: "alcove-command") {
                    continuation.resume(with: Result { try body(stop) })
                }
                if !isStarted {
                    continuation.resume(throwing: SandboxError.noResources(cause: "no thread can be started"))
                }
            }
        } onCancel: {
            stop.set()
        }
    }
}

/// Both ends of a pipe.
struct Pipe {
    let reader: Descriptor
    let writer: Descriptor

    init() throws(SandboxError) {
        var ends: [Int32] = [-1, -1]
        let code = alcove_pipe(&ends)
        guard code == 0, let reader = Descriptor(ends[0]), let writer = Descriptor(ends[1]) else {
            throw .noResources(cause: Platform.describe(errno: code))
        }
        self.reader = reader
        self.writer = writer
    }
}

private func setNonBlocking(_ descriptor: Descriptor) {
    _ = fcntl(descriptor.raw, F_SETFL, fcntl(descriptor.raw, F_GETFL) | O_NONBLOCK)
}

/// Calls `body` with a list of C strings that ends in nil.
func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) -> Result {
    var bytes: [CChar] = []
    var offsets: [Int] = []
    for string in strings {
        offsets.append(bytes.count)
        bytes += string.utf8CString
    }
    return bytes.withUnsafeBufferPointer { buffer in
        var pointers = offsets.map { offset -> UnsafePointer<CChar>? in buffer.baseAddress! + offset }
        pointers.append(nil)
        return body(pointers)
    }
}

internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveScript
internal import CPosixShim

/// Takes runs from a socket, makes a copy of the process for each, and says how it ended.
struct Waiting {
    /// Seconds without a run after which it goes.
    private static let patience: Int32 = 600

    let control: Int32
    private var runs: [Run] = []
    private var isClosing = false
    /// A copy with an engine that waits for the next JavaScript program.
    private var spare: Spare?
    /// Whether one is to be made when the descriptors of the last run are closed, with the network or without.
    private var wantsSpare: Bool?

    private struct Run {
        let process: Int32
        let end: Int32
        let socket: Int32
        /// Its standard error, for the last word.
        let error: Int32
        let residentBytes: UInt64
        var verdict: String?

        func close() { for descriptor in [end, socket, error] { AlcoveCore.close(descriptor) } }
    }

    private struct Spare {
        let process: Int32
        let end: Int32
        let socket: Int32

        func discard() {
            close(socket)
            close(end)
            kill(process, SIGKILL)
            var code: Int32 = 0
            while waitpid(process, &code, 0) < 0, errno == EINTR {}
        }
    }

    /// Milliseconds between two looks at how much memory the runs hold.
    private static let tick: Int32 = 30

    init(control: Int32) { self.control = control }

    mutating func run() {
        while !(isClosing && runs.isEmpty) {
            var polled = [pollfd(fd: isClosing ? -1 : control, events: Int16(POLLIN), revents: 0)]
            for run in runs {
                polled.append(pollfd(fd: run.end, events: Int16(POLLIN), revents: 0))
                polled.append(pollfd(fd: run.socket, events: Int16(POLLIN), revents: 0))
            }
            let ready = poll(&polled, nfds_t(polled.count), runs.isEmpty ? Waiting.patience * 1000 : Waiting.tick)
            if ready < 0, errno == EINTR { continue }
            if ready == 0, runs.isEmpty {
                // What is sent from now on fails at the sender, who makes another; what was sent is still done.
                shutdown(control, Int32(SHUT_RDWR))
                while take() {}
                isClosing = true
                continue
            }
            endTheGreedy()
            for index in runs.indices.reversed() {
                if polled[1 + 2 * index].revents != 0 {
                    finish(index)
                } else if polled[2 + 2 * index].revents != 0 {
                    kill(runs[index].process, SIGKILL)
                }
            }
            if polled[0].revents != 0, !take() {
                // Whoever asked is gone, and all that was asked goes with it.
                for run in runs { kill(run.process, SIGKILL) }
                return
            }
            // When nothing runs that it would slow down.
            if runs.isEmpty, let allowsNetwork = wantsSpare {
                makeSpare(allowsNetwork: allowsNetwork)
                wantsSpare = nil
            }
        }
    }

    private mutating func finish(_ index: Int) {
        let run = runs.remove(at: index)
        var code: Int32 = 0
        while waitpid(run.process, &code, 0) < 0, errno == EINTR {}
        let signal = code & 0x7F
        let status = signal == 0 ? (code >> 8) & 0xFF : 128 + signal
        if let verdict = run.verdict {
            let bytes = Array("alcove: The program was ended: \(verdict).\n".utf8)
            _ = alcove_write_quietly(run.error, bytes, bytes.count)
        }
        _ = withUnsafeBytes(of: status) { alcove_write_quietly(run.socket, $0.baseAddress, 4) }
        run.close()
    }

    /// Ends programs that hold more memory than they may.
    private mutating func endTheGreedy() {
        for index in runs.indices where runs[index].verdict == nil {
            guard Waiting.residentBytes(of: runs[index].process) > runs[index].residentBytes else { continue }
            runs[index].verdict = "it used more than \(runs[index].residentBytes >> 20) MiB of memory"
            kill(runs[index].process, SIGKILL)
        }
    }

    private static func residentBytes(of process: Int32) -> UInt64 {
        let file = open("/proc/\(process)/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = read(file, &buffer, buffer.count)
        let fields = buffer.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// - Returns: false when nobody will ask any more.
    private mutating func take() -> Bool {
        var descriptors = [Int32](repeating: -1, count: 8)
        let count = Int(alcove_receive_descriptors(control, &descriptors, 8))
        guard count > 0 else { return false }
        defer { for descriptor in descriptors.prefix(count) where descriptor >= 0 { close(descriptor) } }
        guard count == 5, let request = ScriptRun.read(descriptors[3]) else { return true }
        if request.language == .javascript, let spare {
            self.spare = nil
            if alcove_send_descriptors(spare.socket, descriptors, 4) == 0 {
                close(spare.socket)
                add(spare.process, end: spare.end, request, &descriptors)
                wantsSpare = request.allowsNetwork
                return true
            }
            spare.discard()
        }
        ScriptRun.prepare(request.language)
        let process = ScriptRun.fork(request.language)
        if process == 0 {
            setpgid(0, 0)
            closeOthers()
            for number in 0..<3 { dup2(descriptors[number], Int32(number)) }
            for descriptor in descriptors.prefix(count) { close(descriptor) }
            close(control)
            ScriptRun.run(request)
        }
        guard process > 0 else { return true }
        let end = alcove_end_descriptor(process)
        guard end >= 0 else {
            kill(process, SIGKILL)
            return true
        }
        add(process, end: end, request, &descriptors)
        if request.language == .javascript { wantsSpare = request.allowsNetwork }
        return true
    }

    private mutating func add(
        _ process: Int32, end: Int32, _ request: ScriptRequest, _ descriptors: inout [Int32]
    ) {
        runs.append(
            Run(
                process: process, end: end, socket: descriptors[4], error: descriptors[2],
                residentBytes: request.residentBytes))
        descriptors[4] = -1
        descriptors[2] = -1
    }

    private func closeOthers() {
        for run in runs { run.close() }
        if let spare {
            close(spare.socket)
            close(spare.end)
        }
    }

    /// A copy for the program after this one. Whether the network is allowed is the same for all in a sandbox.
    private mutating func makeSpare(allowsNetwork: Bool) {
        var ends: [Int32] = [-1, -1]
        guard spare == nil, alcove_socket_pair(&ends) == 0 else { return }
        let process = alcove_fork()
        if process == 0 {
            setpgid(0, 0)
            closeOthers()
            close(ends[0])
            close(control)
            ScriptRun.wait(at: ends[1], allowsNetwork: allowsNetwork)
        }
        close(ends[1])
        let end = process > 0 ? alcove_end_descriptor(process) : -1
        guard end >= 0 else {
            close(ends[0])
            if process > 0 { kill(process, SIGKILL) }
            return
        }
        spare = Spare(process: process, end: end, socket: ends[0])
    }
}

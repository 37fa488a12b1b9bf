internal import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// The parent's side of `FastCopyWorker`: starts it, hears it, ends it.
struct FastCopyProcess {
    /// The program and words that serve `FastCopyWorker`.
    let command: [String]

    /// Runs to the end; blocks, so it has a thread of its own.
    ///
    /// - Parameter progress: what is done, and the part of it that is done, 0 to 1.
    func run(
        source: String, copy: String, type: FastCopyType, threads: Int?, stop: StopSignal,
        progress: (FastCopyProgress) -> Void
    ) throws(FastCopyError) -> FastCopyMeasure {
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        guard alcove_pipe(&toChild) == 0 else { throw .noChild(reason: Platform.describe(errno: errno)) }
        defer { close(toChild[1]) }
        guard alcove_pipe(&fromChild) == 0 else {
            close(toChild[0])
            throw .noChild(reason: Platform.describe(errno: errno))
        }
        defer { close(fromChild[0]) }
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        var process: Int32 = 0
        let code = FastCopyProcess.spawn(command, [toChild[0], fromChild[1], nothing], &process)
        for descriptor in [toChild[0], fromChild[1], nothing] { close(descriptor) }
        guard code == 0 else { throw .noChild(reason: Platform.describe(errno: code)) }

        let living = Living(process)
        stop.whenSet { living.end() }
        let request: JSONValue = [
            "source": .string(source), "copy": .string(copy), "type": .string(type.rawValue),
            "threads": threads.map { JSONValue($0) } ?? .null,
        ]
        let line = request.bytes() + [0x0A]
        _ = line.withUnsafeBytes { alcove_write_quietly(toChild[1], $0.baseAddress, $0.count) }

        let last = read(fromChild[0], progress)
        let signal = living.wait()
        if stop.isSet { throw .stopped }
        if let measure = last?["result"].flatMap(FastCopyMeasure.init) { return measure }
        if let message = last?["error"]?.string {
            throw .worker(code: last?["code"]?.string ?? "optimize_failed", message: message)
        }
        throw .crashed(name: GGUFName.ofFile(source), signal: signal)
    }

    /// All lines to the end; the last that is no progress.
    private func read(_ descriptor: Int32, _ progress: (FastCopyProgress) -> Void) -> JSONValue? {
        var pending: [UInt8] = [], last: JSONValue?
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = AlcoveCore.read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return last }
            pending += piece[..<count]
            while let end = pending.firstIndex(of: 0x0A) {
                let line = try? JSONValue(parsing: Array(pending[..<end]))
                pending.removeSubrange(...end)
                guard let line else { continue }
                if let phase = line["phase"]?.string.flatMap(FastCopyProgress.Phase.init) {
                    let done = line["done"]?.double ?? 0, all = line["of"]?.double ?? 0
                    progress(FastCopyProgress(phase: phase, fraction: all > 0 ? min(1, max(0, done / all)) : 0))
                } else {
                    last = line
                }
            }
            // Nothing it says is long; what is, is not what it should be.
            if pending.count > 1 << 20 { return last }
        }
    }

    static func spawn(_ command: [String], _ descriptors: [Int32], _ process: inout Int32) -> Int32 {
        let words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        let settings = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", "GGML_NO_BACKTRACE=1"]
        let environment: [UnsafeMutablePointer<CChar>?] = settings.map { strdup($0) }
        defer { (words + environment).forEach { free($0) } }
        let arguments: [UnsafePointer<CChar>?] = words.map { UnsafePointer($0) } + [nil]
        let variables: [UnsafePointer<CChar>?] = environment.map { UnsafePointer($0) } + [nil]
        return alcove_spawn(command[0], arguments, variables, descriptors, Int32(descriptors.count), &process)
    }

    /// A child that may be ended from any thread, and never another process that has its number by then.
    private final class Living: Sendable {
        private let process: Mutex<Int32?>
        init(_ process: Int32) { self.process = Mutex(process) }

        func end() {
            process.withLock { process in
                guard let process else { return }
                #if canImport(Darwin)
                _ = Darwin.kill(process, SIGKILL)
                #else
                _ = Glibc.kill(process, SIGKILL)
                #endif
            }
        }

        /// The signal that ended it, or 0. To be called when its output has ended.
        func wait() -> Int32 {
            let process = process.withLock { process in
                defer { process = nil }
                return process
            }
            guard let process else { return 0 }
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            return status & 0x7F
        }
    }
}

/// How far the making of a copy is.
package struct FastCopyProgress: Sendable, Hashable {
    package enum Phase: String, Sendable {
        case quantizing, measuring
    }
    package var phase: Phase
    /// 0 to 1, of this phase.
    package var fraction: Double
}

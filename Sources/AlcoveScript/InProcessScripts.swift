internal import AlcoveCore
package import AlcoveSandbox
internal import CPosixShim
internal import Synchronization

/// Runs Python and JavaScript in this process, as on a device that forbids others.
///
/// JavaScript has a thread and an engine for each program. Python has one interpreter and one thread: programs wait for
/// one another, so one that waits for the output of another in the same pipeline waits for ever and is ended by its time.
/// What is inside one long call of a library cannot be stopped.
package struct InProcessScripts: ScriptRunner {
    private let packages: [String]

    /// - Parameter packages: Folders of Python packages that programs may import.
    package init(packages: [String] = []) { self.packages = packages }

    package func start(
        _ request: ScriptRequest, in place: ScriptPlace, streams: [Int32]
    ) throws(SandboxError) -> any RunningScript {
        let copies = streams.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        guard let running = ScriptOnThread(copies), copies.allSatisfy({ $0 >= 0 }) else {
            throw .noResources(cause: Platform.describe(errno: EMFILE))
        }
        let packages = self.packages
        switch request.language {
        case .python:
            PythonThread.shared.run(running) {
                PythonProgram.run(request, in: place, packages: packages, streams: copies, isAlone: false)
            }
        case .javascript:
            let isStarted = startThread(name: "javascript", stackBytes: 64 << 20) {
                let paths = ConfinedPaths(workspace: place.workspace, readOnly: place.readOnly)
                running.finish(JavaScriptProgram(paths: paths, streams: copies, stop: running.stop).run(request))
            }
            if !isStarted { throw .noResources(cause: "the system has no thread to give") }
        }
        return running
    }
}

/// A program on a thread of this process.
final class ScriptOnThread: RunningScript {
    let stop = StopSignal()
    let endDescriptor: Int32
    private let end: Int32
    private let streams: [Int32]
    private let status = Mutex<Int32?>(nil)

    init?(_ streams: [Int32]) {
        self.streams = streams
        var ends: [Int32] = [-1, -1]
        guard alcove_pipe(&ends) == 0 else { return nil }
        endDescriptor = ends[0]
        end = ends[1]
    }

    deinit {
        close(endDescriptor)
        close(end)
        for stream in streams where stream >= 0 { close(stream) }
    }

    var isDone: Bool { status.withLock { $0 != nil } }

    func finish(_ code: Int32) {
        status.withLock { $0 = code }
        _ = alcove_write_quietly(end, [1], 1)
    }

    func kill() {
        stop.set()
        PythonThread.shared.interrupt(self)
    }

    func wait() -> Int32 {
        var wish = pollfd(fd: endDescriptor, events: Int16(POLLIN), revents: 0)
        while poll(&wish, 1, -1) < 0, errno == EINTR {}
        return status.withLock { $0 } ?? 70
    }
}

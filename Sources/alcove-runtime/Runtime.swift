internal import AlcoveCore
internal import AlcoveSandbox
internal import AlcoveScript
internal import CPosixShim

/// Waits within the sandbox for programs to run. Started by Alcove with a socket as descriptor 3, never by a person.
///
/// It has one thread, so that a copy of it can be made for each run with what is loaded already.
@main
enum Runtime {
    static func main() {
        guard isSocket(3) else {
            let words = "alcove-runtime: This program is started by alcove itself: see alcove node --help.\n"
            _ = words.withCString { write(2, $0, strlen($0)) }
            exit(64)
        }
        _ = fcntl(3, F_SETFD, FD_CLOEXEC)
        unsetenv("LD_LIBRARY_PATH")
        _ = alcove_hide_memory()
        var waiting = Waiting(control: 3)
        waiting.run()
        exit(0)
    }

    private static func isSocket(_ descriptor: Int32) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
    }
}

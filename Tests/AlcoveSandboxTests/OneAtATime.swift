import AlcoveCore
import AlcoveSandbox
import Testing

/// Tests that measure time or load the machine, and would disturb each other. Most of them run real sandboxes.
@Suite(
    .serialized, .enabled(if: SandboxHere.isPossible, "no sandbox can be made inside a changed root folder (chroot)"))
enum OneAtATime {}

/// Whether a sandbox can be made at all where the tests run.
enum SandboxHere {
    /// False in one case only: the tests run inside a chroot, where the kernel lets nobody make a namespace of their own.
    /// Anywhere else a sandbox that cannot be had is a failure, never a skip.
    static let isPossible: Bool = {
        #if os(Linux)
        if case .ready = BubblewrapRunner.probe() { return true }
        guard isChrooted else { return true }
        let words = "\nSKIPPED: the sandbox tests. This is a chroot, and no sandbox can be made in one.\n\n"
        _ = words.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        return false
        #else
        return true
        #endif
    }()

    private static var isChrooted: Bool {
        var ours = stat(), first = stat()
        guard stat("/", &ours) == 0, stat("/proc/1/root/.", &first) == 0 else { return false }
        return ours.st_ino != first.st_ino || ours.st_dev != first.st_dev
    }
}

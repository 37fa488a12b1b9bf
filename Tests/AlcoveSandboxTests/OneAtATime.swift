import AlcoveCore
import AlcoveSandbox
import Foundation
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

    /// In a chroot the root folder is no mount of its own, and bubblewrap cannot begin.
    private static var isChrooted: Bool {
        guard let text = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else { return false }
        return !text.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ")
            return fields.count > 4 && fields[4] == "/"
        }
    }
}

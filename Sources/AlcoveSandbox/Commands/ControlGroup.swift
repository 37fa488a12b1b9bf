#if os(Linux)
internal import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// The kernel's own limit on how many processes and threads there are at a time, for scripts that root starts.
///
/// `RLIMIT_NPROC` does not bind the superuser, and counting from outside loses to what doubles meanwhile: a fork bomb
/// took a whole two-core machine before it was seen. Source: the kernel's `pids` controller, both its versions.
final class ControlGroup {
    private let path: String
    private static let made = Atomic<Int>(0)

    /// - Returns: nil when the system gives us none, as in most containers. Then we only count.
    init?(tasks: Int) {
        guard let parent = ControlGroup.parent else { return nil }
        path = "\(parent)/alcove-\(getpid())-\(ControlGroup.made.add(1, ordering: .relaxed).newValue)"
        guard mkdir(path, 0o755) == 0 else { return nil }
        guard ControlGroup.write("\(tasks)", to: path + "/pids.max") else {
            rmdir(path)
            return nil
        }
    }

    /// What the process starts from now on belongs to the group too.
    func add(_ process: Int32) -> Bool { ControlGroup.write("\(process)", to: path + "/cgroup.procs") }

    deinit { rmdir(path) }

    // MARK: Where groups are made

    private static let parent: String? = {
        let own = text(of: "/proc/self/cgroup").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        var folder: String
        if let old = own.first(where: { $0.count == 3 && $0[1].split(separator: ",").contains("pids") }) {
            folder = "/sys/fs/cgroup/pids" + old[2]
        } else if let new = own.first(where: { $0.count == 3 && $0[0] == "0" }) {
            // Beside our own: in version 2 a group that limits its children has no processes itself.
            folder = "/sys/fs/cgroup" + new[2].split(separator: "/").dropLast().map { "/" + $0 }.joined()
            guard text(of: folder + "/cgroup.subtree_control").split(whereSeparator: \.isWhitespace).contains("pids")
            else { return nil }
        } else {
            return nil
        }
        if folder.hasSuffix("/") { folder.removeLast() }
        removeLeftovers(in: folder)
        return folder
    }()

    /// Of hosts that were killed. A group with processes in it cannot be removed.
    private static func removeLeftovers(in folder: String) {
        for name in Folder.names(in: folder) {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == "alcove", let owner = Int32(parts[1]), owner > 0,
                kill(owner, 0) != 0, errno == ESRCH
            else { continue }
            rmdir(folder + "/" + name)
        }
    }

    private static func text(of path: String) -> String {
        guard let file = Descriptor(open(path, O_RDONLY | O_CLOEXEC)) else { return "" }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(file.raw, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
    }

    private static func write(_ text: String, to path: String) -> Bool {
        guard let file = Descriptor(open(path, O_WRONLY | O_CLOEXEC)) else { return false }
        let bytes = Array(text.utf8)
        return alcove_write_quietly(file.raw, bytes, bytes.count) == bytes.count
    }
}
#endif

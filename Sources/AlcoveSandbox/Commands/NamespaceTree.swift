#if os(Linux)
internal import AlcoveCore
internal import CPosixShim
internal import Synchronization

/// The processes of a namespace of their own. When its first process dies, the kernel ends all others, whatever they did
/// to get away; and it is only gone when they are.
final class NamespaceTree: ProcessTree {
    private struct First {
        let process: Int32
        let descriptor: Descriptor
    }

    /// The program that made the namespace and ends with it.
    private let program: Descriptor?
    private let first = Mutex<First?>(nil)
    private let earlyKills = Atomic<Int>(0)
    /// So often in vain, 100 ms apart, and the program is ended whatever becomes of what it has started.
    private static let patience = 4

    /// - Parameter program: A child of this process, not yet waited for.
    init(program: Int32) { self.program = Descriptor(alcove_process_descriptor(program)) }

    func learn(_ status: String) {
        guard let process = NamespaceTree.number(after: "\"child-pid\":", in: status) else { return }
        first.withLock { first in
            guard first == nil, let descriptor = Descriptor(alcove_process_descriptor(process)) else { return }
            first = First(process: process, descriptor: descriptor)
        }
        if earlyKills.load(ordering: .relaxed) > 0 { kill() }
    }

    func terminate() {
        guard let first = first.withLock({ $0 }) else { return kill() }
        let below = members(of: first.process).filter { $0.key != first.process }
        // Nothing has been started yet that could tidy up.
        if below.isEmpty { return kill() }
        for (process, entry) in below {
            guard let descriptor = Descriptor(alcove_process_descriptor(process)),
                // Still the one that was seen, and not a new one that has its number.
                ProcessEntry(process)?.parent == entry.parent
            else { continue }
            _ = alcove_signal_process(descriptor.raw, SIGTERM)
        }
    }

    func kill() {
        if let first = first.withLock({ $0 }) {
            _ = alcove_signal_process(first.descriptor.raw, SIGKILL)
        } else if earlyKills.add(1, ordering: .relaxed).newValue < NamespaceTree.patience {
            // Ended now, the program might leave behind a process that waits for it for ever, not yet told to die with
            // it. In a moment it says which that is.
            return
        }
        if let program { _ = alcove_signal_process(program.raw, SIGKILL) }
    }

    func usage() -> TreeUsage? {
        guard let first = first.withLock({ $0 }) else { return nil }
        let all = members(of: first.process)
        return TreeUsage(processes: all.count, residentBytes: all.values.reduce(0) { $0 + $1.residentBytes })
    }

    var isGone: Bool {
        guard let first = first.withLock({ $0 }) else { return true }
        var polled = pollfd(fd: first.descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0
    }

    /// A process and all below it. In a namespace orphans go to its first process: none is missed.
    private func members(of root: Int32) -> [Int32: ProcessEntry] {
        var all: [Int32: ProcessEntry] = [:]
        for name in Folder.names(in: "/proc") {
            if let process = Int32(name), process >= 1, let entry = ProcessEntry(process) { all[process] = entry }
        }
        var belongs: [Int32: Bool] = [root: true]
        func isMember(_ process: Int32, depth: Int = 0) -> Bool {
            if let known = belongs[process] { return known }
            let answer =
                depth < 10_000 && all[process].map { $0.parent > 0 && isMember($0.parent, depth: depth + 1) } ?? false
            belongs[process] = answer
            return answer
        }
        return all.filter { isMember($0.key) }
    }

    static func number(after key: String, in text: String) -> Int32? {
        var rest = Substring(text)
        while !rest.isEmpty, !rest.hasPrefix(key) { rest.removeFirst() }
        return Int32(rest.dropFirst(key.count).drop { $0 == " " }.prefix { $0.isNumber })
    }
}

/// What /proc says of a process to everybody.
struct ProcessEntry: Sendable {
    let parent: Int32
    let residentBytes: UInt64

    init?(_ process: Int32) {
        guard let file = Descriptor(open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)) else { return nil }
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(file.raw, &buffer, buffer.count)
        // The name is in brackets and may hold brackets and blanks itself.
        guard count > 0, let bracket = buffer[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = buffer[(bracket + 1)..<count].split(separator: UInt8(ascii: " "))
        guard fields.count > 21, let parent = Int32(String(decoding: fields[1], as: UTF8.self)),
            let pages = UInt64(String(decoding: fields[21], as: UTF8.self))
        else { return nil }
        self.parent = parent
        residentBytes = pages * UInt64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
#endif

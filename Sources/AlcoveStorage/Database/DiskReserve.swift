internal import AlcoveCore
internal import Synchronization

/// Room on the disk that is held for the moment when there is no other: a file beside the database that is given up so
/// that a start, or a deletion that frees more, can still write.
///
/// Given up, the file stays and is empty: until there is room to take it again, only what runs under `spending` may write,
/// since anything else would use up what deleting needs.
package final class DiskReserve: Sendable {
    /// Whether what this task writes may use the reserve: starts, and whatever frees room.
    @TaskLocal package static var isSpendable = false

    /// Runs something that may use the reserve.
    package static func spending<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await $isSpendable.withValue(true, operation: body)
    }

    /// Largest it is; what is held is an eighth of the disk where that is less.
    private static let mostBytes = 16 << 20
    /// A smaller one is of no use, and none is held.
    private static let leastBytes = 256 << 10

    /// What is left to others where it is taken again.
    private static let spareBytes = 64 << 10

    let path: String
    private let state: Mutex<State>

    private enum State {
        /// There never was room for one, or nobody has asked for it yet.
        case none
        case held
        case givenUp
    }

    package init(folder: String) {
        path = folder + "/alcove.reserve"
        state = Mutex(StorageFiles.size(path).map { $0 > 0 ? .held : .givenUp } ?? .none)
    }

    package var isHeld: Bool { state.withLock { $0 == .held } }
    /// It was given up, and there has been no room for it since.
    package var isGivenUp: Bool { state.withLock { $0 == .givenUp } }

    /// Holds the room: for the first time where the disk has twice as much free, later as soon as there is enough.
    ///
    /// - Returns: whether it is held now.
    @discardableResult
    package func take() -> Bool {
        state.withLock { state in
            if state == .held { return true }
            guard let bytes = wish() else { return false }
            let needed = state == .none ? 2 * bytes : bytes + DiskReserve.spareBytes
            guard Int(clamping: DiskReserve.free(path)) >= needed, allocate(bytes) else { return false }
            state = .held
            return true
        }
    }

    /// Gives the room to whoever writes next.
    ///
    /// - Returns: false when there was none to give.
    package func giveUp() -> Bool {
        state.withLock { state in
            guard state == .held else { return false }
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            guard ftruncate(descriptor, 0) == 0 else { return false }
            fsync(descriptor)
            state = .givenUp
            return true
        }
    }

    /// Bytes that are free on the disk of a file or folder.
    package static func free(_ path: String) -> UInt64 {
        var status = statvfs()
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard statvfs(path, &status) == 0 || statvfs(folder, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    private func wish() -> Int? {
        var status = statvfs()
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard statvfs(folder, &status) == 0 else { return nil }
        let total = UInt64(status.f_blocks) * UInt64(status.f_frsize)
        let bytes = min(DiskReserve.mostBytes, Int(clamping: total / 8)) & ~4095
        return bytes >= DiskReserve.leastBytes ? bytes : nil
    }

    /// Makes the file so long, with its blocks behind it: a hole would hold nothing.
    private func allocate(_ bytes: Int) -> Bool {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        if reserve(bytes, descriptor), fsync(descriptor) == 0 { return true }
        ftruncate(descriptor, 0)
        return false
    }

    #if os(Linux)
    private func reserve(_ bytes: Int, _ descriptor: Int32) -> Bool { posix_fallocate(descriptor, 0, bytes) == 0 }
    #else
    private func reserve(_ bytes: Int, _ descriptor: Int32) -> Bool {
        // Not zeros: a disk that compresses would keep nothing of them.
        let piece = Platform.randomBytes(64 << 10)
        var done = 0
        while done < bytes {
            let count = write(descriptor, piece, min(piece.count, bytes - done))
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            done += count
        }
        return true
    }
    #endif
}

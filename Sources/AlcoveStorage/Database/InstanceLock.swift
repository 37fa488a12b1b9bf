internal import AlcoveCore

/// Holds a folder for this process, so that two of them never write one store.
///
/// The lock is the system's (flock), so it goes with the process, however that ends; the file stays behind and holds the
/// number of the process that had it last. It is also refused to a second holder within one process.
final class InstanceLock: Sendable {
    private let descriptor: Int32

    init(folder: String) throws(StorageError) {
        let path = folder + "/alcove.lock"
        // Close on exec: a command we start must not keep the folder locked after we are gone.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .folderUnusable(path: folder, cause: Platform.describe(errno: errno))
        }
        let code = InstanceLock.take(descriptor)
        guard code == 0 else {
            let holder = InstanceLock.number(in: descriptor)
            close(descriptor)
            if code == EWOULDBLOCK { throw .inUse(path: folder, process: holder) }
            throw .folderUnusable(path: folder, cause: "it cannot be locked, \(Platform.describe(errno: code))")
        }
        self.descriptor = descriptor
        let text = Array("\(getpid())\n".utf8)
        // Only a courtesy for the refusal's sentence: a full disk must not keep anyone out of their chats.
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
    }

    deinit {
        // Not left to `close`: a command being started just now has a copy of the descriptor until it executes.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Takes the lock; gives 0, or the errno of the refusal.
    ///
    /// For a fifth of a second a holder may still be one that was killed and is not wholly gone.
    private static func take(_ descriptor: Int32) -> Int32 {
        for attempt in 0... {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return 0 }
            if errno == EINTR { continue }
            if errno != EWOULDBLOCK || attempt >= 20 { return errno }
            usleep(10_000)
        }
        return EWOULDBLOCK
    }

    private static func number(in descriptor: Int32) -> Int {
        var buffer = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(0, count)).prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self)) ?? 0
    }
}

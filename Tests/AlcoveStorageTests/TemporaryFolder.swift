import AlcoveCore
import AlcoveStorage
import Synchronization
import Testing

/// A folder of a test's own, gone when the test is.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        path = "\(base)/alcove-storage-\(ChatID())"
        try #require(mkdir(path, 0o700) == 0)
    }

    // One level of files, and folders that a test left behind.
    deinit {
        for name in names { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Names of what is in it, sorted.
    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = try #require(fopen("\(path)/\(name)", "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    func bytes(of name: String) throws -> [UInt8] {
        let file = try #require(fopen("\(path)/\(name)", "r"))
        defer { fclose(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { all += buffer[..<count] }
        return all
    }
}

/// A clock that moves one second with every look.
final class SteppingClock: Sendable {
    private let count = Counter()
    var now: @Sendable () -> Timestamp {
        { [count] in Timestamp(milliseconds: 1_700_000_000_000 + count.next() * 1_000) }
    }
}

private final class Counter: Sendable {
    private let value = Mutex<Int64>(0)
    func next() -> Int64 {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}

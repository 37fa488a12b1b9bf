internal import AlcoveCore
internal import Synchronization

/// The program's log: a file under the root, one older one kept.
final class LogFile: Sendable {
    /// Past this a new file is begun.
    private static let limit = 1 << 20

    private let path: String
    private let written = Mutex<Int>(0)

    init(folder: String) {
        mkdir(folder, 0o700)
        path = folder + "/alcove.log"
        var status = stat()
        if stat(path, &status) == 0 { written.withLock { $0 = Int(status.st_size) } }
    }

    /// What a program wrote last of what begins so, and when; nil when the end of its log has none.
    static func lastLine(in folder: String, beginning word: String) -> String? {
        let descriptor = open(folder + "/alcove.log", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = lseek(descriptor, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = pread(descriptor, &bytes, bytes.count, max(0, size - off_t(bytes.count)))
        guard count > 0 else { return nil }
        // "date time  words"
        for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").reversed() {
            let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[2].isEmpty, parts[3].hasPrefix(word) else { continue }
            return "at \(parts[1].prefix(8)), \(parts[3].dropFirst(word.count))"
        }
        return nil
    }

    /// Adds a line. A log that cannot be written is no reason to stop anything.
    func write(_ line: String) {
        let text = "\(Timestamps.local())  \(line)\n"
        written.withLock { count in
            if count > LogFile.limit {
                rename(path, path.dropLast(4) + ".1.log")
                count = 0
            }
            let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let bytes = Array(text.utf8)
            count += bytes.count
            _ = bytes.withUnsafeBytes { AlcoveCore.write(descriptor, $0.baseAddress, $0.count) }
        }
    }
}

enum Timestamps {
    /// Local time with milliseconds.
    static func local() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        localtime_r(&now.tv_sec, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
        let seconds = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let milliseconds = String(1000 + now.tv_nsec / 1_000_000).dropFirst()
        return "\(seconds).\(milliseconds)"
    }

    /// Seconds since 1970 of a local time written `2026-01-02T03:04:05`; nil when it is written otherwise.
    static func seconds(local text: String) -> Int64? {
        let digits = text.split(whereSeparator: { !$0.isASCII || !$0.isNumber }).compactMap { Int32($0) }
        guard digits.count == 6, text.utf8.count == 19 else { return nil }
        var parts = tm()
        parts.tm_year = digits[0] - 1900
        parts.tm_mon = digits[1] - 1
        parts.tm_mday = digits[2]
        parts.tm_hour = digits[3]
        parts.tm_min = digits[4]
        parts.tm_sec = digits[5]
        parts.tm_isdst = -1
        let seconds = mktime(&parts)
        return seconds == -1 ? nil : Int64(seconds)
    }
}

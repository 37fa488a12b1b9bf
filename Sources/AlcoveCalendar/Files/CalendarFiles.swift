package import AlcoveAgent
package import AlcoveCore
package import AlcoveStorage

/// Events out of .ics files: one, or all of a folder.
///
/// libical reads them: recurrence, exceptions, moved occurrences and time zones are its business.
package struct CalendarFiles: CalendarSource {
    /// Most bytes of a file, most files of a folder, how deep its folders are looked into.
    package static let fileLimit = 8 << 20, filesLimit = 2_000, depthLimit = 3

    private let path: String
    private let zone: String?

    /// - Parameters:
    ///   - path: A file, or a folder.
    ///   - zone: The device's time zone, for events without one; nil is UTC.
    package init(path: String, zone: String? = CalendarFiles.deviceZone) {
        self.path = path
        self.zone = zone
    }

    /// - Throws: `CalendarError` when none of it can be read. Of several files, one that cannot is told as a warning.
    package func events(from: Timestamp, to: Timestamp, stop: StopSignal) async throws -> CalendarEvents {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = startThread(name: "alcove.calendar") {
                continuation.resume(with: Result { try self.read(from, to) })
            }
            if !isStarted { continuation.resume(throwing: CalendarError.unreadable(path: path, code: EAGAIN)) }
        }
    }

    private func read(_ from: Timestamp, _ to: Timestamp) throws -> CalendarEvents {
        var status = stat()
        guard stat(path, &status) == 0 else { throw CalendarError.unreadable(path: path, code: errno) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder, access(path, R_OK | X_OK) != 0 { throw CalendarError.unreadable(path: path, code: errno) }
        let files = isFolder ? CalendarFiles.files(in: path, depth: CalendarFiles.depthLimit) : [path]
        if files.isEmpty { throw CalendarError.empty(path: path) }
        var found = CalendarText(from: from, to: to, zone: zone)
        var failures: [CalendarError] = []
        for file in files.prefix(CalendarFiles.filesLimit) {
            do throws(CalendarError) {
                let text = try CalendarFiles.text(of: file)
                if !found.take(text) { throw CalendarError.noCalendar(path: file) }
            } catch {
                if files.count == 1 { throw error }
                failures.append(error)
            }
        }
        if failures.count == files.count, let first = failures.first { throw first }
        let more = failures.count > 1 ? " (and \(failures.count - 1) more)" : ""
        return CalendarEvents(
            found.sorted, warning: failures.first.map { "Not all could be read: \($0.message)\(more)" })
    }

    private static func files(in folder: String, depth: Int) -> [String] {
        Folder.names(in: folder).flatMap { name -> [String] in
            // Hidden ones are what a synchronising program keeps beside its calendars.
            if name.hasPrefix(".") { return [] }
            let path = folder + "/" + name
            var status = stat()
            guard stat(path, &status) == 0 else { return [] }
            if status.st_mode & S_IFMT == S_IFDIR { return depth > 1 ? files(in: path, depth: depth - 1) : [] }
            return name.lowercased().hasSuffix(".ics") ? [path] : []
        }
    }

    private static func text(of path: String) throws(CalendarError) -> [CChar] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(path: path, code: errno) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .noCalendar(path: path)
        }
        guard status.st_size <= fileLimit else { throw .tooLarge(path: path) }
        var bytes = [CChar](repeating: 0, count: Int(status.st_size) + 1)
        var count = 0
        while count < bytes.count - 1 {
            let read = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + count, $0.count - 1 - count, off_t(count))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw .unreadable(path: path, code: errno) }
            if read == 0 { break }
            count += read
        }
        bytes[count] = 0
        return bytes
    }

    /// The name of the device's time zone; nil where it has none.
    package static var deviceZone: String? {
        if let name = getenv("TZ").map({ String(cString: $0) }), !name.isEmpty {
            return name.hasPrefix(":") ? String(name.dropFirst()) : name
        }
        guard let real = realpath("/etc/localtime", nil) else { return nil }
        defer { free(real) }
        let path = String(cString: real)
        guard let range = path.firstRange(of: "/zoneinfo/") else { return nil }
        return String(path[range.upperBound...])
    }
}

/// Why a calendar was not read.
package enum CalendarError: UserFacingError, Equatable {
    case unreadable(path: String, code: Int32)
    case empty(path: String)
    case noCalendar(path: String)
    case tooLarge(path: String)

    package var code: String {
        switch self {
        case .unreadable: "calendar_unreadable"
        case .empty: "calendar_empty"
        case .noCalendar: "calendar_damaged"
        case .tooLarge: "calendar_too_large"
        }
    }

    package var message: String {
        switch self {
        case .unreadable(let path, let code):
            "The calendar at \(path) cannot be read: \(Platform.describe(errno: code))."
        case .empty(let path): "The folder \(path) holds no .ics file."
        case .noCalendar(let path): "\(path) is no calendar."
        case .tooLarge(let path): "\(path) is larger than the \(CalendarFiles.fileLimit >> 20) MB a calendar may have."
        }
    }

    package var hint: String? { "Check calendarPath in the settings." }

    package var place: ErrorPlace {
        switch self {
        case .unreadable: .host
        default: .data
        }
    }
}

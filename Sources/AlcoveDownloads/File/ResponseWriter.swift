internal import AlcoveCore

/// Takes a response: decides what it is, and writes what of it belongs into the part.
final class ResponseWriter: FetchReceiver {
    /// Nil until the head has come.
    private(set) var plan: ResponsePlan?
    /// What went wrong here, and not with the connection.
    private(set) var fault: DownloadError?

    private let part: PartFile
    private let state: RequestState
    private let url: String
    private let progress: (DownloadProgress) -> Void
    private var total: UInt64?
    private var note: PartFile.Note?
    private var start: UInt64 = 0
    private var end: UInt64?

    init(_ part: PartFile, _ state: RequestState, url: String, progress: @escaping (DownloadProgress) -> Void) {
        self.part = part
        self.state = state
        self.url = url
        self.progress = progress
    }

    func take(_ head: ResponseHead) -> Bool {
        let plan = ResponsePlan(head, state)
        self.plan = plan
        guard case .write(let start, let end, let total, let validator) = plan else { return false }
        self.total = total
        self.end = end
        if let total, total > start, let free = part.freeBytes, total - start > free + (part.length - start) {
            fault = .diskFull(path: part.path, needed: total - part.length, free: free)
            return false
        }
        self.start = start
        note = PartFile.Note(url: url, validator: validator, total: total)
        if total == 0 { return begin() }
        progress(DownloadProgress(phase: .downloading, received: start, total: total))
        return true
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard begin() else { return false }
        // More than the range that was announced is not of this file.
        if let end, part.length + UInt64(bytes.count) > end {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[..<Int(end - min(end, part.length))])
            if !rest.isEmpty { _ = write(rest) }
            return false
        }
        if let total, part.length + UInt64(bytes.count) > total {
            try? part.reset()
            fault = .wrongSize(name: state.name, expected: total, actual: part.length + UInt64(bytes.count))
            return false
        }
        return write(bytes)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            try part.append(bytes)
        } catch {
            fault = error
            return false
        }
        progress(DownloadProgress(phase: .downloading, received: part.length, total: total))
        return true
    }

    /// Before the first byte: what is there of another version goes, and then the note says what comes. In this order a kill
    /// in between leaves nothing, and never a wrong beginning.
    private func begin() -> Bool {
        guard let note else { return true }
        do {
            try part.cut(to: start)
            try part.set(note)
        } catch {
            fault = error
            return false
        }
        self.note = nil
        return true
    }
}

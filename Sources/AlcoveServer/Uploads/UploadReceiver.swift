internal import AlcoveCore
internal import AlcoveStorage

/// A file that has come in whole and is on the disk, under a name that nobody sees.
struct ReceivedFile: Sendable {
    var name: UploadName
    var shownName: String
    var path: String
    var bytes: Int
}

/// Takes one request's files to the disk piece by piece: a file of any size passes through a few pieces of 64 KiB.
///
/// An actor on a queue of its own, since writing blocks.
actor UploadReceiver {
    /// Bytes promised at a time when a client does not say how many will come.
    private static let step = 8 << 20
    /// Bytes of form fields that are no files and are passed over.
    private static let fieldLimit = 1 << 20

    private let store: UploadStore
    private let limits: UploadLimits
    private let executor = QueueExecutor(label: "alcove.upload")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var files: [ReceivedFile] = []
    private var current: Current?
    private var fieldBytes = 0
    private var promised = 0
    private var received = 0

    /// The part that is coming in.
    private struct Current {
        var part: MultipartPart
        var shownName: String
        /// Bytes that came before it was clear what they are.
        var head: [UInt8] = []
        var name: UploadName?
        var file: IncomingFile?
        var bytes = 0
    }

    init(store: UploadStore, limits: UploadLimits) {
        self.store = store
        self.limits = limits
    }

    /// Reads the body to its end.
    ///
    /// - Throws: `UploadError`, `MultipartError`, `HTTPError`; whatever came in is then removed.
    func receive(_ body: HTTPRequestBody, contentType: String) async throws -> [ReceivedFile] {
        do {
            var limits = MultipartParser.Limits()
            limits.parts = 100
            var parser = try MultipartParser(contentType: contentType, limits: limits)
            if let declared = body.declaredLength {
                guard declared <= self.limits.requestBytes else {
                    throw UploadError.tooLarge(name: "The request", limit: self.limits.fileBytes)
                }
                try await promise(declared)
            } else {
                try await promise(UploadReceiver.step)
            }
            for try await chunk in body.chunks() {
                received += chunk.count
                if received > promised { try await promise(UploadReceiver.step) }
                parser.feed(chunk)
                while let event = try parser.next() { try take(event) }
            }
            try parser.finish()
            guard !files.isEmpty else { throw UploadError.noFile }
            return files
        } catch {
            await discard()
            throw error
        }
    }

    /// Takes a file of this device in, as if it had been uploaded.
    ///
    /// - Parameter stem: What its stored name begins with: the same file taken in again takes its own place.
    func receive(path: String, name: String, stem: String) async throws -> ReceivedFile {
        do {
            let shown = ShownName.clean(name, fallback: "file")
            let source = AlcoveCore.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard source >= 0 else { throw UploadError.writing(errno) }
            defer { close(source) }
            var info = stat()
            guard fstat(source, &info) == 0 else { throw UploadError.writing(errno) }
            guard info.st_size > 0 else { throw UploadError.empty(name: shown) }
            guard Int(info.st_size) <= limits.fileBytes else {
                throw UploadError.tooLarge(name: shown, limit: limits.fileBytes)
            }
            try await promise(Int(info.st_size))
            var piece = [UInt8](repeating: 0, count: 1 << 20)
            var file: IncomingFile?, stored: UploadName?
            while true {
                let count = read(source, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw UploadError.writing(errno) }
                if count == 0 { break }
                if file == nil {
                    let ending = try UploadNaming.ending(
                        name: shown, type: nil, head: Array(piece.prefix(min(count, UploadNaming.headBytes))))
                    guard let kind = UploadKind(ending: ending) else {
                        throw UploadError.unsupported(name: shown, ending: ending)
                    }
                    stored = UploadName(ending: ending, kind: kind, stem: stem)
                    file = try IncomingFile(store.incoming + "/" + hexText(Platform.randomBytes(16)))
                }
                do throws(UploadError) { try file?.write(Array(piece[..<count])) } catch {
                    if let path = file?.path { unlink(path) }
                    throw error
                }
            }
            guard let file, let stored else { throw UploadError.empty(name: shown) }
            try file.finish()
            let received = ReceivedFile(name: stored, shownName: shown, path: file.path, bytes: file.bytes)
            files.append(received)
            return received
        } catch {
            await discard()
            throw error
        }
    }

    /// Removes what came in and gives the room back. Files that were kept meanwhile are elsewhere and stay.
    func discard() async {
        if let file = current?.file { unlink(file.path) }
        current = nil
        for file in files { unlink(file.path) }
        files = []
        await finish()
    }

    /// Gives the promised room back.
    func finish() async {
        let bytes = promised
        promised = 0
        if bytes > 0 { await store.release(bytes) }
    }

    private func promise(_ bytes: Int) async throws(UploadError) {
        try await store.reserve(bytes, limits)
        promised += bytes
    }

    private func take(_ event: MultipartParser.Event) throws(UploadError) {
        switch event {
        case .part(let part): try begin(part)
        case .bytes(let bytes): try take(bytes)
        case .partEnd: try end()
        case .end: break
        }
    }

    private func begin(_ part: MultipartPart) throws(UploadError) {
        current = nil
        guard part.name == "file", let sent = part.fileName else { return }
        guard files.count < limits.files else { throw .tooManyFiles(limit: limits.files) }
        current = Current(part: part, shownName: ShownName.clean(sent, fallback: "file"))
    }

    private func take(_ bytes: [UInt8]) throws(UploadError) {
        guard var current else {
            fieldBytes += bytes.count
            if fieldBytes > UploadReceiver.fieldLimit {
                throw .tooLarge(name: "A field beside the files", limit: UploadReceiver.fieldLimit)
            }
            return
        }
        self.current = nil  // one reference only, or every piece would copy the head
        defer { self.current = current }
        current.bytes += bytes.count
        if current.bytes > limits.fileBytes { throw .tooLarge(name: current.shownName, limit: limits.fileBytes) }
        if let file = current.file { return try file.write(bytes) }
        current.head += bytes
        if current.head.count >= UploadNaming.headBytes { try open(&current) }
    }

    /// Decides what the file is, and begins to write it: nothing that is refused reaches the disk.
    private func open(_ current: inout Current) throws(UploadError) {
        let ending = try UploadNaming.ending(
            name: current.shownName, type: current.part.contentType,
            head: Array(current.head.prefix(UploadNaming.headBytes)))
        guard let kind = UploadKind(ending: ending) else {
            throw .unsupported(name: current.shownName, ending: ending)
        }
        let file = try IncomingFile(store.incoming + "/" + hexText(Platform.randomBytes(16)))
        current.name = UploadName(ending: ending, kind: kind)
        current.file = file
        try file.write(current.head)
        current.head = []
    }

    private func end() throws(UploadError) {
        guard var current else { return }
        var isOver = false
        // What fails is still ours to remove.
        defer { self.current = isOver ? nil : current }
        // What a browser sends for a form in which nothing was chosen.
        if current.bytes == 0, current.part.fileName == "" {
            isOver = true
            return
        }
        if current.bytes == 0 { throw .empty(name: current.shownName) }
        if current.file == nil { try open(&current) }
        guard let file = current.file, let name = current.name else { return }
        try file.finish()
        files.append(ReceivedFile(name: name, shownName: current.shownName, path: file.path, bytes: file.bytes))
        isOver = true
    }
}

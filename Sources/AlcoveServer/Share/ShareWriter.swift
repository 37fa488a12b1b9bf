package import AlcoveCore

/// Puts envelopes into the inbox's folder. Works whether a host runs or not; what it has returned from is on the disk.
package struct ShareWriter: Sendable {
    /// Largest file, in bytes: that of an upload.
    package static let fileBytes = 500 << 20

    let folder: String

    package init(folder: String) { self.folder = folder }

    /// - Parameters:
    ///   - files: Paths of files to be copied in; those of links are followed.
    ///   - source: The program that shares, for people.
    /// - Returns: the envelope's id.
    /// - Throws: `InputError`; then nothing was shared.
    package func write(
        files: [String], text: String?, url: String?, title: String?, source: String
    ) throws(InputError) -> String {
        var envelope = ShareEnvelope()
        envelope.source = source
        envelope.title = title
        envelope.text = text
        envelope.url = try url.map { url throws(InputError) in try ShareWriter.checked(url) }
        let isEmpty = files.isEmpty && url == nil && (text ?? "").allSatisfy(\.isWhitespace)
        if isEmpty {
            throw InputError(
                code: "nothing_to_share", message: "There is nothing to share.",
                hint: "Name files, or give --text or --url.")
        }
        if let text, text.utf8.count > ShareEnvelope.textLimit {
            throw InputError(
                code: "text_too_long",
                message: "The text is longer than \(ShareEnvelope.textLimit >> 10) KB.", hint: "Share it as a file.")
        }
        guard files.count <= ShareEnvelope.fileLimit else {
            throw InputError(
                code: "too_many_files",
                message: "\(files.count) files are too many; \(ShareEnvelope.fileLimit) is the most.")
        }
        return try finish(envelope, files: files)
    }

    private func finish(_ envelope: ShareEnvelope, files: [String]) throws(InputError) -> String {
        var envelope = envelope
        guard Folder.make(folder) else { throw ShareWriter.failure("made", folder) }
        let staging = "\(folder)/.staging-\(envelope.id)"
        guard mkdir(staging, 0o700) == 0 else { throw ShareWriter.failure("made", staging) }
        do throws(InputError) {
            for (number, path) in files.enumerated() {
                let bytes = try ShareWriter.copy(path, to: "\(staging)/\(number)")
                let name = path.split(separator: "/").last.map(String.init) ?? "file"
                envelope.files.append(ShareEnvelope.File(place: "\(number)", name: name, bytes: bytes))
            }
            try ShareWriter.write(envelope.json.bytes(.indented), to: "\(staging)/\(ShareEnvelope.manifestName)")
            guard UploadStore.synchronise(staging), rename(staging, "\(folder)/\(envelope.id)") == 0,
                UploadStore.synchronise(folder)
            else { throw ShareWriter.failure("finished", folder) }
        } catch {
            Folder.remove(staging)
            throw error
        }
        return envelope.id
    }

    /// Puts words into the box of the page, for a person to read and send.
    ///
    /// - Parameter chat: For `continue`: the chat's id, its first six digits or more, or `last`.
    /// - Returns: the envelope's id.
    /// - Throws: `InputError`; then nothing waits.
    package func write(_ entry: EntryPoint, text: String, chat: String? = nil) throws(InputError) -> String {
        var envelope = ShareEnvelope()
        envelope.source = "alcove open"
        envelope.entry = entry
        envelope.text = EntryPoint.clean(text)
        envelope.chat = chat
        guard entry == .continue || envelope.text != "" else {
            throw InputError(code: "nothing_to_say", message: "There are no words to put into the box.")
        }
        if entry == .continue, !ShareWriter.isChat(chat ?? "") {
            throw InputError(
                code: "bad_chat", message: "\"\(EntryPoint.clean(chat ?? "").prefix(80))\" names no chat.",
                hint: "Give the chat's id, its first six digits or more, or last.")
        }
        return try finish(envelope, files: [])
    }

    private static func isChat(_ name: String) -> Bool {
        name == "last"
            || (6...32).contains(name.utf8.count)
                && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func checked(_ url: String) throws(InputError) -> String {
        let isWeb = ["http://", "https://"].contains { url.lowercased().hasPrefix($0) }
        guard isWeb, url.utf8.count <= 4_096, !url.contains(where: { $0.isWhitespace || $0.isNewline }) else {
            throw InputError(code: "bad_url", message: "\"\(url.prefix(200))\" is not a web address.")
        }
        return url
    }

    private static func failure(_ verb: String, _ path: String) -> InputError {
        InputError(
            code: "share_failed", message: "\(path) cannot be \(verb): \(Platform.describe(errno: errno)).",
            place: errno == ENOSPC || errno == EDQUOT ? .space : .host)
    }

    /// - Returns: how many bytes it has.
    private static func copy(_ path: String, to target: String) throws(InputError) -> Int {
        let source = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard source >= 0 else { throw failure("read", path) }
        defer { close(source) }
        var info = stat()
        guard fstat(source, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw InputError(code: "not_a_file", message: "\(path) is not a file.", hint: "Share the files in it.")
        }
        guard Int(info.st_size) <= fileBytes else {
            throw InputError(
                code: "file_too_large", message: "\(path) is larger than \(fileBytes >> 20) MB.", place: .space)
        }
        let file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("written", target) }
        defer { close(file) }
        var piece = [UInt8](repeating: 0, count: 1 << 20), total = 0
        while true {
            let count = read(source, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", path) }
            if count == 0 { break }
            total += count
            guard total <= fileBytes, put(piece[..<count], file) else { throw failure("written", target) }
        }
        guard fsync(file) == 0 else { throw failure("written", target) }
        return total
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(InputError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("written", path) }
        defer { close(file) }
        guard put(bytes[...], file), fsync(file) == 0 else { throw failure("written", path) }
    }

    private static func put(_ bytes: ArraySlice<UInt8>, _ file: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { AlcoveCore.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

internal import AlcoveCore

/// The pictures and sounds of a chat that its model is given, message by message.
///
/// The newest come first when there are more than a model takes; what is left out is said in its message's words.
struct ShownMedia: Sendable {
    let abilities: MediaAbilities
    let folder: String
    let shelf: MediaShelf

    /// What a message's files come to.
    struct Shown: Sendable {
        var media: [MediaInput] = []
        /// Sentences in brackets for what could not be shown, before the message's words.
        var notes: [String] = []
        /// Files whose pages are shown as pictures.
        var drawn: Set<UploadName> = []
    }

    /// - Parameters:
    ///   - there: Uploads that are there.
    ///   - newest: The message that is asked about now; what of it cannot be shown is refused, unless tools have it.
    ///   - hasTools: Whether tools can work on the files.
    /// - Throws: `InputError` for a file of the newest message that cannot be read.
    func shown(
        _ messages: [Int: MessageAttachments], there: Set<UploadName>, newest: Int, hasTools: Bool
    ) async throws -> [Int: Shown] {
        guard abilities.sees || abilities.hears else { return [:] }
        var room = abilities.pictures
        var shown: [Int: Shown] = [:]
        for index in messages.keys.sorted(by: >) {
            var one = Shown()
            for file in messages[index]?.files ?? [] where there.contains(file.name) {
                guard let wish = wish(for: file) else { continue }
                guard MediaShelf.pictures(wish) <= max(room, 0) else {
                    one.notes.append("[\(file.shownName) is no longer shown.]")
                    continue
                }
                do {
                    var media = try await shelf.media(
                        of: MediaFile(path: folder + "/" + file.name.text, kind: file.name.ending), wish)
                    if file.name.kind == .pdf { media = Array(media.prefix(room)) }
                    one.media += media.map { $0.named(file.shownName) }
                    room -= media.reduce(0) { $0 + $1.pictureCount }
                    if file.name.kind == .pdf { one.drawn.insert(file.name) }
                } catch let error as MediaError {
                    guard hasTools || index != newest else { throw ShownMedia.refusal(of: file.shownName, error) }
                    one.notes.append("[\(file.shownName) cannot be shown: \(error.message)]")
                }
            }
            if !one.media.isEmpty || !one.notes.isEmpty { shown[index] = one }
        }
        return shown
    }

    static func refusal(of name: String, _ error: MediaError) -> InputError {
        InputError(
            code: error.code, message: "\(name) cannot be shown to the model. \(error.message)",
            hint: error.hint ?? "Leave it out, or send it in another form.", place: error.place)
    }

    /// What of a file is for the model's senses; nil for what it reads as text, or has no sense for.
    private func wish(for file: Attachment) -> MediaShelf.Wish? {
        switch file.name.kind {
        case .image: abilities.sees ? .picture(area: abilities.pictureArea) : nil
        case .video:
            abilities.sees ? .video(frames: max(1, abilities.videoFrames), area: abilities.frameArea) : nil
        case .audio:
            abilities.hears ? .sound(rate: abilities.soundRate, seconds: abilities.soundSeconds) : nil
        case .pdf:
            abilities.sees && isScan(file)
                ? .pages(count: UploadDigest.pageCount, area: abilities.pictureArea) : nil
        case .document, .text: nil
        }
    }

    /// Pages were drawn when the file came in, because no text was found in it.
    private func isScan(_ file: Attachment) -> Bool { access(folder + "/" + file.name.page(1), R_OK) == 0 }
}

extension MediaShelf {
    /// Most pictures that a wish comes to.
    static func pictures(_ wish: Wish) -> Int {
        switch wish {
        case .picture: 1
        case .video(let frames, _): frames
        case .pages: 1
        case .sound: 0
        }
    }
}

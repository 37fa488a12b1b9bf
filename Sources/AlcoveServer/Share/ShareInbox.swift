internal import AlcoveCore
internal import AlcoveStorage

/// What waits to be talked about: envelopes in a folder, offered one at a time, gone when a chat has taken them.
///
/// A name in the folder says how far an envelope is: `.staging-ID` is being written, `ID` is ready, `ID.claimed` has been
/// offered, `ID.acknowledged` is done with. Every step is a rename, so a kill at any of them loses nothing and repeats
/// nothing: files are taken in under names made from the envelope's id.
package actor ShareInbox {
    enum Refusal: UserFacingError {
        case several
        case unavailable

        var code: String { self == .several ? "multiple_shared_drafts" : "shared_draft_unavailable" }
        var place: ErrorPlace { .request }
        var message: String {
            switch self {
            case .several: "A message takes one shared thing at a time."
            case .unavailable: "What was shared is being sent already, or is not there any more."
            }
        }
        var hint: String? { self == .several ? "Send them one after another." : nil }
    }

    /// An envelope as the page puts it into a new chat.
    struct Offer: Sendable {
        var envelope: ShareEnvelope
        var text: String
        var attachments: [JSONValue]
        /// Sentences about what could not be taken along.
        var notices: [String]
    }

    /// Takes a file in as an upload: its path, its name for people, and what its stored name is made from.
    typealias Intake = @Sendable (_ path: String, _ name: String, _ stem: String) async throws -> JSONValue

    /// Seconds after which half an envelope is nobody's any more.
    private static let staleSeconds = 86_400

    private let folder: String
    /// The head of the queue, taken in.
    private var offer: Offer?
    /// Envelopes that are being sent.
    private var leased: Set<String> = []
    /// Only one takes in at a time.
    private let order = AsyncLock()

    init(folder: String) { self.folder = folder }

    /// Envelopes that wait, one that is offered included.
    func pendingCount() -> Int { waiting().count }

    /// The oldest envelope, for a new chat. Looking takes nothing: it is offered until it is sent or discarded.
    func claim(_ intake: @escaping Intake) async throws -> Offer? {
        try await order.run { try await self.takeHead(intake) }
    }

    /// Holds an envelope for a message that is being sent.
    ///
    /// - Throws: `Refusal.unavailable` when it is not the one offered, or is held already.
    func lease(_ id: String) throws(Refusal) {
        guard waiting().first == id, leased.insert(id).inserted else { throw .unavailable }
    }

    /// The message was refused: the envelope is offered again.
    func release(_ id: String) { leased.remove(id) }

    /// The message is kept: the envelope is done with.
    func acknowledge(_ id: String) {
        leased.remove(id)
        if offer?.envelope.id == id { offer = nil }
        let done = "\(folder)/\(id).acknowledged"
        // Where the first does not exist the second does.
        if rename("\(folder)/\(id).claimed", done) != 0 { _ = rename("\(folder)/\(id)", done) }
        Folder.remove(done)
    }

    /// Throws an envelope away.
    ///
    /// - Returns: the names of its uploads, which nobody needs any more; nil when it is not the one offered, or is being
    ///   sent.
    func discard(_ id: String) -> [String]? {
        guard waiting().first == id, !leased.contains(id) else { return nil }
        let uploads = offer?.envelope.id == id ? offer?.attachments.compactMap { $0["file"]?.string } : nil
        acknowledge(id)
        return uploads ?? []
    }

    // MARK: The folder

    /// Ids of what waits, the oldest first. Half envelopes of long ago are taken away on the way.
    private func waiting() -> [String] {
        var ids: [String] = []
        for name in Folder.names(in: folder) {
            if name.hasPrefix(".staging-") {
                var info = stat()
                if stat("\(folder)/\(name)", &info) == 0, time(nil) - Int(info.written.tv_sec) > Self.staleSeconds {
                    Folder.remove("\(folder)/\(name)")
                }
            } else if name.hasSuffix(".acknowledged") {
                Folder.remove("\(folder)/\(name)")
            } else {
                let id = name.hasSuffix(".claimed") ? String(name.dropLast(8)) : name
                if ShareEnvelope.isID(id) { ids.append(id) }
            }
        }
        return ids.sorted()
    }

    private func takeHead(_ intake: Intake) async throws -> Offer? {
        while let id = waiting().first {
            if let offer, offer.envelope.id == id { return offer }
            let place = "\(folder)/\(id).claimed"
            if rename("\(folder)/\(id)", place) != 0, access(place, F_OK) != 0 { return nil }
            guard let envelope = ShareInbox.read(place, id: id) else {
                // Not ours, or damaged: put aside where it can be looked at, so that the next one is seen.
                _ = rename(place, "\(folder)/.unreadable-\(id)")
                continue
            }
            let taken = try await takeIn(envelope, from: place, intake)
            offer = taken
            return taken
        }
        offer = nil
        return nil
    }

    private static func read(_ place: String, id: String) -> ShareEnvelope? {
        let descriptor = open("\(place)/\(ShareEnvelope.manifestName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0, let file = OpenFile(descriptor), file.stamp.size <= 1 << 20,
            let bytes = FileRange(file: file, offset: 0, count: file.stamp.size).bytes(),
            let json = try? JSONValue(parsing: bytes)
        else { return nil }
        return ShareEnvelope(json: json, id: id)
    }

    /// - Throws: `CancellationError` only.
    private func takeIn(
        _ envelope: ShareEnvelope, from place: String, _ intake: Intake
    ) async throws -> Offer {
        var offer = Offer(envelope: envelope, text: "", attachments: [], notices: [])
        for file in envelope.files {
            let stem = String(SHA256.hex("\(envelope.id)/\(file.place)".utf8).prefix(32))
            do {
                offer.attachments.append(try await intake("\(place)/\(file.place)", file.name, stem))
            } catch let error as CancellationError {
                throw error
            } catch {
                let reason = (error as? any UserFacingError)?.sentence ?? "It cannot be read."
                offer.notices.append("\(ShownName.clean(file.name, fallback: "A file")) was left out. \(reason)")
            }
        }
        if envelope.entry != nil {
            offer.text = EntryPoint.clean(envelope.text ?? "")
            return offer
        }
        // Text from another program goes into the box, where the person reads it before it is sent.
        offer.text = [envelope.text, envelope.title.flatMap { envelope.url == nil ? nil : $0 }, envelope.url]
            .compactMap { $0?.isEmpty == false ? $0 : nil }.joined(separator: "\n")
        return offer
    }
}

internal import AlcoveCore

/// Something that another program, or a person on the terminal, wants to talk about: it waits in a folder until a chat
/// takes it.
package struct ShareEnvelope: Sendable, Hashable {
    package struct File: Sendable, Hashable {
        /// Within the envelope: the file's number.
        var place: String
        /// As the person knows it.
        var name: String
        var bytes: Int
    }

    /// 32 hexadecimal digits; older ones come first.
    package let id: String
    /// The program it came from, for the page's chip; may be empty.
    var source = ""
    var title: String?
    var text: String?
    var url: String?
    var files: [File] = []
    /// Words for the box of a chat, rather than something to talk about.
    var entry: EntryPoint?
    /// The chat to go on with: its id, the first digits of it, or `last`.
    var chat: String?

    /// Longest text, in bytes: what is longer is a file.
    package static let textLimit = 256 << 10
    package static let fileLimit = 20

    /// A new one.
    init() {
        let time = String(max(0, Timestamps.milliseconds), radix: 16)
        id = String(repeating: "0", count: 12 - min(12, time.count)) + time + hexText(Platform.randomBytes(10))
    }

    static func isID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    // MARK: As a file

    static let manifestName = "envelope.json"

    var json: JSONValue {
        [
            "id": .string(id), "source": .string(source), "title": JSONValue(title), "text": JSONValue(text),
            "url": JSONValue(url), "entry": JSONValue(entry?.rawValue), "chat": JSONValue(chat),
            "files": .array(
                files.map { ["place": .string($0.place), "name": .string($0.name), "bytes": JSONValue($0.bytes)] }),
        ]
    }

    /// Nil when it is no envelope of this id: somebody else wrote it, or half of it.
    init?(json: JSONValue, id: String) {
        guard json["id"]?.string == id else { return nil }
        self.id = id
        source = json["source"]?.string ?? ""
        title = json["title"]?.string
        text = json["text"]?.string
        url = json["url"]?.string
        entry = json["entry"]?.string.flatMap(EntryPoint.init(rawValue:))
        chat = json["chat"]?.string
        for item in json["files"]?.array ?? [] {
            // A place is a number, so that an envelope never names a file outside itself.
            guard let place = item["place"]?.string, Int(place) != nil, let name = item["name"]?.string else {
                return nil
            }
            files.append(File(place: place, name: name, bytes: item["bytes"]?.int ?? 0))
        }
        if files.count > ShareEnvelope.fileLimit { return nil }
    }
}

private enum Timestamps {
    static var milliseconds: Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }
}

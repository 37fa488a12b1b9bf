internal import AlcoveCore

/// A file that a person attached to a message.
struct Attachment: Sendable, Hashable {
    var name: UploadName
    var shownName: String
}

/// What one message of a chat says about uploads.
///
/// Only bare names of stored uploads are taken; a path, wherever it leads, is refused. Lists that are null count as absent.
struct MessageAttachments: Sendable, Hashable {
    /// The person's files, in order, each once.
    var files: [Attachment] = []
    /// Pictures meant for a model that sees: pictures, video frames, pages.
    var pictures: [String] = []
    var sounds: [UploadName] = []

    init() {}

    /// - Parameter index: Of the message, for the sentence of a refusal.
    init(_ message: JSONValue, at index: Int) throws(InputError) {
        let place = "messages[\(index)]"
        let list = try MessageAttachments.list(message, "attachments", place)
        if let list {
            for (number, item) in list.enumerated() { try add(item, "\(place).attachments[\(number)]") }
        } else {
            let paths = try MessageAttachments.names(message, "textFilePaths", place)
            let shown = try MessageAttachments.list(message, "textFileNames", place)
            for (number, path) in paths.enumerated() {
                let title = shown.flatMap { number < $0.count ? $0[number].string : nil }
                add(path, title)
            }
        }
        for key in ["imagePaths", "stillImagePaths"] {
            for name in try MessageAttachments.served(message, key, place) {
                see(name)
                // A client that lists no attachments has attached what it shows.
                if list == nil, let upload = UploadName(name) { add(upload, nil) }
            }
        }
        for key in ["videoFilePaths", "audioPaths"] {
            for name in try MessageAttachments.names(message, key, place) {
                if key == "audioPaths" { hear(name) } else { see(name.text) }
                if list == nil { add(name, nil) }
            }
        }
    }

    private mutating func add(_ item: JSONValue, _ place: String) throws(InputError) {
        guard let object = item.object, let text = object["file"]?.string else {
            throw InputError(
                code: "bad_attachment", message: "\(place).file should be the name that POST /api/upload answered.")
        }
        guard let name = UploadName(text) else { throw MessageAttachments.outside(place + ".file") }
        for key in ["previewFile", "frames"] {
            guard let value = object[key], !value.isNull else { continue }
            let names = value.array ?? [value]
            guard names.allSatisfy({ $0.string.map(UploadName.isServed) ?? false }) else {
                throw MessageAttachments.outside("\(place).\(key)")
            }
        }
        add(name, object["fileName"]?.string)
        switch name.kind {
        case .image, .video: see(name.text)
        case .audio: hear(name)
        case .pdf, .document, .text: break
        }
    }

    private mutating func add(_ name: UploadName, _ shown: String?) {
        guard !files.contains(where: { $0.name == name }) else { return }
        files.append(Attachment(name: name, shownName: ShownName.clean(shown ?? "", fallback: name.text)))
    }

    private mutating func see(_ name: String) { if !pictures.contains(name) { pictures.append(name) } }
    private mutating func hear(_ name: UploadName) { if !sounds.contains(name) { sounds.append(name) } }

    // MARK: Reading

    private static func list(_ json: JSONValue, _ key: String, _ place: String) throws(InputError) -> [JSONValue]? {
        guard let value = json[key], !value.isNull else { return nil }
        guard let list = value.array else {
            throw InputError(code: "bad_attachment", message: "\(place).\(key) should be a list.")
        }
        return list
    }

    private static func texts(_ json: JSONValue, _ key: String, _ place: String) throws(InputError) -> [String] {
        let list = try list(json, key, place) ?? []
        let texts = list.compactMap(\.string)
        guard texts.count == list.count else {
            throw InputError(code: "bad_attachment", message: "\(place).\(key) should be a list of names.")
        }
        return texts
    }

    private static func names(_ json: JSONValue, _ key: String, _ place: String) throws(InputError) -> [UploadName] {
        var names: [UploadName] = []
        for text in try texts(json, key, place) {
            guard let name = UploadName(text) else { throw outside("\(place).\(key)") }
            names.append(name)
        }
        return names
    }

    private static func served(_ json: JSONValue, _ key: String, _ place: String) throws(InputError) -> [String] {
        let names = try texts(json, key, place)
        guard names.allSatisfy(UploadName.isServed) else { throw outside("\(place).\(key)") }
        return names
    }

    private static func outside(_ place: String) -> InputError {
        InputError(
            code: "attachment_outside_uploads", message: "\(place) names something that is no stored upload.",
            hint: "Upload the file first and send the name that was answered.")
    }

    /// The message as it is kept: what can be made from a stored name is not kept beside it.
    static func stored(_ message: JSONValue) -> JSONValue {
        guard var object = message.object, let list = object["attachments"]?.array else { return message }
        object["attachments"] = .array(
            list.map { item in
                guard var attachment = item.object, let name = attachment["file"]?.string.flatMap(UploadName.init)
                else {
                    return item
                }
                for key in ["url", "previewUrl", "frameUrls", "textContent", "ok"] { attachment[key] = nil }
                attachment["fileName"] = .string(
                    ShownName.clean(attachment["fileName"]?.string ?? "", fallback: name.text))
                attachment["mediaType"] = .string(name.kind.rawValue)
                return .object(attachment)
            })
        return .object(object)
    }
}

internal import AlcoveCore

/// A picture or a sound in a message of a program: its bytes as they came, and the part of the body they came in.
struct OpenAIMedia: Sendable {
    static let kinds: Set<String> = ["image_url", "input_audio"]
    /// Most of one request.
    static let most = 64

    private let bytes: [UInt8]
    /// As a file name's ending.
    private let ending: String
    private let isSound: Bool
    private let place: String

    /// - Returns: nil for a part that is none.
    /// - Throws: for one whose bytes are not in the request itself, or are none.
    init?(_ part: JSONValue, at place: String) throws(OpenAIError) {
        self.place = place
        switch part["type"]?.string {
        case "image_url"?:
            let inner = "\(place).image_url"
            guard let url = part["image_url"]?["url"]?.string ?? part["image_url"]?.string else {
                throw OpenAIMedia.wrong("\(inner).url", "should be a data: address")
            }
            guard url.hasPrefix("data:") else {
                throw OpenAIError(
                    code: "remote_picture",
                    "\"\(inner).url\" is an address elsewhere, and nothing is fetched from there.",
                    hint: "Send the picture itself, as data:image/png;base64,...", param: "\(inner).url")
            }
            guard let comma = url.firstIndex(of: ","), url[..<comma].hasSuffix(";base64"),
                let bytes = Base64.bytes(String(url[url.index(after: comma)...]))
            else { throw OpenAIMedia.wrong("\(inner).url", "should be data:TYPE;base64, and the picture's bytes") }
            self.bytes = bytes
            isSound = false
            guard let found = OpenAIMedia.picture(bytes) else {
                throw OpenAIMedia.wrong("\(inner).url", "should hold a PNG, JPEG, GIF, WebP, BMP or HEIC picture")
            }
            ending = found
        case "input_audio"?:
            let inner = "\(place).input_audio"
            guard let text = part["input_audio"]?["data"]?.string, let bytes = Base64.bytes(text), !bytes.isEmpty else {
                throw OpenAIMedia.wrong("\(inner).data", "should be the sound's bytes in base64")
            }
            let format = part["input_audio"]?["format"]?.string ?? "wav"
            guard ["wav", "mp3", "flac", "ogg", "m4a"].contains(format) else {
                throw OpenAIMedia.wrong("\(inner).format", "should be wav, mp3, flac, ogg or m4a")
            }
            self.bytes = bytes
            ending = format
            isSound = true
        default: return nil
        }
    }

    private static func wrong(_ place: String, _ words: String) -> OpenAIError {
        OpenAIError(code: "invalid_value", "\"\(place)\" \(words).", param: place)
    }

    /// What a picture's bytes say that it is; what the address says is not believed.
    private static func picture(_ bytes: [UInt8]) -> String? {
        func begins(_ text: String, at place: Int = 0) -> Bool { bytes.dropFirst(place).starts(with: text.utf8) }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return "png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "jpg" }
        if begins("GIF8") { return "gif" }
        if begins("RIFF"), begins("WEBP", at: 8) { return "webp" }
        if begins("BM") { return "bmp" }
        if begins("ftyp", at: 4) { return "heic" }
        return nil
    }

    /// - Throws: `EngineError`'s words where the model takes no such thing, `OpenAIError` where it cannot be read.
    func decoded(for abilities: MediaAbilities, with decoder: any MediaDecoder) async throws -> MediaInput {
        guard isSound ? abilities.hears : abilities.sees else {
            throw OpenAIError(
                code: isSound ? "audio_not_ready" : "vision_not_ready",
                isSound ? "The loaded model cannot hear sound." : "The loaded model cannot see pictures.",
                hint: "Load a model that can, with its projector.", param: place)
        }
        guard let folder = Folder.makeTemporary("picture") else {
            throw OpenAIError(
                500, code: "no_temporary_folder",
                "No temporary folder can be made: \(Platform.describe(errno: errno)).")
        }
        defer { Folder.remove(folder) }
        let file = MediaFile(path: "\(folder)/file.\(ending)", kind: ending)
        try UploadStore.write(bytes, to: file.path)
        let wish: MediaShelf.Wish =
            isSound
            ? .sound(rate: abilities.soundRate, seconds: abilities.soundSeconds)
            : .picture(area: abilities.pictureArea)
        do {
            return try await MediaShelf.decode(file, wish, decoder)[0]  // a wish gives at least one
        } catch let error as MediaError {
            throw OpenAIError(
                error.place.httpStatus, code: error.code,
                "\"\(place)\" cannot be shown to the model. \(error.message)", hint: error.hint, param: place)
        }
    }
}

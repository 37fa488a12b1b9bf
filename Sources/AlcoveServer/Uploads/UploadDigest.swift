internal import AlcoveCore

/// What was found in an upload, and the files made from it.
struct UploadDigest: Sendable {
    /// Bytes of text that a reply carries.
    static let textLimit = 1 << 20
    /// Pixels of a preview.
    static let previewArea = 768 * 768
    /// Pictures out of a video.
    static let frameCount = 8
    /// Pages of a PDF that has no text.
    static let pageCount = 16
    /// Pixels of such a page: enough to read print.
    static let pageArea = 1_500_000

    struct Derived: Sendable {
        var name: String
        var bytes: [UInt8]
    }

    /// The text, for kinds that have one.
    var text: PlainText?
    var pages: Int?
    var readPages: Int?
    /// The preview's size.
    var width: Int?
    var height: Int?
    var preview: String?
    /// Names of pictures out of a video, or of pages.
    var frames: [String] = []
    var derived: [Derived] = []
    /// The words may be there, but only as pictures of words.
    var needsVision = false
    /// Whether the model that is loaded sees such pictures.
    private(set) var modelSees = false
    /// A sentence for the person: what could not be had from the file.
    var warning: String?
    /// Why the file could not be looked into, for programs.
    var warningCode: String?

    /// Looks into a file. One that cannot be read is kept all the same.
    ///
    /// - Throws: `UploadError.unreadableVideo`, since nobody could ever play it; `CancellationError`.
    ///
    /// - Parameter modelSees: Whether the model that is loaded sees pictures.
    init(of file: ReceivedFile, decoder: any MediaDecoder, modelSees: Bool = false) async throws {
        self.modelSees = modelSees
        do {
            switch file.name.kind {
            case .text where file.name.ending == "csv": break
            case .text:
                text = PlainText(path: file.path, limit: UploadDigest.textLimit)
                if text == nil { warning = "\(file.shownName) holds no text that can be read." }
            case .pdf, .document: try await readDocument(file, decoder)
            case .image: try await readPicture(file, decoder)
            case .video: try await readVideo(file, decoder)
            case .audio: break
            }
        } catch MediaError.unreadable(let fault) where file.name.kind == .video {
            throw UploadError.unreadableVideo(name: file.shownName, fault: fault)
        } catch let error as MediaError {
            warning = "\(file.shownName) was kept. \(error.sentence)"
            warningCode = error.code
            if file.name.kind == .pdf || file.name.kind == .document {
                text = PlainText("", isComplete: false, limit: 0)
            }
        }
    }

    private mutating func readDocument(_ file: ReceivedFile, _ decoder: any MediaDecoder) async throws {
        let media = MediaFile(path: file.path, kind: file.name.ending)
        let found = try await decoder.text(of: media, limit: UploadDigest.textLimit)
        (pages, readPages) = (found.pages, found.readPages)
        let plain = PlainText(found.text, isComplete: found.isComplete, limit: UploadDigest.textLimit)
        text = plain
        if plain.text.allSatisfy(\.isWhitespace) {
            text = PlainText("", isComplete: plain.isComplete, limit: 0)
            needsVision = file.name.kind == .pdf && (found.pages ?? 0) > 0
            warning = "No text was found in \(file.shownName)."
            if needsVision { try await drawPages(file, media, decoder) }
            return
        }
        derived.append(Derived(name: file.name.derivedText, bytes: Array(plain.text.utf8)))
        if !plain.isComplete {
            let part = zip(found.readPages, found.pages).map { " (\($0) of \($1) pages)" } ?? ""
            warning = "Only the beginning of \(file.shownName) was read\(part)."
        }
    }

    /// Makes pictures of pages that hold no text: a scan.
    private mutating func drawPages(
        _ file: ReceivedFile, _ media: MediaFile, _ decoder: any MediaDecoder
    ) async throws {
        let about =
            "\(file.shownName) has no text, only pictures of its pages, which this model "
            + (modelSees ? "sees." : "cannot see.")
        warning = about
        readPages = 0
        let drawn: [Picture]
        do {
            drawn = try await decoder.pages(
                of: media, count: UploadDigest.pageCount, area: UploadDigest.pageArea)
        } catch let error as MediaError {
            warning = "\(about) They could not be drawn: \(error.sentence)"
            warningCode = error.code
            return
        }
        for (number, picture) in drawn.enumerated() {
            let name = file.name.page(number + 1)
            frames.append(name)
            derived.append(Derived(name: name, bytes: picture.bytes))
        }
        readPages = drawn.count
        if let pages, pages > drawn.count {
            warning = "\(about) The first \(drawn.count) of its \(pages) pages are kept as pictures."
        }
    }

    private mutating func readVideo(_ file: ReceivedFile, _ decoder: any MediaDecoder) async throws {
        let pictures = try await decoder.frames(
            of: MediaFile(path: file.path, kind: file.name.ending), count: UploadDigest.frameCount,
            area: UploadDigest.previewArea)
        for (number, picture) in pictures.enumerated() {
            let name = "\(file.name.stem)-frame-\(number + 1).\(picture.fileExtension)"
            frames.append(name)
            derived.append(Derived(name: name, bytes: picture.bytes))
        }
    }

    private mutating func readPicture(_ file: ReceivedFile, _ decoder: any MediaDecoder) async throws {
        let isRare = ["heic", "heif"].contains(file.name.ending)
        let picture = try await decoder.picture(
            of: MediaFile(path: file.path, kind: file.name.ending), area: UploadDigest.previewArea,
            format: isRare ? .png : .auto)
        let name = "\(file.name.stem)-preview.\(picture.fileExtension)"
        (preview, width, height) = (name, picture.width, picture.height)
        derived.append(Derived(name: name, bytes: picture.bytes))
    }
}

/// Both, or neither.
private func zip<A, B>(_ a: A?, _ b: B?) -> (A, B)? { a.flatMap { a in b.map { (a, $0) } } }

/// The answer to an upload (host-behaviour.md 11.7). Every address is made from a stored name.
enum UploadReply {
    static func json(_ file: ReceivedFile, _ digest: UploadDigest, contextLimit: Int?) -> JSONValue {
        var object: JSONObject = [
            "ok": true, "file": .string(file.name.text), "url": .string(file.name.url),
            "mediaType": .string(file.name.kind.rawValue), "fileName": .string(file.shownName),
            "bytes": JSONValue(file.bytes),
        ]
        if let preview = digest.preview {
            object["previewFile"] = .string(preview)
            object["previewUrl"] = .string("/uploads/" + preview)
            object["previewWidth"] = JSONValue(digest.width ?? 0)
            object["previewHeight"] = JSONValue(digest.height ?? 0)
        }
        switch file.name.kind {
        case .text where file.name.ending == "csv": object["fileBacked"] = true
        case .text: addText(digest, contextLimit, to: &object)
        case .pdf, .document:
            addText(digest, contextLimit, to: &object)
            object["renderedAsImages"] = .bool(digest.needsVision && digest.modelSees && !digest.frames.isEmpty)
            object["pageCount"] = digest.pages.map { JSONValue($0) } ?? .null
            object["extractedPageCount"] = digest.readPages.map { JSONValue($0) } ?? .null
            object["complete"] = .bool(digest.text?.isComplete ?? false)
            if digest.needsVision {
                if !digest.modelSees { object["needsVision"] = true }
                object["frames"] = .array(digest.frames.map { .string($0) })
                object["frameUrls"] = .array(digest.frames.map { .string("/uploads/" + $0) })
            }
        case .video:
            object["frames"] = .array(digest.frames.map { .string($0) })
            object["frameUrls"] = .array(digest.frames.map { .string("/uploads/" + $0) })
        case .image, .audio: break
        }
        if let warning = digest.warning { object["warning"] = .string(warning) }
        if let code = digest.warningCode { object["warningCode"] = .string(code) }
        return .object(object)
    }

    private static func addText(_ digest: UploadDigest, _ contextLimit: Int?, to object: inout JSONObject) {
        object["textContent"] = .string(digest.text?.text ?? "")
        object["truncated"] = .bool(!(digest.text?.isComplete ?? true))
        object["truncateLimit"] = JSONValue(UploadDigest.textLimit)
        object["truncateUnit"] = "bytes"
        object["modelContextLimit"] = contextLimit.map { JSONValue($0) } ?? .null
        object["originalTokenCount"] = .null
        object["returnedTokenCount"] = .null
    }
}

#if os(Linux)
package import AlcoveCore
internal import Synchronization

/// Looks into files with Python's well-known libraries, in the sandbox of commands and with less than a command may use:
/// no network, one file to read, nothing to write, a bounded answer.
package struct ConfinedMediaDecoder: MediaDecoder {
    /// Bytes of one answer, which is held in memory: a large picture as PNG.
    static let answerLimit = 192 << 20
    static let seconds = 40
    private static let reader = "/run/look_into.py"
    private static let packages = "/run/packages"
    private static let file = "/run/file"
    /// Debian's own; any other would not be visible in the sandbox.
    package static let python = "/usr/bin/python3"

    private let mounts: [ConfinedPaths.Mount]
    private let gate: MediaGate

    /// - Parameters:
    ///   - reader: `Native/media/look_into.py`.
    ///   - packages: The folder with its Python packages.
    package init(reader: String, packages: String) {
        mounts = [
            ConfinedPaths.Mount(folder: reader, shownAs: ConfinedMediaDecoder.reader),
            ConfinedPaths.Mount(folder: packages, shownAs: ConfinedMediaDecoder.packages),
        ]
        gate = MediaGate(places: 2)
    }

    package func text(of file: MediaFile, limit: Int) async throws -> DocumentText {
        // Four bytes a character, and the facts.
        let answer = try await look(into: file, ["text", file.kind, "\(limit)"], answerLimit: 4 * limit + 65_536)
        return DocumentText(
            text: String(decoding: answer.blobs.first ?? [], as: UTF8.self), pages: answer.facts["pages"]?.int,
            readPages: answer.facts["readPages"]?.int, isComplete: answer.facts["complete"]?.bool ?? false)
    }

    package func picture(of file: MediaFile, area: Int?, format: PictureFormat) async throws -> Picture {
        // A picture that cannot be made smaller by its format has four bytes a pixel and a little more.
        let limit = area.map { min(5 * $0 + 65_536, ConfinedMediaDecoder.answerLimit) }
        let answer = try await look(
            into: file, ["picture", file.kind, "\(area ?? 0)", format.rawValue],
            answerLimit: limit ?? ConfinedMediaDecoder.answerLimit)
        let form = answer.facts["format"]?.string ?? ""
        guard answer.blobs.count == 1 else { throw MediaError.unreadable(.notRead) }
        return try ConfinedMediaDecoder.picture(answer.blobs[0], form, answer.facts)
    }

    package func frames(of file: MediaFile, count: Int, area: Int) async throws -> [Picture] {
        try await pictures("frames", of: file, count: count, area: area)
    }

    package func pages(of file: MediaFile, count: Int, area: Int) async throws -> [Picture] {
        try await pictures("pages", of: file, count: count, area: area)
    }

    private func pictures(_ what: String, of file: MediaFile, count: Int, area: Int) async throws -> [Picture] {
        let answer = try await look(
            into: file, [what, file.kind, "\(area)", "\(count)", "jpg"],
            answerLimit: min(count * (4 * area + 65_536), ConfinedMediaDecoder.answerLimit))
        let facts = answer.facts["frames"]?.array ?? []
        guard facts.count == answer.blobs.count, (1...count).contains(facts.count) else {
            throw MediaError.unreadable(.notRead)
        }
        return try zip(answer.blobs, facts).map { try ConfinedMediaDecoder.picture($0, "jpg", $1) }
    }

    // MARK: For models

    package func pixels(of file: MediaFile, area: Int) async throws -> RGBPicture {
        let answer = try await look(
            into: file, ["picture", file.kind, "\(area)", "rgb"], answerLimit: 3 * area + 65_536)
        guard answer.blobs.count == 1 else { throw MediaError.unreadable(.notRead) }
        return try ConfinedMediaDecoder.pixels(answer.blobs[0], answer.facts)
    }

    package func framePixels(of file: MediaFile, count: Int, area: Int) async throws -> [VideoFrame] {
        let (facts, blobs) = try await manyPixels("frames", of: file, count: count, area: area)
        return try zip(blobs, facts).map { blob, facts in
            VideoFrame(
                seconds: max(0, facts["seconds"]?.double ?? 0),
                picture: try ConfinedMediaDecoder.pixels(blob, facts))
        }
    }

    package func pagePixels(of file: MediaFile, count: Int, area: Int) async throws -> [RGBPicture] {
        let (facts, blobs) = try await manyPixels("pages", of: file, count: count, area: area)
        return try zip(blobs, facts).map { try ConfinedMediaDecoder.pixels($0, $1) }
    }

    private func manyPixels(
        _ what: String, of file: MediaFile, count: Int, area: Int
    ) async throws -> (facts: [JSONValue], blobs: [[UInt8]]) {
        let answer = try await look(
            into: file, [what, file.kind, "\(area)", "\(count)", "rgb"],
            answerLimit: min(count * (3 * area + 65_536), ConfinedMediaDecoder.answerLimit))
        let facts = answer.facts["frames"]?.array ?? []
        guard facts.count == answer.blobs.count, (1...max(1, count)).contains(facts.count) else {
            throw MediaError.unreadable(.notRead)
        }
        return (facts, answer.blobs)
    }

    package func samples(of file: MediaFile, rate: Int, seconds: Int) async throws -> SoundSamples {
        let limit = 4 * rate * seconds
        let answer = try await look(
            into: file, ["samples", file.kind, "\(rate)", "\(seconds)"], answerLimit: limit + 65_536)
        guard answer.blobs.count == 1, answer.blobs[0].count % 4 == 0, answer.blobs[0].count <= limit else {
            throw MediaError.unreadable(.notRead)
        }
        let samples = answer.blobs[0].withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: 4).map { place in
                let sample = Float(
                    bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
                return sample.isFinite ? min(1, max(-1, sample)) : 0
            }
        }
        return SoundSamples(rate: rate, samples: samples)
    }

    /// Raw pixels harm nobody, but there must be as many as are said.
    private static func pixels(_ bytes: [UInt8], _ facts: JSONValue) throws(MediaError) -> RGBPicture {
        guard
            let picture = RGBPicture(
                width: facts["width"]?.int ?? 0, height: facts["height"]?.int ?? 0, bytes: bytes)
        else { throw MediaError.unreadable(.notRead) }
        return picture
    }

    /// What comes out is served as a picture, so that is what it has to be, whoever wrote it.
    private static func picture(_ bytes: [UInt8], _ form: String, _ facts: JSONValue) throws(MediaError) -> Picture {
        let magic: [UInt8] = form == "png" ? [0x89, 0x50, 0x4E, 0x47] : [0xFF, 0xD8, 0xFF]
        guard form == "png" || form == "jpg", bytes.starts(with: magic) else {
            throw MediaError.unreadable(.notRead)
        }
        return Picture(
            width: facts["width"]?.int ?? 0, height: facts["height"]?.int ?? 0, bytes: bytes, fileExtension: form)
    }

    private struct Answer {
        var facts: JSONValue
        var blobs: [[UInt8]]
    }

    private func look(into file: MediaFile, _ words: [String], answerLimit: Int) async throws -> Answer {
        guard file.path.hasPrefix("/"), words.allSatisfy({ $0.utf8.allSatisfy(ConfinedMediaDecoder.isPlain) }) else {
            throw MediaError.unreadable(.notRead)
        }
        guard access(ConfinedMediaDecoder.python, X_OK) == 0 else {
            throw MediaError.unavailable(
                cause: "\(ConfinedMediaDecoder.python) is missing", hint: "Install it with `sudo apt install python3`.")
        }
        guard let workspace = Folder.makeTemporary("media") else {
            throw MediaError.unavailable(
                cause: "no temporary folder can be made: \(Platform.describe(errno: errno))", hint: nil)
        }
        defer { Folder.remove(workspace) }
        var limits = CommandLimits()
        limits.seconds = Double(ConfinedMediaDecoder.seconds)
        limits.outputBytes = answerLimit
        limits.memoryBytes = 2 << 30
        limits.fileBytes = 0
        limits.processes = 32
        let command =
            [ConfinedMediaDecoder.python, "-I", "-B", ConfinedMediaDecoder.reader, ConfinedMediaDecoder.file]
            + [ConfinedMediaDecoder.packages] + words
        let request = CommandRequest(
            script: "exec \(command.joined(separator: " ")) 2>/dev/null", workspace: workspace, limits: limits)
        let runner = BubblewrapRunner(
            readOnly: mounts + [ConfinedPaths.Mount(folder: file.path, shownAs: ConfinedMediaDecoder.file)])
        let output = Mutex<[UInt8]>([])
        await gate.enter()
        let result: CommandResult
        do {
            result = try await runner.run(request) { piece in
                if case .standardOutput(let bytes) = piece { output.withLock { $0 += bytes } }
            }
            await gate.leave()
        } catch {
            await gate.leave()
            guard let error = error as? SandboxError else { throw error }
            throw MediaError.unavailable(cause: "the sandbox is not to be had (\(error.message))", hint: error.hint)
        }
        return try ConfinedMediaDecoder.read(output.withLock { $0 }, result, limit: answerLimit)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Takes an answer apart. It was written where a stranger's file had its say: nothing about it is trusted.
    private static func read(_ bytes: [UInt8], _ result: CommandResult, limit: Int) throws -> Answer {
        switch result.end {
        case .exited(0): break
        case .timedOut: throw MediaError.tooSlow(seconds: seconds)
        case .stopped: throw CancellationError()
        case .signalled, .exited: throw MediaError.unreadable(.notRead)
        }
        guard result.outputBytes <= limit, bytes.count <= limit else {
            throw MediaError.tooLarge(cause: "what comes of it has more than \(limit) bytes")
        }
        let line = bytes.prefix { $0 != 0x0A }
        guard line.count <= 65_536, let facts = try? JSONValue(parsing: Array(line)), facts.object != nil else {
            throw MediaError.unreadable(.notRead)
        }
        if let error = facts["error"]?.string { throw refusal(error, shown(facts["detail"]?.string)) }
        var rest = bytes.dropFirst(line.count + 1)
        var blobs: [[UInt8]] = []
        for size in facts["blobs"]?.array ?? [] {
            guard let size = size.int, (0...rest.count).contains(size) else {
                throw MediaError.unreadable(.notRead)
            }
            blobs.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        guard rest.isEmpty, !blobs.isEmpty else { throw MediaError.unreadable(.notRead) }
        return Answer(facts: facts, blobs: blobs)
    }

    /// - Parameter detail: Our reader's own words and numbers. What a library says of a file is never among them: it is not
    ///   written for people, and the file has its say in it.
    private static func refusal(_ code: String, _ detail: String) -> MediaError {
        switch code {
        case "protected": .protected
        case "too_large": .tooLarge(cause: detail)
        case "missing":
            .unavailable(
                cause: "a Python package is missing (\(detail))", hint: "Run `make bootstrap` in the checkout.")
        case "cut_off": .unreadable(.cutOff)
        case "damaged": .unreadable(.damaged)
        case "unknown_form": .unreadable(.unknownForm)
        case "without_pictures": .unreadable(.withoutPictures)
        case "without_sound": .unreadable(.withoutSound)
        default: .unreadable(.notRead)
        }
    }

    /// Words of the reader, fit for a sentence.
    private static func shown(_ text: String?) -> String {
        let words = (text ?? "").unicodeScalars.prefix(200).map {
            $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0)
        }
        return words.isEmpty ? "no more is known" : String(words)
    }
}

/// Lets so many through at a time: each holds up to gigabytes.
private actor MediaGate {
    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func enter() async {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() { if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() } }
}
#endif

internal import AlcoveCore
internal import AlcoveServer

/// Pictures and sounds that a command names, decoded in the sandbox.
enum TerminalMedia {
    /// - Throws: `InputError` for a file that is not there or nothing of the kind, and for a model that cannot take it.
    static func read(_ invocation: Invocation, for abilities: MediaAbilities) async throws -> [MediaInput] {
        var media: [MediaInput] = []
        for name in invocation.text("--image")?.split(separator: ",") ?? [] {
            guard abilities.sees else { throw refusal("vision_not_ready", "see pictures") }
            media.append(try await picture(String(name), abilities))
        }
        if let name = invocation.text("--sound") {
            guard abilities.hears else { throw refusal("audio_not_ready", "hear sound") }
            let file = try file(name)
            media.append(
                MediaInput(
                    .sound(
                        try await decoding(name) {
                            try await $0.samples(
                                of: file, rate: abilities.soundRate, seconds: abilities.soundSeconds)
                        })))
        }
        return media
    }

    private static func picture(_ name: String, _ abilities: MediaAbilities) async throws -> MediaInput {
        let file = try file(name)
        if ["mp4", "mov", "avi", "mkv", "webm"].contains(file.kind) {
            return MediaInput(
                .video(
                    try await decoding(name) {
                        try await $0.framePixels(
                            of: file, count: max(1, abilities.videoFrames), area: abilities.frameArea)
                    }))
        }
        return MediaInput(
            .picture(try await decoding(name) { try await $0.pixels(of: file, area: abilities.pictureArea) }))
    }

    private static func file(_ name: String) throws(InputError) -> MediaFile {
        let path = Folders.absolute(name)
        guard access(path, R_OK) == 0 else {
            throw InputError(
                code: "file_missing", message: "\(name) cannot be read: \(Platform.describe(errno: errno)).",
                hint: "Check the path.", place: .missing)
        }
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return MediaFile(path: path, kind: ending.utf8.allSatisfy(isPlain) && !ending.isEmpty ? ending : "file")
    }

    private static func isPlain(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) }

    private static func decoding<Value>(
        _ name: String, _ body: (any MediaDecoder) async throws -> Value
    ) async throws -> Value {
        do {
            return try await body(MediaParts.decoder)
        } catch let error as MediaError {
            throw InputError(
                code: error.code, message: "\(name) cannot be shown to the model. \(error.message)", hint: error.hint,
                place: error.place)
        }
    }

    private static func refusal(_ code: String, _ what: String) -> InputError {
        InputError(
            code: code, message: "The model cannot \(what).",
            hint: "Choose one that can with --model, and its projector with --projector.")
    }
}

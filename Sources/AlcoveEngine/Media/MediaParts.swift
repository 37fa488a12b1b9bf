internal import AlcoveCore
internal import llama

/// A medium as the library's door wants it: bitmaps, and for videos texts that say when.
///
/// Owns its bitmaps and texts.
final class MediaParts {
    private enum Part {
        case bitmap(OpaquePointer)
        case text(UnsafeMutablePointer<CChar>)
    }

    private var parts: [Part] = []

    init(_ media: MediaInput, mergesFrames: Bool) {
        switch media.content {
        case .picture(let picture): add(picture)
        case .video(let frames):
            let step = mergesFrames ? 2 : 1
            for start in stride(from: 0, to: frames.count, by: step) {
                let group = frames[start..<min(start + step, frames.count)]
                add("<\(MediaParts.tenths(group.first?.seconds ?? 0)) seconds>")
                for frame in group { add(frame.picture, isMergeable: mergesFrames) }
                // Two pictures become one: the last of an odd number stands twice.
                if group.count < step, let last = group.last { add(last.picture, isMergeable: true) }
            }
        case .sound(let sound):
            // Less than this the library would take for nothing at all.
            let samples = sound.samples + [Float](repeating: 0, count: max(0, 1600 - sound.samples.count))
            if let bitmap = mtmd_bitmap_init_from_audio(samples.count, samples) { parts.append(.bitmap(bitmap)) }
        }
    }

    deinit {
        for part in parts {
            switch part {
            case .bitmap(let bitmap): mtmd_bitmap_free(bitmap)
            case .text(let text): free(text)
            }
        }
    }

    private func add(_ picture: RGBPicture, isMergeable: Bool = false) {
        guard let bitmap = mtmd_bitmap_init(UInt32(picture.width), UInt32(picture.height), picture.bytes) else {
            return
        }
        mtmd_bitmap_set_mergeable(bitmap, isMergeable)
        parts.append(.bitmap(bitmap))
    }

    private func add(_ text: String) { if let copy = strdup(text) { parts.append(.text(copy)) } }

    /// One decimal, without Foundation.
    static func tenths(_ seconds: Double) -> String {
        let tenths = Int((max(0, min(seconds, 1e6)) * 10).rounded(.toNearestOrEven))
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Lends the parts for a call.
    func withPointers<Result>(
        _ body: (UnsafePointer<UnsafePointer<mtmd_input_part>?>, Int) -> Result
    ) -> Result {
        var texts = parts.map { part -> mtmd_input_text in
            guard case .text(let text) = part else { return mtmd_input_text() }
            return mtmd_input_text(text: text, text_len: strlen(text), add_special: false, parse_special: false)
        }
        return texts.withUnsafeMutableBufferPointer { texts in
            var list = parts.enumerated().map { index, part -> mtmd_input_part in
                switch part {
                case .bitmap(let bitmap): mtmd_input_part(text: nil, bitmap: bitmap)
                case .text: mtmd_input_part(text: texts.baseAddress.map { UnsafePointer($0 + index) }, bitmap: nil)
                }
            }
            return list.withUnsafeMutableBufferPointer { list in
                let pointers: [UnsafePointer<mtmd_input_part>?] = list.indices.map { index in
                    list.baseAddress.map { UnsafePointer($0 + index) }
                }
                return pointers.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }  // a medium has parts
            }
        }
    }
}

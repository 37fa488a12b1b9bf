internal import AlcoveCore

/// Pictures, videos and sounds of uploads as models take them: decoded once, in the sandbox, and kept while they are of use.
///
/// Every turn needs those of the whole chat again; a child process for each of them would cost a tenth of a second each.
package actor MediaShelf {
    /// What is wanted of a file.
    enum Wish: Hashable, Sendable {
        case picture(area: Int)
        case video(frames: Int, area: Int)
        case pages(count: Int, area: Int)
        case sound(rate: Int, seconds: Int)
    }

    private struct Key: Hashable {
        var path: String
        var bytes: Int64
        var written: Int64
        var wish: Wish
    }

    private let decoder: any MediaDecoder
    private var kept: [(key: Key, media: [MediaInput])] = []
    private static let mostBytes = 128 << 20

    init(decoder: any MediaDecoder) { self.decoder = decoder }

    /// - Throws: `MediaError`.
    func media(of file: MediaFile, _ wish: Wish) async throws -> [MediaInput] {
        var info = stat()
        guard stat(file.path, &info) == 0 else { throw MediaError.unreadable(.notRead) }
        let key = Key(
            path: file.path, bytes: Int64(info.st_size), written: info.written.nanoseconds, wish: wish)
        if let index = kept.firstIndex(where: { $0.key == key }) {
            let found = kept.remove(at: index)
            kept.append(found)
            return found.media
        }
        let media = try await MediaShelf.decode(file, wish, decoder)
        kept.removeAll { $0.key == key }
        kept.append((key, media))
        while kept.count > 1, bytes > MediaShelf.mostBytes { kept.removeFirst() }
        return media
    }

    private var bytes: Int { kept.reduce(0) { $0 + $1.media.reduce(0) { $0 + $1.byteCount } } }

    /// Gives back what only serves speed.
    ///
    /// - Returns: how many bytes that were.
    func giveBack() -> Int {
        defer { kept = [] }
        return bytes
    }

    static func decode(_ file: MediaFile, _ wish: Wish, _ decoder: any MediaDecoder) async throws -> [MediaInput] {
        switch wish {
        case .picture(let area): [MediaInput(.picture(try await decoder.pixels(of: file, area: area)))]
        case .video(let frames, let area):
            [MediaInput(.video(try await decoder.framePixels(of: file, count: frames, area: area)))]
        case .pages(let count, let area):
            try await decoder.pagePixels(of: file, count: count, area: area).map { MediaInput(.picture($0)) }
        case .sound(let rate, let seconds):
            [MediaInput(.sound(try await decoder.samples(of: file, rate: rate, seconds: seconds)))]
        }
    }
}

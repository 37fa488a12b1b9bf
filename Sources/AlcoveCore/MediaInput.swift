/// A picture, a video or a sound beside a message's words, decoded: what a model that sees or hears is given.
///
/// Two are equal when their contents are, which is told by a hash: a conversation is compared often, and pixels are many.
public struct MediaInput: Sendable, Hashable {
    public enum Content: Sendable {
        case picture(RGBPicture)
        /// Pictures out of a video, in their order.
        case video([VideoFrame])
        case sound(SoundSamples)
    }

    public let content: Content
    /// SHA-256 of what it is, its sizes and its samples.
    public let digest: [UInt8]
    /// What the person calls it, for sentences; no part of what it is.
    public var name = ""

    public init(_ content: Content) {
        self.content = content
        var hash = SHA256()
        switch content {
        case .picture(let picture): MediaInput.add(picture, as: 1, to: &hash)
        case .video(let frames):
            hash.update([2] + MediaInput.bytes(frames.count))
            for frame in frames {
                hash.update(MediaInput.bytes(Int(frame.seconds * 1000)))
                MediaInput.add(frame.picture, as: 1, to: &hash)
            }
        case .sound(let sound):
            hash.update([3] + MediaInput.bytes(sound.rate) + MediaInput.bytes(sound.samples.count))
            hash.update(sound.samples.withUnsafeBytes { Array($0) })
        }
        digest = hash.finish()
    }

    private static func add(_ picture: RGBPicture, as kind: UInt8, to hash: inout SHA256) {
        hash.update([kind] + bytes(picture.width) + bytes(picture.height))
        hash.update(picture.bytes)
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    public static func == (a: MediaInput, b: MediaInput) -> Bool { a.digest == b.digest }
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    public func named(_ name: String) -> MediaInput {
        var copy = self
        copy.name = name
        return copy
    }

    /// Bytes that its samples take.
    public var byteCount: Int {
        switch content {
        case .picture(let picture): picture.bytes.count
        case .video(let frames): frames.reduce(0) { $0 + $1.picture.bytes.count }
        case .sound(let sound): 4 * sound.samples.count
        }
    }

    public var isSound: Bool { if case .sound = content { true } else { false } }

    /// The pictures it is to a model: one, or a frame each.
    public var pictures: [RGBPicture] {
        switch content {
        case .picture(let picture): [picture]
        case .video(let frames): frames.map(\.picture)
        case .sound: []
        }
    }

    public var pictureCount: Int { pictures.count }
}

/// A picture as rows of red, green and blue, a byte each, from the top left.
public struct RGBPicture: Sendable, Hashable {
    public let width: Int
    public let height: Int
    /// `3 * width * height`.
    public let bytes: [UInt8]

    /// - Returns: nil when the sizes are not those of the bytes.
    public init?(width: Int, height: Int, bytes: [UInt8]) {
        guard (1...65_536).contains(width), (1...65_536).contains(height), bytes.count == 3 * width * height else {
            return nil
        }
        self.width = width
        self.height = height
        self.bytes = bytes
    }
}

public struct VideoFrame: Sendable, Hashable {
    /// Since the video's beginning.
    public let seconds: Double
    public let picture: RGBPicture

    public init(seconds: Double, picture: RGBPicture) {
        self.seconds = seconds
        self.picture = picture
    }
}

/// A sound in one channel.
public struct SoundSamples: Sendable, Hashable {
    /// Samples a second.
    public let rate: Int
    /// -1 to 1.
    public let samples: [Float]

    public init(rate: Int, samples: [Float]) {
        self.rate = rate
        self.samples = samples
    }

    public var seconds: Double { rate > 0 ? Double(samples.count) / Double(rate) : 0 }
}

/// What a model takes in beside words, and how much of it.
public struct MediaAbilities: Sendable, Hashable {
    public var sees = false
    public var hears = false
    /// Pixels of a picture beyond which the model sees no more of it.
    public var pictureArea = 0
    /// Most pictures of one conversation, frames of videos counted.
    public var pictures = 0
    /// Frames that are taken out of a video; 0 where it is not made for videos.
    public var videoFrames = 0
    /// Pixels of such a frame.
    public var frameArea = 0
    /// Samples a second that the model hears.
    public var soundRate = 0
    /// Seconds of a sound that it hears; the rest is left out.
    public var soundSeconds = 0

    public init() {}

    /// Words alone.
    public static let none = MediaAbilities()
}

/// Looks into files that strangers made: the words of a document, a picture in a form that everything can show.
///
/// A file that is not what it says, or was made to do harm, hurts nobody: whoever implements this keeps what reads it away
/// from this process and bounds its time and memory.
public protocol MediaDecoder: Sendable {
    /// The words of a PDF or office document.
    ///
    /// - Parameter limit: Most characters that are wanted.
    /// - Throws: `MediaError`.
    func text(of file: MediaFile, limit: Int) async throws -> DocumentText

    /// A picture, upright, without what its file says beside it (place, time, camera).
    ///
    /// - Parameter area: Most pixels; nil for as many as it has.
    /// - Throws: `MediaError`.
    func picture(of file: MediaFile, area: Int?, format: PictureFormat) async throws -> Picture

    /// Pictures out of a video, evenly spaced, the first one first; fewer than wanted when it is short.
    ///
    /// - Parameter area: Most pixels of each.
    /// - Throws: `MediaError`.
    func frames(of file: MediaFile, count: Int, area: Int) async throws -> [Picture]

    /// The first pages of a PDF as pictures; a page that cannot be drawn is left out.
    ///
    /// - Parameter area: Most pixels of each.
    /// - Throws: `MediaError`.
    func pages(of file: MediaFile, count: Int, area: Int) async throws -> [Picture]

    /// A picture, upright, as a model that sees is given it: on white where one can see through.
    ///
    /// - Parameter area: Most pixels.
    /// - Throws: `MediaError`.
    func pixels(of file: MediaFile, area: Int) async throws -> RGBPicture

    /// As `frames`, for a model that sees.
    ///
    /// - Throws: `MediaError`.
    func framePixels(of file: MediaFile, count: Int, area: Int) async throws -> [VideoFrame]

    /// As `pages`, for a model that sees.
    ///
    /// - Throws: `MediaError`.
    func pagePixels(of file: MediaFile, count: Int, area: Int) async throws -> [RGBPicture]

    /// A sound's beginning in one channel, for a model that hears.
    ///
    /// - Parameters:
    ///   - rate: Samples a second.
    ///   - seconds: Most of it that is wanted.
    /// - Throws: `MediaError`.
    func samples(of file: MediaFile, rate: Int, seconds: Int) async throws -> SoundSamples
}

extension MediaDecoder {
    /// For those that know no model that sees or hears.
    public func pixels(of file: MediaFile, area: Int) async throws -> RGBPicture { throw MediaError.noModel }
    public func framePixels(of file: MediaFile, count: Int, area: Int) async throws -> [VideoFrame] {
        throw MediaError.noModel
    }
    public func pagePixels(of file: MediaFile, count: Int, area: Int) async throws -> [RGBPicture] {
        throw MediaError.noModel
    }
    public func samples(of file: MediaFile, rate: Int, seconds: Int) async throws -> SoundSamples {
        throw MediaError.noModel
    }

    /// For those that draw no pages.
    public func pages(of file: MediaFile, count: Int, area: Int) async throws -> [Picture] {
        throw MediaError.unavailable(cause: "nothing here draws pages", hint: nil)
    }
}

/// A file and what it claims to be.
public struct MediaFile: Sendable, Hashable {
    /// Absolute.
    public var path: String
    /// Its kind as a file name's ending, lower-case: `pdf`, `heic`.
    public var kind: String

    public init(path: String, kind: String) {
        self.path = path
        self.kind = kind
    }
}

public struct DocumentText: Sendable, Hashable {
    public var text: String
    /// Pages or slides; nil for documents without.
    public var pages: Int?
    public var readPages: Int?
    /// Whether this is all of it.
    public var isComplete: Bool

    public init(text: String, pages: Int? = nil, readPages: Int? = nil, isComplete: Bool = true) {
        self.text = text
        self.pages = pages
        self.readPages = readPages
        self.isComplete = isComplete
    }
}

public enum PictureFormat: String, Sendable, Hashable {
    case png
    /// JPEG, but PNG for a picture that can be seen through.
    case auto
}

public struct Picture: Sendable, Hashable {
    public var width: Int
    public var height: Int
    public var bytes: [UInt8]
    /// `png` or `jpg`.
    public var fileExtension: String

    public init(width: Int, height: Int, bytes: [UInt8], fileExtension: String) {
        self.width = width
        self.height = height
        self.bytes = bytes
        self.fileExtension = fileExtension
    }
}

/// Why there is nothing to be had from a file. The file itself is none the worse.
public enum MediaError: UserFacingError, Equatable {
    /// What would read it is not there.
    case unavailable(cause: String, hint: String?)
    case unreadable(MediaFault)
    case protected
    case tooLarge(cause: String)
    case tooSlow(seconds: Int)

    static let noModel = MediaError.unavailable(cause: "nothing here decodes files for models", hint: nil)

    public var code: String {
        switch self {
        case .unavailable: "decoder_unavailable"
        case .unreadable(let fault): fault.rawValue
        case .protected: "file_protected"
        case .tooLarge: "file_needs_too_much"
        case .tooSlow: "file_too_slow"
        }
    }

    public var message: String {
        switch self {
        case .unavailable(let cause, _): "The file could not be looked into: \(cause)."
        case .unreadable(let fault): "The file cannot be read: \(fault.words)."
        case .protected: "The file is protected by a password."
        case .tooLarge(let cause): "The file is too large to be looked into: \(cause)."
        case .tooSlow(let seconds): "The file was not read within \(seconds) seconds."
        }
    }

    public var hint: String? {
        switch self {
        case .unavailable(_, let hint): hint
        case .protected: "Save it without the password and send it again."
        case .unreadable(let fault): fault.hint
        default: nil
        }
    }

    public var place: ErrorPlace {
        switch self {
        case .unavailable: .host
        default: .data
        }
    }
}

/// What is wrong with a file; the raw value is a code for programs.
public enum MediaFault: String, Sendable, Hashable, CaseIterable {
    /// It begins as it should and ends too early.
    case cutOff = "file_cut_off"
    /// What is in it does not fit together.
    case damaged = "file_damaged"
    /// Its bytes are of no form that is read here.
    case unknownForm = "file_form_unknown"
    /// It is whole, and there is nothing to see in it.
    case withoutPictures = "file_without_pictures"
    case withoutSound = "file_without_sound"
    /// What reads it gave up, or answered what it must not.
    case notRead = "file_unreadable"

    /// The rest of a sentence, for people.
    public var words: String {
        switch self {
        case .cutOff: "it ends too early, so a part of it is missing"
        case .damaged: "it is damaged"
        case .unknownForm: "what is in it is nothing that is read here"
        case .withoutPictures: "no picture can be made of it"
        case .withoutSound: "there is no sound in it"
        case .notRead: "reading it failed"
        }
    }

    public var hint: String? {
        switch self {
        case .cutOff: "Copy or download it once more and send it again."
        case .damaged, .unknownForm, .notRead: "Open it in a program that can read it, save it anew and send that."
        case .withoutPictures, .withoutSound: nil
        }
    }
}

/// Where no file can be looked into: says why, each time.
public struct NoMediaDecoder: MediaDecoder {
    private let error: MediaError

    public init(cause: String, hint: String? = nil) { error = .unavailable(cause: cause, hint: hint) }

    public func text(of file: MediaFile, limit: Int) async throws -> DocumentText { throw error }
    public func picture(of file: MediaFile, area: Int?, format: PictureFormat) async throws -> Picture { throw error }
    public func frames(of file: MediaFile, count: Int, area: Int) async throws -> [Picture] { throw error }
    public func pages(of file: MediaFile, count: Int, area: Int) async throws -> [Picture] { throw error }
    public func pixels(of file: MediaFile, area: Int) async throws -> RGBPicture { throw error }
    public func framePixels(of file: MediaFile, count: Int, area: Int) async throws -> [VideoFrame] { throw error }
    public func pagePixels(of file: MediaFile, count: Int, area: Int) async throws -> [RGBPicture] { throw error }
    public func samples(of file: MediaFile, rate: Int, seconds: Int) async throws -> SoundSamples { throw error }
}

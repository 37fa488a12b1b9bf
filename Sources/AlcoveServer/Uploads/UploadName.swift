internal import AlcoveCore

/// The name under which an upload is kept: 32 hexadecimal digits that cannot be guessed, a dot, an ending that is listed.
///
/// Files made from it stand beside it and begin with the same digits: `<digits>-preview.png`. Together they are a family,
/// kept and removed as one.
package struct UploadName: Sendable, Hashable, CustomStringConvertible {
    package let stem: String
    package let ending: String
    package let kind: UploadKind

    /// A new one. The ending must be listed.
    ///
    /// - Parameter stem: 32 hexadecimal digits, for a file that shall have the same name when it comes again.
    init(ending: String, kind: UploadKind, stem: String = hexText(Platform.randomBytes(16))) {
        self.stem = stem
        self.ending = ending
        self.kind = kind
    }

    /// One that came from outside; nil when it is anything but the bare name of an upload.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, UploadName.isStem(Substring(parts[0])),
            let kind = UploadKind(ending: String(Substring(parts[1])))
        else { return nil }
        stem = String(Substring(parts[0]))
        ending = String(Substring(parts[1]))
        self.kind = kind
    }

    package var text: String { stem + "." + ending }
    package var url: String { "/uploads/" + text }
    package var description: String { text }

    /// The words of a PDF or office document.
    package var derivedText: String { stem + "-text.txt" }
    /// The whole picture as everything can read it, for one that few programs can.
    package var derivedPicture: String { stem + "-decoded.png" }

    /// The picture of a page, from 1.
    package func page(_ number: Int) -> String { "\(stem)-page-\(number).jpg" }

    /// Which family a file of the folder is of; nil for what is no upload of ours.
    static func family(of fileName: String) -> String? {
        let stem = fileName.prefix { $0 != "." && $0 != "-" }
        return isStem(stem) ? String(stem) : nil
    }

    /// Whether a name is of an upload or of a file made from one, as far as it can be told by the name.
    static func isServed(_ fileName: String) -> Bool {
        let parts = fileName.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, UploadKind(ending: String(Substring(parts[1]))) != nil,
            family(of: fileName) != nil
        else { return false }
        return parts[0].dropFirst(32).allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
        }
    }

    static func isStem(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// The name a person knows a file by: shown, and given to the copy that tools work on.
package enum ShownName {
    /// Bytes of a name; the ending stays when it has to be cut.
    static let limit = 180

    /// A plain file name from whatever a client sent: no folders, no control or direction characters, not too long.
    ///
    /// - Parameter fallback: For a name of which nothing is left.
    package static func clean(_ text: String, fallback: String) -> String {
        let last = text.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
        let scalars = last.unicodeScalars.filter { !isHidden($0) }
        var name = String(String.UnicodeScalarView(scalars))
        name = String(name.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        guard name.contains(where: { $0 != "." }) else { return fallback }
        if name.utf8.count <= limit { return name }
        let ending = UploadNaming.ending(ofName: name).map { "." + $0 } ?? ""
        var short = ""
        for character in name {
            if short.utf8.count + character.utf8.count > limit - ending.utf8.count { break }
            short.append(character)
        }
        return short + ending
    }

    /// Controls, line ends, and what turns the reading direction: a name must look like what it is (T9, T37).
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF: true
        default: false
        }
    }
}

internal import AlcoveCore

/// What is said of one part of a form before its bytes.
package struct MultipartPart: Sendable, Equatable {
    /// The form field's name.
    package var name: String
    /// As it was sent, folders, quotes and all; nil for a field that is no file. Never a path of ours.
    package var fileName: String?
    /// As it was sent; nil when nothing was said.
    package var contentType: String?

    /// Reads the lines between a boundary and a part's bytes.
    ///
    /// - Parameter number: Counted from 1, for the sentence of a refusal.
    init(header: ArraySlice<UInt8>, number: Int) throws(MultipartError) {
        var disposition: String?
        for line in try MultipartPart.lines(header, number) {
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
                throw .badHeader(part: number, problem: "a line has no name")
            }
            let name = line[..<colon], value = line[line.utf8.index(after: colon)...].trimmingBlanks()
            guard name.utf8.allSatisfy(\.isTokenCharacter) else {
                throw .badHeader(part: number, problem: "a name holds a character that names cannot hold")
            }
            if name.equalsIgnoringCase("content-disposition") {
                guard disposition == nil else {
                    throw .badHeader(part: number, problem: "Content-Disposition comes twice")
                }
                disposition = String(value)
            } else if name.equalsIgnoringCase("content-type") {
                if contentType == nil, !value.isEmpty { contentType = String(value) }
            } else if name.equalsIgnoringCase("content-transfer-encoding"),
                !["binary", "8bit", "7bit"].contains(where: { value.equalsIgnoringCase($0) })
            {
                throw .transferEncoding(part: number, name: String(value))
            }
        }
        guard let disposition, let field = HeaderParameters(disposition), field.value.equalsIgnoringCase("form-data")
        else { throw .badHeader(part: number, problem: "it has no Content-Disposition of the kind form-data") }
        guard let name = field.text("name") else {
            throw .badHeader(part: number, problem: "its Content-Disposition has no name")
        }
        self.name = name
        fileName = field.text("filename")
    }

    /// Lines, those that begin with a blank joined to the one before (RFC 5322, 2.2.3).
    private static func lines(_ header: ArraySlice<UInt8>, _ number: Int) throws(MultipartError) -> [String] {
        var lines: [String] = []
        var rest = header
        while !rest.isEmpty {
            let line = rest.prefix { $0 != 0x0D }
            rest = rest.dropFirst(line.count + 2)
            guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .badHeader(part: number, problem: "it holds a control character")
            }
            let text = String(decoding: line, as: UTF8.self)
            if let first = line.first, first == 0x20 || first == 0x09 {
                guard !lines.isEmpty else { throw .badHeader(part: number, problem: "it begins with a blank") }
                lines[lines.count - 1] += text
            } else {
                lines.append(text)
            }
        }
        return lines
    }
}

/// A field value with parameters: `form-data; name="file"; filename*=UTF-8''a%20b`.
struct HeaderParameters {
    let value: String
    private var parameters: [(name: String, value: String)] = []

    /// Nil when the text cannot be cut into parameters.
    init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        let value = rest.prefix { $0 != ";" }
        self.value = String(value.trimmingBlanks())
        rest = rest.dropFirst(value.count)
        while !rest.isEmpty {
            rest = rest.dropFirst().trimmingBlanks()
            if rest.isEmpty { break }
            if rest.first == ";" { continue }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "\"" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { return nil }
            rest = rest.dropFirst().trimmingBlanks()
            let content: String
            if rest.utf8.first == UInt8(ascii: "\"") {
                guard let (text, after) = HeaderParameters.quoted(rest.utf8.dropFirst()) else { return nil }
                content = text
                rest = after.trimmingBlanks()
                guard rest.isEmpty || rest.first == ";" else { return nil }
            } else {
                let token = rest.prefix { $0 != ";" }
                rest = rest.dropFirst(token.count)
                content = String(token.trimmingBlanks())
            }
            parameters.append((String(name.trimmingBlanks()).lowercased(), content))
        }
    }

    /// A parameter's text: the extended form (`name*`, RFC 8187) where it can be read, else the plain one.
    func text(_ name: String) -> String? {
        if let extended = plain(name + "*"), let text = HeaderParameters.extended(extended) { return text }
        return plain(name).map(HeaderParameters.withoutFormEscapes)
    }

    /// A parameter as it stands.
    func plain(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// A quoted string behind its opening quote, and what follows it.
    ///
    /// A backslash escapes quotes and backslashes only: old clients send `C:\new\file` without escaping anything.
    private static func quoted(_ text: Substring.UTF8View) -> (String, Substring)? {
        var bytes: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            text.formIndex(after: &index)
            if byte == UInt8(ascii: "\"") { return (String(decoding: bytes, as: UTF8.self), Substring(text[index...])) }
            if byte == UInt8(ascii: "\\"), index < text.endIndex,
                text[index] == UInt8(ascii: "\"") || text[index] == UInt8(ascii: "\\")
            {
                bytes.append(text[index])
                text.formIndex(after: &index)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    /// What browsers write for the three characters that would end a name (HTML, "multipart/form-data encoding").
    private static func withoutFormEscapes(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            let escape = rest.prefix(3).map(\.asciiLowercased)
            let meant: UInt8? =
                escape.elementsEqual("%22".utf8)
                ? 0x22 : escape.elementsEqual("%0d".utf8) ? 0x0D : escape.elementsEqual("%0a".utf8) ? 0x0A : nil
            bytes.append(meant ?? byte)
            rest = rest.dropFirst(meant == nil ? 1 : 3)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `charset'language'percent-encoded`; nil when it is something else or the bytes are not of that charset.
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(parts[2].utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else { return nil }
            bytes.append(high << 4 | low)
        }
        if parts[0].equalsIgnoringCase("utf-8") { return String(validating: bytes, as: UTF8.self) }
        guard parts[0].equalsIgnoringCase("iso-8859-1") else { return nil }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

internal import AlcoveCore

/// An absolute http or https address, taken apart as far as a client must know it (RFC 3986).
package struct WebAddress: Sendable, Hashable {
    package enum Scheme: String, Sendable {
        case http, https

        package var usualPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// In lower case, without brackets and without a last point.
    package let host: String
    package let port: Int
    /// Path and query, beginning with `/`, in plain ASCII.
    package let target: String
    /// `name:password`, where the address had them; never part of `text`.
    package let credentials: String?

    /// - Throws: `DownloadError.badURL` for anything but an absolute http or https address.
    package init(_ text: String) throws(DownloadError) {
        guard text.utf8.count <= WebAddress.longest else {
            throw .badURL(String(text.prefix(80)) + "...", reason: "it is too long")
        }
        guard !text.utf8.contains(where: { $0 < 0x21 || $0 == 0x7F }) else {
            throw .badURL(text, reason: "it holds spaces or control characters")
        }
        guard let colon = text.firstRange(of: "://"),
            let scheme = Scheme(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw .badURL(text, reason: "it does not begin with https:// or http://") }
        let rest = text[colon.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        var authority = rest[..<end]
        var credentials: String?
        if let at = authority.lastIndex(of: "@") {
            credentials = WebAddress.unescaped(authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        guard let (host, port) = WebAddress.hostAndPort(authority, usual: scheme.usualPort) else {
            throw .badURL(WebAddress.hidingCredentials(text), reason: "its host cannot be read")
        }
        var target = rest[end...].prefix { $0 != "#" }
        if !target.hasPrefix("/") { target = "/" + target }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.target = WebAddress.escaped(target)
        self.credentials = credentials
    }

    private init(_ base: WebAddress, target: Substring) {
        scheme = base.scheme
        host = base.host
        port = base.port
        self.target = WebAddress.escaped(target)
        credentials = nil
    }

    /// Longer ones are no address of a file.
    static let longest = 8_192

    /// The whole address, without credentials.
    package var text: String { "\(origin)\(target)" }

    /// Scheme, host and port: what credentials are for.
    package var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme.rawValue)://\(name)" + (port == scheme.usualPort ? "" : ":\(port)")
    }

    /// For sentences and logs: a query may hold a signature.
    package var shown: String { origin + String(target.prefix { $0 != "?" }) }

    /// Where a `Location` leads from here.
    package func resolving(_ location: String) throws(DownloadError) -> WebAddress {
        guard location.utf8.count <= WebAddress.longest,
            !location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw .badRedirect(from: shown, reason: "leads to an address that cannot be read") }
        let location = location.replacing(" ", with: "%20")
        // A scheme ends at a colon before any slash.
        if let colon = location.firstIndex(of: ":"), location[..<colon].allSatisfy({ $0.isLetter || $0.isNumber }) {
            do {
                return try WebAddress(location)
            } catch {
                throw .badRedirect(from: shown, reason: "leads to an address that is neither http nor https")
            }
        }
        if location.hasPrefix("//") {
            do {
                return try WebAddress("\(scheme.rawValue):\(location)")
            } catch {
                throw .badRedirect(from: shown, reason: "leads to an address that cannot be read")
            }
        }
        let fragmentless = location.prefix { $0 != "#" }
        if fragmentless.isEmpty { return WebAddress(self, target: target[...]) }
        if fragmentless.hasPrefix("/") { return WebAddress(self, target: fragmentless) }
        let path = target.prefix { $0 != "?" }
        if fragmentless.hasPrefix("?") { return WebAddress(self, target: path + fragmentless) }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return WebAddress(self, target: WebAddress.withoutDots(folder + fragmentless))
    }

    // MARK: Reading

    private static func hostAndPort(_ text: Substring, usual: Int) -> (String, Int)? {
        var host = text, port = usual
        if text.hasPrefix("[") {
            guard let end = text.lastIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.hasPrefix(":"), let number = self.port(rest.dropFirst(), usual: usual) else { return nil }
                port = number
            }
        } else {
            if let colon = text.firstIndex(of: ":") {
                guard let number = self.port(text[text.index(after: colon)...], usual: usual) else { return nil }
                (host, port) = (text[..<colon], number)
            }
            if host.hasSuffix(".") { host = host.dropLast() }
            let isName = host.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard isName, !host.isEmpty, host.utf8.count <= 253 else { return nil }
        }
        return (host.lowercased(), port)
    }

    private static func port(_ text: Substring, usual: Int) -> Int? {
        if text.isEmpty { return usual }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            (1...65_535).contains(number)
        else { return nil }
        return number
    }

    private static func escaped(_ text: Substring) -> String {
        var out = ""
        for byte in text.utf8 {
            if byte > 0x20, byte < 0x7F, byte != UInt8(ascii: "\"") {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                out += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return out
    }

    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `/a/./b/../c` becomes `/a/c`; a query is left alone.
    private static func withoutDots(_ text: Substring) -> Substring {
        let path = text.prefix { $0 != "?" }
        var kept: [Substring] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            switch part {
            case ".": continue
            case "..": _ = kept.popLast()
            default: kept.append(part)
            }
        }
        if path.hasSuffix("/.") || path.hasSuffix("/..") { kept.append("") }
        return "/" + kept.joined(separator: "/") + text[path.endIndex...]
    }

    private static func hidingCredentials(_ text: String) -> String {
        guard let colon = text.firstRange(of: "://"), let at = text.lastIndex(of: "@") else { return text }
        return String(text[..<colon.upperBound] + text[text.index(after: at)...])
    }
}

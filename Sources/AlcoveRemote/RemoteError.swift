package import AlcoveCore

/// Why a server elsewhere gave no answer, in sentences for people. Its own words are quoted, bounded and never the key.
package enum RemoteError: UserFacingError, Hashable {
    case badEndpoint(String, reason: String)
    case badKeyFile(path: String, reason: String)
    case unreachable(host: String, reason: String)
    /// Plain http to an address of the open internet.
    case plainInPublic(host: String, address: String)
    case untrusted(host: String, reason: String)
    case refused(host: String, status: Int, words: String?)
    /// It began to answer and said in the middle that it cannot go on.
    case failed(host: String, words: String?)
    case cut(host: String, reason: String)
    case unreadable(host: String, reason: String)
    case noModel(host: String)

    package var code: String {
        switch self {
        case .badEndpoint: "remote_bad_endpoint"
        case .badKeyFile: "remote_bad_key_file"
        case .unreachable: "remote_unreachable"
        case .plainInPublic: "remote_plain_http"
        case .untrusted: "remote_untrusted"
        case .refused: "remote_refused"
        case .failed: "remote_failed"
        case .cut: "remote_cut"
        case .unreadable: "remote_unreadable"
        case .noModel: "remote_no_model"
        }
    }

    package var message: String {
        switch self {
        case .badEndpoint(let text, let reason): "The endpoint \(text) cannot be used: \(reason)."
        case .badKeyFile(let path, let reason): "The key in \(path) cannot be used: \(reason)."
        case .unreachable(let host, let reason): "The server \(host) cannot be reached: \(reason)."
        case .plainInPublic(let host, let address):
            "\(host) is at \(address) on the open internet, where plain http would show your words to everybody between."
        case .untrusted(let host, let reason): "The server \(host) cannot be trusted: \(reason)."
        case .refused(let host, let status, let words):
            switch status {
            case 300..<400: "The server \(host) leads elsewhere (status \(status)), which is not followed."
            case 401, 403: "The server \(host) does not accept the key (status \(status))\(RemoteError.quoted(words))."
            case 404: "The server \(host) knows no such address or model (status 404)\(RemoteError.quoted(words))."
            case 429: "The server \(host) has too much to do for this key (status 429)\(RemoteError.quoted(words))."
            default: "The server \(host) refused with status \(status)\(RemoteError.quoted(words))."
            }
        case .failed(let host, let words): "The server \(host) gave up in the middle\(RemoteError.quoted(words))."
        case .cut(let host, let reason): "The answer of \(host) was cut off: \(reason)."
        case .unreadable(let host, let reason): "The answer of \(host) cannot be read: \(reason)."
        case .noModel(let host): "The server \(host) names no model."
        }
    }

    package var hint: String? {
        switch self {
        case .badEndpoint: "Give an address such as https://example.org/v1, or http://127.0.0.1:8080/v1 on this device."
        case .badKeyFile: "Write the key alone into a file that only you can read."
        case .unreachable: "Check that it runs, and the address given with --endpoint."
        case .plainInPublic: "Use https."
        case .untrusted: "Check the address and this device's date."
        case .refused(_, 401, _), .refused(_, 403, _): "Check the file given with --key-file."
        case .refused(_, 404, _): "Check --endpoint and --remote-model."
        case .refused(_, 429, _), .failed, .cut: "Try again later."
        case .refused: nil
        case .unreadable: "Check that the endpoint speaks OpenAI's API."
        case .noModel: "Name one with --remote-model."
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .badEndpoint, .badKeyFile, .plainInPublic: .request
        case .unreachable, .refused(_, 429, _), .failed, .cut: .busy
        case .noModel: .missing
        case .untrusted, .unreadable: .data
        case .refused(_, let status, _): (400..<500).contains(status) ? .request : .busy
        }
    }

    private static func quoted(_ words: String?) -> String { words.map { "; it says: \"\($0)\"" } ?? "" }
}

/// A stranger's words, fit for the middle of a sentence: short, on one line, without the key.
struct QuotedWords: Sendable {
    let key: String?
    static let longest = 300

    func make(_ text: String) -> String? {
        var text = text
        if let key { text = text.replacing(key, with: "[key]") }
        var out = ""
        for scalar in text.unicodeScalars {
            let kind = scalar.properties.generalCategory
            let isPlain =
                ![.control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator]
                .contains(kind)
            if isPlain, scalar != "\"" {
                out.unicodeScalars.append(scalar)
            } else if scalar == "\"" {
                out += "'"
            } else if !out.hasSuffix(" ") {
                out += " "
            }
            if out.unicodeScalars.count > QuotedWords.longest { break }
        }
        let isCut = out.unicodeScalars.count > QuotedWords.longest
        while let last = out.last, last == " " || last == "." { out.removeLast() }
        return out.isEmpty ? nil : isCut ? out + " ..." : out
    }

    /// The sentence in a refusal's body, whatever shape it has.
    func words(in body: [UInt8]) -> String? {
        guard let value = try? JSONValue(parsing: body) else { return make(String(decoding: body, as: UTF8.self)) }
        return RemoteWords.message(in: value).flatMap { make($0) }
    }
}

enum RemoteWords {
    /// OpenAI says `{"error": {"message": ...}}`; others say less.
    static func message(in value: JSONValue) -> String? {
        value["error"]?["message"]?.string ?? value["error"]?.string ?? value["message"]?.string
            ?? value["detail"]?.string
    }
}

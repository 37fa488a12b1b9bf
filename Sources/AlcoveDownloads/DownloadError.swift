package import AlcoveCore

/// Why a file was not brought, in sentences for people.
package enum DownloadError: UserFacingError, Hashable {
    case badURL(String, reason: String)
    case badRedirect(from: String, reason: String)
    case tooManyRedirects(from: String, limit: Int)
    /// The host is on this device or near it, and nobody has added it.
    case privateAddress(host: String, address: String)
    case untrusted(host: String, reason: String)
    /// The server's answer is final: asking again brings the same.
    case refused(url: String, status: Int)
    /// It might work later.
    case gaveUp(url: String, attempts: Int, reason: String, received: UInt64)
    case webPage(url: String)
    case encoded(url: String, coding: String)
    case noLength(url: String)
    case confused(url: String)
    case wrongSize(name: String, expected: UInt64, actual: UInt64)
    case wrongHash(name: String, expected: String, actual: String)
    case emptyFile(name: String)
    case diskFull(path: String, needed: UInt64?, free: UInt64?)
    case file(path: String, cause: String)
    case busy(path: String)
    case cancelled(name: String)

    package var code: String {
        switch self {
        case .badURL: "download_bad_url"
        case .badRedirect: "download_bad_redirect"
        case .tooManyRedirects: "download_too_many_redirects"
        case .privateAddress: "download_private_address"
        case .untrusted: "download_untrusted"
        case .refused: "download_refused"
        case .gaveUp: "download_gave_up"
        case .webPage: "download_web_page"
        case .encoded: "download_encoded"
        case .noLength: "download_no_length"
        case .confused: "download_confused"
        case .wrongSize: "download_wrong_size"
        case .wrongHash: "download_wrong_hash"
        case .emptyFile: "download_empty"
        case .diskFull: "download_disk_full"
        case .file: "download_file"
        case .busy: "download_busy"
        case .cancelled: "download_cancelled"
        }
    }

    package var message: String {
        switch self {
        case .badURL(let text, let reason): "The address \(text) cannot be downloaded from: \(reason)."
        case .badRedirect(let from, let reason): "\(from) \(reason), which is not followed."
        case .tooManyRedirects(let from, let limit): "\(from) was redirected more than \(limit) times."
        case .privateAddress(let host, let address):
            host == address
                ? "\(host) is an address of this device or its own network, and nobody has allowed it."
                : "\(host) is at \(address), an address of this device or its own network, and nobody has allowed it."
        case .untrusted(let host, let reason): "\(host) cannot be trusted: \(reason)."
        case .refused(let url, let status):
            switch status {
            case 401, 403: "The server does not give out \(url) to this device (status \(status))."
            case 404, 410: "There is no file at \(url) (status \(status))."
            default: "The server refused \(url) with status \(status)."
            }
        case .gaveUp(let url, let attempts, let reason, let received):
            "\(url) was tried \(attempts == 1 ? "once" : "\(attempts) times") and is not complete: \(reason)"
                + (received > 0 ? "; the first \(received) bytes are kept." : ".")
        case .webPage(let url): "\(url) was answered with a web page in place of the file."
        case .encoded(let url, let coding): "The server sends \(url) encoded as \(coding), which was not asked for."
        case .noLength(let url): "The server does not say how long \(url) is, so nobody could tell when it is complete."
        case .confused(let url): "The server keeps sending other parts of \(url) than those asked for."
        case .wrongSize(let name, let expected, let actual):
            "\(name) should have \(expected) bytes, and the server's file has \(actual)."
        case .wrongHash(let name, let expected, let actual):
            "The check of \(name) failed: its SHA-256 is \(actual) and should be \(expected). The bad file was deleted."
        case .emptyFile(let name): "The server sent an empty file for \(name)."
        case .diskFull(let path, let needed, let free):
            if let needed, let free {
                "There is no room for \(path): \(needed) more bytes are needed and \(free) are free."
            } else {
                "There is no room left on the disk for \(path); what has arrived is kept."
            }
        case .file(let path, let cause): "\(path) cannot be written: \(cause)."
        case .busy(let path): "Another download is writing \(path) now."
        case .cancelled(let name): "The download of \(name) was stopped; what has arrived is kept."
        }
    }

    package var hint: String? {
        switch self {
        case .badURL: "Give a whole address, such as https://example.org/model.gguf."
        case .badRedirect, .tooManyRedirects, .confused: "Check the address, or get the file from somewhere else."
        case .privateAddress(let host, _):
            "If you trust it, allow it with --allow-host \(host), or in \"allowedHosts\" of catalog.json."
        case .untrusted: "Check the device's date and the network you are in; a sign-in page can be the cause."
        case .refused(_, let status):
            [401, 403].contains(status)
                ? "It may need an account or the acceptance of a licence: open the address in a browser."
                : "Check the address."
        case .gaveUp: "Check the network and start it again: it goes on where it stopped."
        case .webPage: "Perhaps the network asks you to sign in: open the address in a browser."
        case .encoded, .noLength: "Get the file from another server."
        case .wrongSize: "The file was changed there, or a page was sent in its place: look for a newer entry."
        case .wrongHash: "Start it again, which begins anew; if that fails too, the file at the source was changed."
        case .emptyFile: "Start it again later, or get the file from somewhere else."
        case .diskFull: "Make room and start it again: it goes on where it stopped."
        case .file: "Check that the folder is there and may be written."
        case .busy: "Wait for it, or stop it."
        case .cancelled: "Start it again to go on."
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .badURL, .badRedirect, .tooManyRedirects, .privateAddress: .request
        case .refused(_, let status): [404, 410].contains(status) ? .missing : .request
        case .gaveUp, .busy, .cancelled: .busy
        case .untrusted, .webPage, .encoded, .noLength, .confused, .wrongSize, .wrongHash, .emptyFile: .data
        case .diskFull: .space
        case .file: .host
        }
    }
}

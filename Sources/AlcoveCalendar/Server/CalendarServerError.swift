package import AlcoveCore

/// Why a calendar was not read from its server. Never the name, the password or the server's own words.
package enum CalendarServerError: UserFacingError, Equatable {
    case badAddress(String, reason: String)
    case badCredentials(path: String, reason: String)
    case unreachable(host: String, reason: String)
    /// Plain http to an address of the open internet.
    case plainInPublic(host: String, address: String)
    case untrusted(host: String, reason: String)
    case unauthorised(host: String, hasAccount: Bool)
    /// It leads to another server.
    case elsewhere(host: String, to: String)
    case refused(host: String, status: Int)
    case slow(host: String, seconds: Int)
    case tooLarge(host: String)
    case unreadable(host: String, reason: String)
    case noCalendars(address: String)
    case stopped

    package var code: String {
        switch self {
        case .badAddress: "calendar_bad_address"
        case .badCredentials: "calendar_bad_credentials"
        case .unreachable: "calendar_unreachable"
        case .plainInPublic: "calendar_plain_http"
        case .untrusted: "calendar_untrusted"
        case .unauthorised: "calendar_unauthorised"
        case .elsewhere: "calendar_elsewhere"
        case .refused: "calendar_refused"
        case .slow: "calendar_slow"
        case .tooLarge: "calendar_too_large"
        case .unreadable: "calendar_damaged"
        case .noCalendars: "calendar_empty"
        case .stopped: "calendar_stopped"
        }
    }

    package var message: String {
        switch self {
        case .badAddress(let text, let reason): "The calendar's address \(text) cannot be used: \(reason)."
        case .badCredentials(let path, let reason): "The name and password in \(path) cannot be used: \(reason)."
        case .unreachable(let host, let reason): "The calendar server \(host) cannot be reached: \(reason)."
        case .plainInPublic(let host, let address):
            "\(host) is at \(address) on the open internet, where plain http would show your calendar to everybody between."
        case .untrusted(let host, let reason): "The calendar server \(host) cannot be trusted: \(reason)."
        case .unauthorised(let host, let hasAccount):
            hasAccount
                ? "The calendar server \(host) does not accept the name and password (status 401)."
                : "The calendar server \(host) asks for a name and a password (status 401)."
        case .elsewhere(let host, let to): "The calendar server \(host) leads to \(to), which is not asked."
        case .refused(let host, let status):
            status == 404
                ? "The calendar server \(host) has nothing at this address (status 404)."
                : "The calendar server \(host) refused with status \(status)."
        case .slow(let host, let seconds):
            "The calendar server \(host) took longer than the \(seconds) seconds a read may last."
        case .tooLarge(let host):
            "The calendar server \(host) sends more than the \(CalendarServer.byteLimit >> 20) MB a read may bring."
        case .unreadable(let host, let reason):
            "The answer of the calendar server \(host) cannot be read: \(reason)."
        case .noCalendars(let address): "No calendar was found at \(address)."
        case .stopped: "The calendar was not read: it was stopped."
        }
    }

    package var hint: String? {
        switch self {
        case .badAddress: "Give an address such as https://example.org/ in calendarPath."
        case .badCredentials, .unauthorised: "Write name:password into a file, and its path into calendarCredentials."
        case .unreachable, .slow: "Check the network and calendarPath, and ask again."
        case .plainInPublic: "Use https."
        case .untrusted: "Check the address and this device's date."
        case .elsewhere: "If you trust that server, write its address into calendarPath."
        case .refused, .unreadable, .noCalendars: "Check calendarPath in the settings."
        case .tooLarge: "Name a single calendar in calendarPath."
        case .stopped: nil
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .badAddress, .badCredentials, .plainInPublic, .unauthorised, .elsewhere: .request
        case .unreachable, .slow, .stopped: .busy
        case .noCalendars, .refused(_, 404): .missing
        case .refused(_, let status): (400..<500).contains(status) ? .request : .busy
        case .untrusted, .tooLarge, .unreadable: .data
        }
    }
}

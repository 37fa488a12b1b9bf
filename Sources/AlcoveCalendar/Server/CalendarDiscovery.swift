internal import AlcoveCore
internal import AlcoveDownloads

/// Finds the calendars that an address leads to (RFC 4791, RFC 5397, RFC 6764).
struct CalendarDiscovery {
    private let exchange: CalendarExchange

    init(_ exchange: CalendarExchange) { self.exchange = exchange }

    /// The address itself when it is a calendar, else those in it, else those of the account it belongs to.
    ///
    /// - Throws: `CalendarServerError`. None found is an empty list.
    func calendars(at address: WebAddress) throws(CalendarServerError) -> [WebAddress] {
        let start = try beginning(address)
        if start.resource?.isCalendar ?? false { return [start.address] }
        if address.target != "/" {
            let inside = try children(start.address)
            if !inside.isEmpty { return inside }
        }
        var homes = start.resource?.homes ?? []
        var base = start.address
        if homes.isEmpty, let principal = start.resource?.principal {
            base = try exchange.resolve(principal, from: start.address)
            let answer = try exchange.send("PROPFIND", base, depth: 0, body: CalendarDiscovery.question)
            (base, homes) = (answer.address, answer.resources.first?.homes ?? [])
        }
        var found: [WebAddress] = []
        for home in homes.prefix(CalendarDiscovery.homeLimit) {
            found += try children(try exchange.resolve(home, from: base))
        }
        return found
    }

    /// Most folders of calendars of one account.
    private static let homeLimit = 4

    private func beginning(
        _ address: WebAddress
    ) throws(CalendarServerError) -> (address: WebAddress, resource: DAVResource?) {
        // A server alone may say at a fixed place where it begins.
        if address.target == "/" {
            do {
                let place = try exchange.resolve("/.well-known/caldav", from: address)
                let answer = try exchange.send("PROPFIND", place, depth: 0, body: CalendarDiscovery.question)
                return (answer.address, answer.resources.first)
            } catch {
                guard case .refused = error else { throw error }
            }
        }
        let answer = try exchange.send("PROPFIND", address, depth: 0, body: CalendarDiscovery.question)
        return (answer.address, answer.resources.first)
    }

    private func children(_ folder: WebAddress) throws(CalendarServerError) -> [WebAddress] {
        let answer = try exchange.send("PROPFIND", folder, depth: 1, body: CalendarDiscovery.question)
        var found: [WebAddress] = []
        for resource in answer.resources where resource.isCalendar && resource.holdsEvents {
            let address = try exchange.resolve(resource.href, from: answer.address)
            if !found.contains(address) { found.append(address) }
        }
        return found
    }

    private static let question = """
        <?xml version="1.0" encoding="utf-8"?>
        <D:propfind xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:resourcetype/>\
        <D:current-user-principal/><C:calendar-home-set/><C:supported-calendar-component-set/></D:prop></D:propfind>
        """
}

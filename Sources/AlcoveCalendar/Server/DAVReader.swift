internal import AlcoveCore
internal import CExpat

/// What a server says of one thing, as far as a calendar needs it.
struct DAVResource: Equatable {
    var href = ""
    var isCalendar = false
    /// Nil where the server does not say what a calendar holds.
    var components: Set<String>?
    /// Where the account is described.
    var principal: String?
    /// Folders of the account's calendars.
    var homes: [String] = []
    /// An iCalendar text, with a zero at its end.
    var calendarData: [CChar]?

    var holdsEvents: Bool { components?.contains("VEVENT") ?? true }
}

/// Reads a multistatus (RFC 4918, section 13) in pieces. What it does not know it passes over.
///
/// A document type is refused as soon as it begins, and with it every entity that is not XML's own.
final class DAVReader {
    /// Most things of one answer, and how deep elements may lie in each other.
    static let resourceLimit = 20_000, depthLimit = 64
    /// Most bytes of one tag. Expat reads a tag from its beginning again with every piece that comes (CVE-2023-52425).
    static let tagLimit = 256 << 10

    private(set) var resources: [DAVResource] = []
    /// The end of a sentence; nil as long as all is well.
    private(set) var fault: String?

    private let parser: XML_Parser
    private var path: [String] = []
    /// Bytes since the last tag or text.
    private var pending = 0
    private var text: [UInt8]?
    private var resource = DAVResource()
    /// What one `propstat` says, and whether its status is a good one.
    private var properties = DAVResource(), isGood = true

    init() {
        // Names come as namespace, space, name. Without memory for a parser nothing else would go on either.
        parser = XML_ParserCreateNS(nil, XML_Char(0x20))!
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let name else { return }
                var named: String?
                var next = attributes
                while let key = next?[0], let value = next?[1] {
                    if String(cString: key) == "name" { named = String(cString: value) }
                    next = next?.advanced(by: 2)
                }
                DAVReader.of(context).begin(String(cString: name), named: named)
            }, { context, _ in DAVReader.of(context).finish() })
        XML_SetCharacterDataHandler(parser) { context, bytes, count in
            guard let bytes else { return }
            DAVReader.of(context).add(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            DAVReader.of(context).give("it holds a document type, which no calendar needs")
        }
    }

    deinit { XML_ParserFree(parser) }

    /// - Returns: false when no more is wanted.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard fault == nil else { return false }
        pending += bytes.count
        guard pending <= DAVReader.tagLimit + bytes.count else {
            fault = "it holds a tag longer than \(DAVReader.tagLimit >> 10) KB"
            return false
        }
        let isRead = XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 0)
        return check(isRead)
    }

    /// After the last byte: what was cut off is told.
    func end() {
        guard fault == nil else { return }
        _ = check(XML_Parse(parser, nil, 0, 1))
    }

    private func check(_ status: XML_Status) -> Bool {
        if status.rawValue == 0, fault == nil {
            let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
            fault = "it is no XML (line \(XML_GetCurrentLineNumber(parser)): \(words))"
        }
        return fault == nil
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> DAVReader {
        Unmanaged.fromOpaque(context!).takeUnretainedValue()  // set with the handlers
    }

    private func give(_ reason: String) {
        if fault == nil { fault = reason }
        XML_StopParser(parser, 0)
    }
}

// What the elements mean.
extension DAVReader {
    private static let calendar = "urn:ietf:params:xml:ns:caldav "

    private func begin(_ name: String, named: String?) {
        pending = 0
        if path.isEmpty, name != "DAV: multistatus" { return give("it is no list of things") }
        guard path.count < DAVReader.depthLimit else { return give("its elements lie too deep in each other") }
        switch name {
        case "DAV: response": resource = DAVResource()
        case "DAV: propstat": (properties, isGood) = (DAVResource(), true)
        case "DAV: href", "DAV: status", DAVReader.calendar + "calendar-data": text = []
        case DAVReader.calendar + "calendar": if path.last == "DAV: resourcetype" { properties.isCalendar = true }
        case DAVReader.calendar + "supported-calendar-component-set": properties.components = []
        case DAVReader.calendar + "comp": if let named { properties.components?.insert(named.uppercased()) }
        default: break
        }
        path.append(name)
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        pending = 0
        text?.append(contentsOf: bytes)
    }

    private func finish() {
        // Also called for the element at which the parser was stopped, when that has no content.
        guard fault == nil else { return }
        pending = 0
        let name = path.removeLast(), parent = path.last
        switch name {
        case "DAV: href": take(href: words(), of: parent)
        case "DAV: status" where parent == "DAV: propstat":
            // "HTTP/1.1 200 OK"
            isGood = words().split(separator: " ").dropFirst().first?.hasPrefix("2") ?? false
        case DAVReader.calendar + "calendar-data":
            properties.calendarData = (text ?? []).filter { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
        case "DAV: propstat": if isGood { merge() }
        case "DAV: response":
            guard resources.count < DAVReader.resourceLimit else { return give("it holds too many things") }
            resources.append(resource)
        default: return
        }
        text = nil
    }

    private func words() -> String {
        String(decoding: text ?? [], as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func take(href: String, of parent: String?) {
        switch parent {
        case "DAV: response": resource.href = href
        case "DAV: current-user-principal": properties.principal = href
        case DAVReader.calendar + "calendar-home-set": properties.homes.append(href)
        default: break
        }
    }

    private func merge() {
        if properties.isCalendar { resource.isCalendar = true }
        resource.components = properties.components ?? resource.components
        resource.principal = properties.principal ?? resource.principal
        resource.homes += properties.homes
        resource.calendarData = properties.calendarData ?? resource.calendarData
    }
}

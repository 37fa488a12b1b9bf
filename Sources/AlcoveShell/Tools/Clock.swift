internal import AlcoveCore
internal import Synchronization

/// Dates as text, in a zone of the caller's choice.
///
/// The C library keeps one zone for the whole process; a lock stands around the calls that change it.
enum Clock {
    private static let zone = Mutex<String?>(nil)

    /// - Parameter zone: A name as TZ has it; nil for the system's own.
    static func parts(_ seconds: Int, isUTC: Bool, zone name: [UInt8]? = nil) -> tm {
        var parts = tm()
        var when = time_t(seconds)
        if isUTC {
            gmtime_r(&when, &parts)
        } else {
            inZone(name) { _ = localtime_r(&when, &parts) }
        }
        return parts
    }

    /// Seconds since 1970 of a date in a zone; fields out of range are carried over.
    static func seconds(_ parts: tm, isUTC: Bool, zone name: [UInt8]? = nil) -> Int {
        var parts = parts
        if isUTC { return timegm(&parts) }
        return inZone(name) { mktime(&parts) }
    }

    private static func inZone<Value>(_ name: [UInt8]?, _ body: () -> Value) -> Value {
        zone.withLock { current in
            let wanted = name?.text
            if wanted != current {
                if let wanted { setenv("TZ", wanted, 1) } else { unsetenv("TZ") }
                tzset()
            }
            defer {
                if wanted != current {
                    if let current { setenv("TZ", current, 1) } else { unsetenv("TZ") }
                    tzset()
                }
            }
            return body()
        }
    }

    /// - Parameter format: As strftime has it, with %s, %N and GNU's flags - _ 0 ^.
    static func text(
        _ seconds: Int, _ format: [UInt8], isUTC: Bool, zone name: [UInt8]? = nil, nanoseconds: Int = 0
    ) -> [UInt8] {
        var parts = parts(seconds, isUTC: isUTC, zone: name)
        var out: [UInt8] = []
        var place = 0
        while place < format.count {
            guard format[place] == 37, place + 1 < format.count else {
                out.append(format[place])
                place += 1
                continue
            }
            place += 1
            var flag: UInt8?
            if [45, 95, 48, 94, 58].contains(format[place]), place + 1 < format.count {
                flag = format[place]
                place += 1
            }
            var width = 0
            while place + 1 < format.count, format[place].isDigit, format[place] != 48 || width > 0 {
                width = min(width * 10 + Int(format[place]) - 48, 100)
                place += 1
            }
            let letter = format[place]
            place += 1
            var piece: [UInt8]
            switch letter {
            case 37: piece = [37]
            case 110: piece = [10]
            case 116: piece = [9]
            case 115: piece = Array("\(seconds)".utf8)
            case 78:
                let digits = "\(nanoseconds)"
                piece = Array((String(repeating: "0", count: max(0, 9 - digits.count)) + digits).utf8)
                if width > 0 { piece = Array(piece.prefix(width)) }
            default:
                var buffer = [CChar](repeating: 0, count: 200)
                let specification = "%" + [letter].text
                let count = inZone(name) { strftime(&buffer, buffer.count, specification, &parts) }
                piece = buffer.prefix(count).map { UInt8(bitPattern: $0) }
                if letter == 122, flag == 58, piece.count == 5 { piece.insert(58, at: 3) }
                if isUTC, letter == 90 { piece = Array("UTC".utf8) }
            }
            switch flag {
            case 45: while piece.count > 1, piece[0] == 48 || piece[0] == 32 { piece.removeFirst() }
            case 95:
                var index = 0
                while index < piece.count - 1, piece[index] == 48 {
                    piece[index] = 32
                    index += 1
                }
            case 94: piece = Array(piece.text.uppercased().utf8)
            default: break
            }
            out += piece
        }
        return out
    }
}

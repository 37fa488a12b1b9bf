internal import AlcoveCore
internal import Synchronization

/// A regular expression of the C library (POSIX), for lines of any bytes.
///
/// Compiled twice where it has to be: by bytes for lines that are ASCII, which is several times faster, and by characters
/// of UTF-8 for the others.
final class LibraryPattern {
    private let text: [UInt8]
    private let flags: Int32
    private let bytes: Compiled
    private var characters: Compiled?
    /// Subexpressions in parentheses.
    let groups: Int

    init(
        _ pattern: [UInt8], isExtended: Bool, foldsCase: Bool = false, isMultiline: Bool = false
    ) throws(Flow) {
        text = pattern.contains(0) ? Array(pattern.prefix { $0 != 0 }) : pattern
        flags = (isExtended ? REG_EXTENDED : 0) | (foldsCase ? REG_ICASE : 0) | (isMultiline ? REG_NEWLINE : 0)
        // A pattern with letters of its own means characters whatever the line holds.
        bytes = try Compiled(text, flags, byCharacters: text.contains { $0 >= 0x80 })
        groups = bytes.groups
    }

    /// The first match at or after a place, with its subexpressions; a part that took no part is nil.
    func groups(_ line: [UInt8], from place: Int = 0) -> [Range<Int>?]? {
        guard place <= line.count else { return nil }
        if bytes.byCharacters || LibraryPattern.isPlain(line) { return bytes.match(line, from: place) }
        if characters == nil { characters = try? Compiled(text, flags, byCharacters: true) }
        return (characters ?? bytes).match(line, from: place)
    }

    /// The first match at or after a place.
    func match(_ line: [UInt8], from place: Int = 0) -> Range<Int>? { groups(line, from: place)?[0] }

    private static func isPlain(_ line: [UInt8]) -> Bool {
        line.withUnsafeBytes { buffer in
            var index = 0
            while index + 8 <= buffer.count {
                if buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
                    return false
                }
                index += 8
            }
            while index < buffer.count {
                if buffer[index] >= 0x80 { return false }
                index += 1
            }
            return true
        }
    }

    private final class Compiled {
        private let raw = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        let byCharacters: Bool

        init(_ pattern: [UInt8], _ flags: Int32, byCharacters: Bool) throws(Flow) {
            self.byCharacters = byCharacters
            let raw = raw
            let code = CharacterLocale.used(byCharacters) {
                (pattern + [0]).withUnsafeBytes { regcomp(raw, $0.bindMemory(to: CChar.self).baseAddress!, flags) }
            }
            guard code == 0 else {
                var buffer = [CChar](repeating: 0, count: 200)
                regerror(code, raw, &buffer, buffer.count)
                raw.deallocate()
                throw .failed("\(shown(pattern)): \(buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.text)")
            }
        }

        deinit {
            regfree(raw)
            raw.deallocate()
        }

        var groups: Int { Int(raw.pointee.re_nsub) }

        func match(_ line: [UInt8], from place: Int) -> [Range<Int>?]? {
            let count = groups + 1
            return withUnsafeTemporaryAllocation(of: regmatch_t.self, capacity: count) { found in
                // The end is given, so that a line may hold zero bytes and is not copied.
                found[0].rm_so = regoff_t(place)
                found[0].rm_eo = regoff_t(line.count)
                let flags = REG_STARTEND | (place > 0 ? REG_NOTBOL : 0)
                let code = line.withUnsafeBytes { buffer in
                    let start = buffer.baseAddress ?? UnsafeRawPointer(found.baseAddress!)
                    return CharacterLocale.used(byCharacters) {
                        regexec(raw, start.assumingMemoryBound(to: CChar.self), count, found.baseAddress!, flags)
                    }
                }
                guard code == 0 else { return nil }
                return (0..<count).map { index in
                    let part = found[index]
                    return part.rm_so < 0 ? nil : Int(part.rm_so)..<Int(part.rm_eo)
                }
            }
        }
    }
}

/// The C library's idea of characters, for one call on this thread: the program itself never sets one.
enum CharacterLocale {
    /// Unchecked: made once, never freed or changed.
    private struct Handle: @unchecked Sendable { let raw: locale_t? }

    private static let utf8 = Handle(
        raw: newlocale(LC_CTYPE_MASK, "C.UTF-8", nil) ?? newlocale(LC_CTYPE_MASK, "en_US.UTF-8", nil))

    static func used<Value>(_ isUsed: Bool, _ body: () -> Value) -> Value {
        guard isUsed, let raw = utf8.raw else { return body() }
        let old = uselocale(raw)
        defer { uselocale(old) }
        return body()
    }
}

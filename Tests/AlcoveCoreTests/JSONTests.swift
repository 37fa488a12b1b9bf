import AlcoveCore
import Testing

struct JSONTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let value: JSONValue
        var testDescription: String { text }
    }

    static let readable = [
        Case(text: "null", value: nil), Case(text: " [1, -2.5e3 ,true]\n", value: [1, -2500.0, true]),
        Case(text: #"{"b":1,"a":{"c":[]}}"#, value: ["b": 1, "a": ["c": []]]),
        Case(text: #""\u00e9\ud83d\ude38\/\n""#, value: "é😸/\n"), Case(text: "-0", value: .double(-0.0)),
        Case(text: "9223372036854775807", value: .integer(.max)),
        Case(text: "9223372036854775808", value: .double(9_223_372_036_854_775_808)),
        // Half a pair has no UTF-8: replaced, not a reason to lose the document.
        Case(text: #""a\ud83dz""#, value: "a\u{FFFD}z"),
    ]

    @Test(arguments: readable) func reads(_ c: Case) throws {
        #expect(try JSONValue(parsing: c.text) == c.value)
    }

    static let unreadable: [(String, Int, String)] = [
        ("", 0, "it ends where a value should be"), ("01", 2, "a number does not begin with 0"),
        ("[1,]", 3, "no value begins like this"), ("{\"a\" 1}", 5, "a colon should be here"),
        ("nul", 0, "an unfinished word"), ("1 2", 2, "there is more after the end of the document"),
        ("\"a\nb\"", 2, "a control character must be escaped in a string"), ("\"\\x\"", 3, "an unknown escape"),
        ("\"abc", 4, "a string does not end"), ("1e999", 5, "the number is out of range"),
        ("+1", 0, "no value begins like this"),
    ]

    @Test(arguments: unreadable) func refusesByPlaceAndReason(_ text: String, _ offset: Int, _ reason: String) {
        #expect(throws: JSONError(offset: offset, reason: reason)) { try JSONValue(parsing: text) }
    }

    @Test func keysKeepTheirOrderThroughReadingAndWriting() throws {
        let text = #"{"z":1,"a":{"y":[1,2.5,"x"],"b":null},"m":false}"#

        #expect(try JSONValue(parsing: text).text() == text)
    }

    @Test func aRepeatedKeyKeepsItsFirstPlaceAndItsLastValue() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#)

        #expect(value.text() == #"{"a":3,"b":2}"#)
    }

    @Test func slashesAndUnicodeAreNotEscaped() {
        #expect(JSONValue.string("a/b — <é>\u{1}\"\\").text() == #""a/b — <é>\u0001\"\\""#)
    }

    @Test func deepNestingIsRefusedNotRecursedInto() {
        let text = String(repeating: "[", count: 100_000)

        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test func whatIsWrittenReadsBackEqual() throws {
        var generator = SplitMix(seed: 7)
        for _ in 0..<500 {
            let value = randomValue(&generator, depth: 4)
            #expect(try JSONValue(parsing: value.text()) == value)
            #expect(try JSONValue(parsing: value.text(.indented)) == value)
        }
    }

    private func randomValue(_ generator: inout SplitMix, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(.random(in: .min ... .max, using: &generator))
        case 3: return .double(Double.random(in: -1e18...1e18, using: &generator))
        case 4, 5:
            let scalars = (0..<Int.random(in: 0..<12, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator))
            }
            return .string(String(String.UnicodeScalarView(scalars)))
        case 6:
            return .array(
                (0..<Int.random(in: 0..<5, using: &generator)).map { _ in randomValue(&generator, depth: depth - 1) })
        default:
            var object = JSONObject()
            for index in 0..<Int.random(in: 0..<5, using: &generator) {
                object["k\(index)"] = randomValue(&generator, depth: depth - 1)
            }
            return .object(object)
        }
    }
}

/// The same numbers in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

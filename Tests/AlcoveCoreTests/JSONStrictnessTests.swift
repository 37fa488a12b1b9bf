import AlcoveCore
import Testing

/// The categories of JSONTestSuite (Nicolas Seriot, "Parsing JSON is a minefield"), cases written anew: what every reader
/// takes, what every reader refuses, and what each may decide.
struct JSONStrictnessTests {
    static let readable = [
        "[[]   ]", "[\"\"]", "[]", "[\"a\"]", "[false]", "[null, 1, \"1\", {}]", "[null]", "[1\n]", " [1]",
        "[1,null,null,null,2]", "[2] ", "[123e65]", "[0e+1]", "[0e1]", "[ 4]",
        "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]", "[20e1]", "[-0]",
        "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]", "[1e-2]", "[1e+2]", "[123]",
        "[123.456789]", "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}", "{\"asd\":\"sdf\"}", "{\"a\":\"b\",\"a\":\"c\"}",
        "{\"a\":\"b\",\"a\":\"b\"}", "{}", "{\"\":0}", "{\"foo\\u0000bar\": 42}",
        "{ \"min\": -1.0e+28, \"max\": 1.0e+28 }", "{\"x\":[{\"id\": \"xxxxxxxx\"}], \"id\": \"xxxxxxxx\"}",
        "{\"a\":[]}", "{\"title\":\"\\u041f\\u043e\\u043b\" }", "{\n\"a\": \"b\"\n}", "[\"\\u0060\\u012a\\u12AB\"]",
        "[\"\\uD801\\udc37\"]", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]",
        "[\"\\\\u0000\"]", "[\"\\\"\"]", "[\"a/*b*/c/*d//e\"]", "[\"\\\\a\"]", "[\"\\\\n\"]", "[\"\\u0012\"]",
        "[\"\\uFFFF\"]", "[\"asd\"]", "[ \"asd\"]", "[\"\\uDBFF\\uDFFF\"]", "[\"new\\u00A0line\"]", "[\"\\u0000\"]",
        "[\"\\u002c\"]", "[\"π\"]", "[\"asd \"]", "\" \"", "[\"\\uD834\\uDd1e\"]", "[\"\\u0821\"]", "[\"\\u0123\"]",
        "[\"\\u0061\\u30af\\u30EA\\u30b9\"]", "[\"new\\u000Aline\"]", "[\"\\uA66D\"]", "[\"\\u005C\"]",
        "[\"\u{2342}㈴\u{2342}\"]", "[\"\\u0022\"]", "[\"\\uDBFF\\uDFFE\"]", "[\"\\u200B\"]", "[\"\\u2064\"]",
        "[\"\\uFDD0\"]", "[\"\\uFFFE\"]", "[\"\u{20AC}\u{1D11E}\"]", "[\"aクリス\"]", "false", "42", "-0.1", "null",
        "\"asd\"", "true", "\"\"", "[\"a\"]\n", "[true]", " [] ", "\t[\t1\t]\t",
    ]

    static let unreadable = [
        "[1 true]", "[\"\": 1]", "[\"\"],", "[,1]", "[1,,2]", "[\"x\",,]", "[\"x\"]]", "[\"\",]", "[\"x\"", "[x",
        "[3[4]]", "[1:2]", "[,]", "[-]", "[   , \"\"]", "[\"a\",\n4\n,1,", "[1,]", "[1,,]", "[*]", "[\"\"",
        "[1,\n1\n,1", "[{}", "[fals]", "[nul]", "[tru]", "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]",
        "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]", "[0E+]", "[0E]", "[0e+]", "[0e]",
        "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]",
        "[NaN]", "[\u{FF11}]", "[1+2]", "[0x1]", "[0x42]", "[Infinity]", "[0e+-1]", "[-123.123foo]", "[-Infinity]",
        "[-foo]", "[- 1]", "[-012]", "[-.123]", "[-1x]", "[1ea]", "[1.]", "[.123]", "[1.2a-3]",
        "[1.8011670033376514H-308]", "[012]", "[\"x\", truth]", "{[: \"x\"}", "{\"x\", null}", "{\"x\"::\"b\"}",
        "{\u{1F1E8}\u{1F1ED}}", "{\"a\":\"a\" 123}", "{key: 'value'}", "{\"a\" b}", "{:\"b\"}", "{\"a\" \"b\"}",
        "{\"a\":", "{\"a\"", "{1:1}", "{9999E9999:1}", "{null:null,null:null}", "{\"id\":0,,,,,}", "{'a':0}",
        "{\"id\":0,}", "{\"a\":\"b\"}/**/", "{\"a\":\"b\"}/**//", "{\"a\":\"b\"}//", "{\"a\":\"b\"}/",
        "{\"a\":\"b\",,\"c\":\"d\"}", "{a: \"b\"}", "{\"a\":\"a", "{ \"foo\" : \"bar\", \"a\" }", "{\"a\":\"b\"}#",
        " ", "[\"\\uD800\\\"]", "[\"\\uD800\\u\"]", "[\"\\uD800\\u1\"]", "[\"\\uD800\\u1x\"]", "[é]", "[\"\\x00\"]",
        "[\"\\\\\\\"]", "[\"\\\t\"]", "[\"\\\u{1F300}\"]", "[\"\\\"]", "[\"\\u00A\"]", "[\"\\uD834\\uDd\"]",
        "[\"\\uD800\\uD800\\x\"]", "[\"\\a\"]", "[\"\\uqqqq\"]", "[\\u0020\"asd\"]", "[\\n]", "\"",
        "['single quote']", "abc", "[\"\\", "[\"new\nline\"]", "[\"\t\"]", "\"\\UA66D\"", "\"\"x", "[\u{2060}]",
        "<.>", "[<null>]", "[1]x", "[1]]", "[\"asd]", "aå", "[True]", "1]", "{\"x\": true,", "[][]", "]", "[",
        "{\"a\": 'a'", "{,", "{]", "{}}", "{\"\":", "{\"a\":/*comment*/\"b\"}", "{\"a\": true} \"x\"", "[\"a",
        "[\"a\"", "{\"a\":\"b\"", "{\"a\":\"b\"#{}", "[{", "2@", "[\\u000A\"\"]", "{\"asd\":\"asd\"", "å",
        "// c\n1", "[1]/**/", "['", "\"\\u12G4\"", "tru", "TRUE", "nan", "--1", "1e", "1.e1", "0x", "00", "-", "+",
        ".", "",
    ]

    /// Not UTF-8, other encodings, control characters.
    static let unreadableBytes: [[UInt8]] = [
        [0xff], [0x5b, 0xff, 0x5d], [0x22, 0xe9, 0x22], [0x5b, 0x22, 0xff, 0x22, 0x5d],
        [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xf8, 0x80, 0x80, 0x80, 0x22], [0x22, 0xc0, 0xaf, 0x22],
        [0x22, 0xe0, 0xff, 0x22], [0x22, 0xf4, 0xbf, 0xbf, 0xbf, 0x22], [0x5b, 0x31, 0xe5, 0x5d],
        [0x5b, 0x61, 0xe5, 0x5d], [0x7b, 0x22, 0x61, 0x22, 0x3a, 0xe5, 0x7d], [0x5b, 0x22, 0x5c, 0xe5, 0x22, 0x5d],
        [0x5b, 0x22, 0x5c, 0x75, 0xe5, 0x22, 0x5d], [0xef, 0xbb, 0xbf], [0xef, 0xbb, 0x7b, 0x7d],
        [0xff, 0xfe, 0x5b, 0x00, 0x22, 0x00, 0xe9, 0x00, 0x22, 0x00, 0x5d, 0x00],
        [0x00, 0x5b, 0x00, 0x22, 0x00, 0xe9, 0x00, 0x22, 0x00, 0x5d], [0x5b, 0x22, 0x61, 0x00, 0x61, 0x22, 0x5d],
        [0x31, 0x00], [0x5b, 0x0c, 0x5d], [0x5b, 0x0b, 0x31, 0x5d], [0x5b, 0xe2, 0x81, 0xa0, 0x5d],
        [0x22, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22], [0x22, 0x81, 0x22], [0x5b, 0x22, 0x1f, 0x22, 0x5d],
        [0xc3, 0xa5],
    ]

    /// Ours to decide: numbers out of range are refused, too small ones become 0, half pairs are replaced, a byte order
    /// mark is refused.
    static let undecided: [(String, Bool)] = [
        ("[123.456e-789]", true), ("[0.4e0066999999996999]", false), ("[-1e+9999]", false), ("[1.5e+9999]", false),
        ("[-123123e100000]", false), ("[123123e100000]", false), ("[123123e-10000000]", true),
        ("[-123123123123123123123123123123]", true), ("[100000000000000000000]", true),
        ("[-237462374673276894279832749832423479823246327846]", true), ("{\"\\uDFAA\":0}", true),
        ("[\"\\uDADA\"]", true), ("[\"\\uD888\\u1234\"]", true), ("[\"\\uD800\\n\"]", true),
        ("[\"\\uDd1ea\"]", true), ("[\"\\uD800\\uD800\\n\"]", true), ("[\"\\ud800\"]", true),
        ("[\"\\ud800abc\"]", true), ("[\"\\uDd1e\\uD834\"]", true), ("[\"\\uDFAA\"]", true), ("\u{FEFF}{}", false),
    ]

    @Test(arguments: readable) func takes(_ text: String) {
        #expect(throws: Never.self) { try JSONValue(parsing: text) }
    }

    @Test(arguments: unreadable) func refuses(_ text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
    }

    @Test(arguments: unreadableBytes) func refusesBytes(_ bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
    }

    @Test(arguments: undecided) func decides(_ text: String, _ isReadable: Bool) {
        #expect(((try? JSONValue(parsing: text)) != nil) == isReadable)
    }

    @Test func depthIsLimitedAtBothEnds() {
        for (count, isReadable) in [(257, true), (258, false), (100_000, false)] {
            let text = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            #expect(((try? JSONValue(parsing: text)) != nil) == isReadable)
        }
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: #"{"":"#, count: 50_000)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: "[{\"\":", count: 50_000)) }
    }
}

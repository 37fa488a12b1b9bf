import AlcoveCore
import Testing

struct CanonicalJSONTests {
    /// RFC 8785, appendix B: the bits of a double and its text.
    static let numbers: [(UInt64, String)] = [
        (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"), (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"), (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"), (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"), (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"), (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"), (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"), (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"), (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ]

    @Test(arguments: numbers) func numbersAreWrittenAsECMAScriptDoes(_ bits: UInt64, _ text: String) throws {
        let value = JSONValue.double(Double(bitPattern: bits))

        #expect(String(decoding: try value.canonicalBytes(), as: UTF8.self) == text)
    }

    static let documents: [(String, String)] = [
        // RFC 8785, 3.2.2 and 3.2.3.
        (
            #"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"#
                + #""string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
                + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#
        ),
        (
            #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","#
                + #""\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#,
            #"{"\r":"Carriage Return","1":"One","# + "\"\u{80}\":\"Control\","
                + #""ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","#
                + "\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        ),
        // Of the RFC's test suite: structures, French order, values.
        (
            #"{"1":{"f":{"f":"hi","F":5},"\n":56.0},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}"#,
            #"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}"#
        ),
        (#"{"péché":1,"pêche":2,"peach":3,"sin":4}"#, #"{"peach":3,"péché":1,"pêche":2,"sin":4}"#),
        ("[56,{\"d\":true,\"10\":null,\"1\":[]}]", "[56,{\"1\":[],\"10\":null,\"d\":true}]"),
        // Nothing is normalised: two spellings of a letter are two keys.
        ("{\"e\u{301}\":2,\"\u{E9}\":1}", "{\"e\u{301}\":2,\"\u{E9}\":1}"),
        (#""\u007f\u0000\u001f\b\f\/""#, "\"\u{7F}\\u0000\\u001f\\b\\f/\""),
        // A canonical number is a double's.
        (
            "[9007199254740993,-9223372036854775808,9223372036854775807]",
            "[9007199254740992,-9223372036854776000,9223372036854776000]"
        ),
        ("[-0,-0.0,0e5,1.0,10e-1,100000000000000000000]", "[0,0,0,1,1,100000000000000000000]"),
    ]

    @Test(arguments: documents) func documentsAreWrittenAsTheRFCShows(_ text: String, _ expected: String) throws {
        let bytes = try JSONValue(parsing: text, rules: .interchange).canonicalBytes()

        #expect(bytes.elementsEqual(expected.utf8), "\(String(decoding: bytes, as: UTF8.self))")
    }

    @Test func whatIsNoNumberHasNoForm() {
        for value in [Double.nan, .infinity, -.infinity] {
            #expect(throws: CanonicalJSONError.notANumber) { try JSONValue.array([.double(value)]).canonicalBytes() }
        }
    }

    @Test(arguments: [#""\ud800""#, #""\udc00x""#, #"{"\ud83d":1}"#, #""\ud83d\u0041""#])
    func halfOfAPairIsRefused(_ text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: text, rules: .interchange) }
    }

    @Test func aKeyGivenTwiceIsRefused() {
        #expect(throws: JSONError(offset: 7, reason: #"the key "a" is given twice"#)) {
            try JSONValue(parsing: #"{"a":1,"\u0061":2}"#, rules: .interchange)
        }
    }

    @Test func integersThatADoubleCannotHoldAreFound() {
        #expect(JSONValue.array([9_007_199_254_740_992, 4_611_686_018_427_387_904]).exactInDoubles)
        #expect(!JSONValue.object(["a": [9_007_199_254_740_993]]).exactInDoubles)
    }
}

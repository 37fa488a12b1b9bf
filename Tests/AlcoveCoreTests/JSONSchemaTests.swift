import AlcoveCore
import Testing

struct JSONSchemaTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let schema: String
        let value: String
        var problems: [String] = []
        var testDescription: String { "\(name): \(value)" }
    }

    static let cases = [
        Case(name: "type", schema: #"{"type":"string"}"#, value: #""a""#),
        Case(
            name: "type", schema: #"{"type":"string"}"#, value: "1",
            problems: ["arguments should be text, not a number."]),
        Case(name: "type", schema: #"{"type":"integer"}"#, value: "1.0"),
        Case(
            name: "type", schema: #"{"type":"integer"}"#, value: "1.5",
            problems: ["arguments should be a whole number, not 1.5."]),
        Case(
            name: "type", schema: #"{"type":"integer"}"#, value: #""1""#,
            problems: ["arguments should be a whole number, not text."]),
        Case(
            name: "type", schema: #"{"type":"number"}"#, value: "true",
            problems: ["arguments should be a number, not true."]),
        Case(name: "types", schema: #"{"type":["string","null"]}"#, value: "null"),
        Case(
            name: "types", schema: #"{"type":["string","null","array"]}"#, value: "{}",
            problems: ["arguments should be text, null or a list, not an object."]),
        Case(name: "nullable", schema: #"{"type":"string","nullable":true,"enum":["a"]}"#, value: "null"),
        Case(
            name: "deep path", schema: #"{"properties":{"files":{"items":{"properties":{"name":{"type":"string"}}}}}}"#,
            value: #"{"files":[{"name":"a"},{},{"name":1}]}"#,
            problems: ["arguments.files[2].name should be text, not a number."]),
        Case(
            name: "odd name", schema: #"{"additionalProperties":{"type":"boolean"}}"#, value: #"{"a b":"x"}"#,
            problems: [#"arguments["a b"] should be true or false, not text."#]),
        Case(
            name: "required", schema: #"{"required":["a","b","c"]}"#, value: #"{"b":1}"#,
            problems: ["arguments.a is missing.", "arguments.c is missing."]),
        Case(
            name: "unknown", schema: #"{"properties":{"path":{},"limit":{}},"additionalProperties":false}"#,
            value: #"{"pth":1,"other":2}"#,
            problems: [
                "arguments.pth is not known; did you mean path?",
                "arguments.other is not known; known are path, limit.",
            ]),
        Case(
            name: "unknown", schema: #"{"type":"object","additionalProperties":false}"#, value: #"{"a":1}"#,
            problems: ["arguments.a is not known; there are no arguments here."]),
        Case(
            name: "patternProperties",
            schema: #"{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}"#,
            value: #"{"xa":1,"xb":null}"#, problems: ["arguments.xa should be null, not a number."]),
        Case(
            name: "members", schema: #"{"minProperties":1}"#, value: "{}",
            problems: ["arguments should have at least 1 member, not 0."]),
        Case(name: "enum", schema: #"{"enum":["a",1,null]}"#, value: "1.0"),
        Case(
            name: "enum", schema: #"{"enum":["a",1,null]}"#, value: #""b""#,
            problems: [#"arguments should be one of "a", 1, null, not "b"."#]),
        Case(
            name: "enum by bytes", schema: "{\"enum\":[\"\u{E9}\"]}", value: "\"e\u{301}\"",
            problems: ["arguments should be one of \"\u{E9}\", not \"e\u{301}\"."]),
        Case(name: "const", schema: #"{"const":{"a":[1]}}"#, value: #"{"a":[1.0]}"#),
        Case(name: "const", schema: #"{"const":2}"#, value: "3", problems: ["arguments should be 2, not 3."]),
        Case(
            name: "items", schema: #"{"minItems":2,"maxItems":3,"uniqueItems":true}"#, value: "[1]",
            problems: ["arguments should have at least 2 items, not 1."]),
        Case(
            name: "items", schema: #"{"maxItems":1,"uniqueItems":true}"#, value: #"[{"a":1,"b":2},{"b":2,"a":1.0}]"#,
            problems: [
                "arguments should have at most 1 item, not 2.", "arguments[1] should not be the same as arguments[0].",
            ]),
        Case(
            name: "prefixItems", schema: #"{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}"#,
            value: #"["a",1,"b"]"#,
            problems: ["arguments[2] should be a number, not text."]),
        Case(
            name: "prefixItems", schema: #"{"prefixItems":[{}],"items":false}"#, value: "[1,2]",
            problems: ["arguments[1] should not be there."]),
        Case(name: "length", schema: #"{"minLength":2,"maxLength":2}"#, value: #""😸é""#),
        Case(
            name: "length", schema: #"{"minLength":2}"#, value: #""😸""#,
            problems: ["arguments should have at least 2 characters, not 1."]),
        Case(name: "pattern", schema: #"{"pattern":"^[a-z]{2,3}$"}"#, value: #""abc""#),
        Case(
            name: "pattern", schema: #"{"pattern":"^[a-z]+$"}"#, value: #""aB""#,
            problems: ["arguments should match the pattern ^[a-z]+$."]),
        Case(name: "range", schema: #"{"minimum":1,"maximum":5}"#, value: "5"),
        Case(
            name: "range", schema: #"{"minimum":1}"#, value: "0", problems: ["arguments should be at least 1, not 0."]),
        Case(
            name: "range", schema: #"{"maximum":1.5}"#, value: "2",
            problems: ["arguments should be at most 1.5, not 2."]),
        Case(
            name: "range", schema: #"{"exclusiveMinimum":1}"#, value: "1",
            problems: ["arguments should be more than 1, not 1."]),
        Case(
            name: "range", schema: #"{"exclusiveMaximum":1}"#, value: "1",
            problems: ["arguments should be less than 1, not 1."]),
        Case(
            name: "range of draft 4", schema: #"{"minimum":1,"exclusiveMinimum":true}"#, value: "1",
            problems: ["arguments should be more than 1, not 1."]),
        Case(name: "multipleOf", schema: #"{"multipleOf":0.01}"#, value: "19.99"),
        Case(
            name: "multipleOf", schema: #"{"multipleOf":10}"#, value: "15",
            problems: ["arguments should be a multiple of 10, not 15."]),
        Case(
            name: "allOf", schema: #"{"allOf":[{"minimum":3},{"maximum":5}]}"#, value: "2",
            problems: ["arguments should be at least 3, not 2."]),
        Case(name: "anyOf", schema: #"{"anyOf":[{"type":"string"},{"type":"null"}]}"#, value: "null"),
        Case(
            name: "anyOf", schema: #"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"string"}}}]}"#,
            value: #"{"a":1}"#,
            problems: ["arguments fits none of its 2 forms; for the nearest, arguments.a should be text, not a number."]
        ),
        Case(
            name: "oneOf", schema: #"{"oneOf":[{"minimum":1},{"minimum":2},{"type":"null"}]}"#, value: "3",
            problems: ["arguments fits 2 forms and should fit only one."]),
        Case(name: "oneOf", schema: #"{"oneOf":[{"minimum":1},{"minimum":2}]}"#, value: "1"),
        Case(
            name: "not", schema: #"{"not":{"type":"string"}}"#, value: #""a""#,
            problems: ["arguments has a form that is not allowed."]),
        Case(
            name: "$ref",
            schema:
                ##"{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"number"}}}},"$ref":"#/$defs/n"}"##,
            value: #"{"next":{"next":{"v":"x"}}}"#, problems: ["arguments.next.next.v should be a number, not text."]),
        Case(
            name: "$ref with escapes", schema: ##"{"$defs":{"a/b":{"type":"null"}},"$ref":"#/$defs/a~1b"}"##,
            value: "1", problems: ["arguments should be null, not a number."]),
        Case(name: "false", schema: "false", value: "1", problems: ["arguments should not be there."]),
        Case(name: "format says nothing", schema: #"{"type":"string","format":"date"}"#, value: #""x""#),
        Case(
            name: "five at most", schema: #"{"items":{"type":"null"}}"#, value: "[1,1,1,1,1,1,1]",
            problems: (0..<5).map { "arguments[\($0)] should be null, not a number." }),
    ]

    @Test(arguments: cases) func saysWhatIsWrongAndWhere(_ c: Case) throws {
        let schema = try JSONSchema(JSONValue(parsing: c.schema))

        #expect(try schema.problems(in: JSONValue(parsing: c.value)) == c.problems)
    }

    @Test func aStrictToolRefusesWhatItDoesNotDeclare() throws {
        let schema = try JSONSchema(["type": "object", "properties": ["command": ["type": "string"]]])
        let value: JSONValue = ["comand": "ls"]

        #expect(try schema.problems(in: value) == [])
        #expect(
            try schema.problems(in: value, isStrict: true) == ["arguments.comand is not known; did you mean command?"])
    }

    @Test func whatIsNotCheckedIsNamed() throws {
        let schema = try JSONSchema(
            JSONValue(parsing: #"{"if":{},"properties":{"a":{"pattern":"(?=x)"},"b":{"$ref":"http://x/y"}}}"#))

        #expect(
            schema.unsupported == [
                #""if" is not checked."#,
                "The pattern (?=x) is not checked: at character 3 it looks ahead or behind, which is not supported.",
                #""$ref" to http://x/y is not followed: it is elsewhere."#,
            ])
        #expect(try schema.problems(in: ["a": "y", "b": 1]) == [])
    }

    // MARK: hostile schemas

    @Test func circlesEnd() throws {
        for text in [
            ##"{"$ref":"#"}"##, ##"{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}"##, ##"{"not":{"$ref":"#"}}"##,
            ##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        ] {
            let schema = try JSONSchema(JSONValue(parsing: text))
            #expect(throws: JSONSchemaError.tooCostly) { try schema.problems(in: [1, 2]) }
        }
    }

    @Test(.timeLimit(.minutes(1))) func exponentialAlternativesEnd() throws {
        var definitions = JSONObject()
        for level in 0..<40 {
            let next: JSONValue = ["$ref": .string("#/$defs/a\(level + 1)")]
            definitions["a\(level)"] = ["anyOf": [next, next]]
        }
        definitions["a40"] = false
        let schema = try JSONSchema(["$defs": .object(definitions), "$ref": "#/$defs/a0"])

        #expect(throws: JSONSchemaError.tooCostly) { try schema.problems(in: 1) }
    }

    @Test func deepAndLargeSchemasAreRefused() throws {
        var deep: JSONValue = true
        for _ in 0..<100 { deep = ["not": deep] }
        #expect(throws: JSONSchemaError.refused(reason: "it is nested deeper than 64")) { try JSONSchema(deep) }
        let large = JSONValue.array([JSONValue](repeating: true, count: 30_000))
        #expect(throws: JSONSchemaError.refused(reason: "it has more than 20000 parts")) {
            try JSONSchema(["anyOf": large])
        }
        #expect(throws: JSONSchemaError.refused(reason: "a part of it is neither an object nor true or false")) {
            try JSONSchema(["items": 3])
        }
    }

    @Test(.timeLimit(.minutes(1))) func patternsOnLongTextsEnd() throws {
        let schema = try JSONSchema(["pattern": "(a*)*(b|c){500}$"])

        #expect(throws: JSONSchemaError.tooCostly) {
            try schema.problems(in: .string(String(repeating: "a", count: 1_000_000)))
        }
    }
}

struct LinearPatternTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let pattern: String
        var yes: [String] = []
        var no: [String] = []
        var testDescription: String { pattern }
    }

    static let cases = [
        Case(pattern: "", yes: ["", "x"]), Case(pattern: "b", yes: ["abc"], no: ["ac"]),
        Case(pattern: "^ab$", yes: ["ab"], no: ["xab", "abx", "ab\n"]),
        Case(pattern: "^a|b$", yes: ["ax", "xb"], no: ["xax"]),
        Case(pattern: "^(a|b)c?$", yes: ["a", "bc"], no: ["cc", ""]),
        Case(pattern: "^a{2}$", yes: ["aa"], no: ["a", "aaa"]),
        Case(pattern: "^a{2,}$", yes: ["aa", "aaaa"], no: ["a"]),
        Case(pattern: "^a{1,2}?$", yes: ["a", "aa"], no: ["", "aaa"]),
        Case(pattern: "^a{,2}$", yes: ["a{,2}"], no: ["aa"]),
        Case(pattern: "^{x}$", yes: ["{x}"]), Case(pattern: "^(?:ab)+?$", yes: ["abab"], no: ["aba"]),
        Case(pattern: "^(?<year>\\d{4})-\\d\\d$", yes: ["2026-01"], no: ["26-01"]),
        Case(pattern: "^[a-c\\d_-]+$", yes: ["b-9_"], no: ["d", ""]),
        Case(pattern: "^[^a-c]$", yes: ["d", "😸"], no: ["b", ""]),
        Case(pattern: "^[]$", no: ["]", ""]), Case(pattern: "^[\\W]$", yes: ["-", "é"], no: ["a"]),
        Case(pattern: "^.$", yes: ["x", "😸"], no: ["\n", "", "xy"]),
        Case(pattern: "\\bcat\\b", yes: ["a cat."], no: ["concat"]),
        Case(pattern: "^\\u00e9\\x41\\.\\/$", yes: ["éA./"], no: ["eA./"]),
        Case(pattern: "^\\s\\S$", yes: [" a"], no: ["  "]),
        Case(pattern: "^(a*)*$", yes: ["", "aaa"], no: ["aab"]), Case(pattern: "^(|a)+$", yes: ["", "aa"], no: ["b"]),
        Case(pattern: "^[\\b]$", yes: ["\u{8}"]), Case(pattern: "(^|x)a", yes: ["a", "xa"], no: ["ba"]),
    ]

    @Test(arguments: cases) func matches(_ c: Case) throws {
        let pattern = try LinearPattern(c.pattern)

        for text in c.yes { #expect(pattern.matches(text), "\(text)") }
        for text in c.no { #expect(!pattern.matches(text), "\(text)") }
    }

    @Test(arguments: [
        "(", ")", "[a", "a**", "*", "+a", "a{1001}", "a{3,2}", "(?=a)", "(?!a)", "(?<=a)", "\\1", "\\p{L}", "\\",
        "[b-a]", "\\xg0",
        "((a{100}){100}){100}", "(((){1000}){1000}){1000}", "(?<a",
    ])
    func refusesWhatItCannotDo(_ pattern: String) {
        #expect(throws: LinearPattern.Unsupported.self) { try LinearPattern(pattern) }
    }

    @Test func deepGroupsAndLongPatternsAreRefused() {
        #expect(throws: LinearPattern.Unsupported.self) { try LinearPattern(String(repeating: "(", count: 1500)) }
        #expect(throws: LinearPattern.Unsupported.self) { try LinearPattern(String(repeating: "a", count: 2001)) }
    }

    @Test(.timeLimit(.minutes(1))) func whatTrapsBacktrackingTakesNoTime() throws {
        let pattern = try LinearPattern("^(a+)+$")

        #expect(!pattern.matches(String(repeating: "a", count: 20_000) + "b"))
    }
}

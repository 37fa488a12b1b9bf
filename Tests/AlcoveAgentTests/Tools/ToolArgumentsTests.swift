import AlcoveCore
import Testing

@testable import AlcoveAgent

struct ToolArgumentsTests {
    private let schema: JSONSchema

    init() throws { schema = try JSONSchema(FileText.readSchema) }

    private func read(_ text: String) throws(ToolArgumentsError) -> ToolArguments {
        try ToolArguments(text, tool: "read_file", schema: schema, rewriting: ToolAliases.readFile)
    }

    @Test(arguments: [
        #"{"path":"a","limit":3}"#, #" { "limit" : 3.0 , "p\u0061th" : "a" } "#, #""{\"path\":\"a\",\"limit\":3}""#,
        #"{"file_path":"a","lines":3}"#,
    ])
    func oneCallHasOneSignature(_ text: String) throws {
        let arguments = try read(text)

        #expect(String(decoding: arguments.canonical, as: UTF8.self) == #"{"limit":3,"path":"a"}"#)
        #expect(arguments.signature == SHA256.hex(Array("read_file\u{0}{\"limit\":3,\"path\":\"a\"}".utf8)))
    }

    @Test func anotherToolHasAnotherSignature() throws {
        let a = try ToolArguments("{}", tool: "a", schema: JSONSchema(true))
        let b = try ToolArguments(" ", tool: "b", schema: JSONSchema(true))

        #expect(a.canonical == b.canonical && a.signature != b.signature)
    }

    static let ranges: [(String, String)] = [
        (#"{"path":"a","view_range":[3,7]}"#, #"{"limit":5,"offset":3,"path":"a"}"#),
        (#"{"path":"a","range":[3,-1]}"#, #"{"limit":1000000,"offset":3,"path":"a"}"#),
        (#"{"target_file":"a","start_line":2}"#, #"{"offset":2,"path":"a"}"#),
    ]

    @Test(arguments: ranges) func otherNamesBecomeTheProperOnes(_ text: String, _ canonical: String) throws {
        #expect(String(decoding: try read(text).canonical, as: UTF8.self) == canonical)
    }

    static let refusals: [(String, String)] = [
        (
            #"{"path":"a""#,
            "read_file was not called: The JSON cannot be read at byte 11: a comma or } should be here."
        ),
        (
            "[1]",
            "read_file was not called: The JSON cannot be read at byte 0: the arguments should be an object, {...}."
        ),
        (
            #""path""#,
            "read_file was not called: The JSON cannot be read at byte 0: the arguments should be an object, {...}."
        ),
        (
            #"{"path":"a","path":"b"}"#,
            #"read_file was not called: The JSON cannot be read at byte 12: the key "path" is given twice."#
        ),
        (
            #"{"path":"\ud800"}"#,
            "read_file was not called: The JSON cannot be read at byte 15: half of a surrogate pair stands alone."
        ),
        ("", "read_file was not called: arguments.path is missing."),
        (
            #"{"path":"a","limit":"3"}"#,
            "read_file was not called: arguments.limit should be a whole number, not text."
        ),
        (
            #"{"path":1,"ofset":2}"#,
            "read_file was not called for 2 reasons: arguments.path should be text, not a number. "
                + "arguments.ofset is not known; did you mean offset?"
        ),
        (
            #"{"path":"a","file":"b"}"#,
            "read_file was not called: arguments.file is not known; known are path, offset, limit."
        ),
        (
            #"{"path":"a","limit":9007199254740993}"#,
            "read_file was not called: A whole number in them is too large to be kept exactly."
        ),
    ]

    @Test(arguments: refusals) func refusesInWordsAModelCanActOn(_ text: String, _ message: String) {
        let error = #expect(throws: ToolArgumentsError.self) { try read(text) }
        #expect(error?.message == message)
    }

    @Test func fencesAndMarkersInsideArgumentsAreOnlyText() throws {
        // Field report 11.
        let content = "# Title\n```swift\nlet a = \"</tool_call>\"\n```\n*** End Patch\n"
        let text = JSONValue.object(["path": "a.md", "content": .string(content)]).text()

        let arguments = try ToolArguments(
            text, tool: "write_file", schema: JSONSchema(FileText.writeSchema), rewriting: ToolAliases.writeFile)

        let writing = try FileText.writing(arguments.value["content"] ?? .null, to: "a.md", existing: nil)
        #expect(writing == .create(Array(content.utf8)))
    }

    @Test func aPatchIsFoundUnderAnyName() throws {
        let envelope = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
        for name in ["patch", "input", "diff", "content", "text", "whatever"] {
            let object = ToolAliases.applyPatch([name: .string(envelope)])
            #expect(object == ["patch": .string(envelope)])
        }
        let operations: JSONObject = ["type": "create_file", "path": "a", "content": "x"]
        let files = MemoryFiles()
        let patch = try #require(ToolAliases.applyPatch(operations)["patch"]?.string)
        _ = try Patch(parsing: patch).apply(to: files)
        #expect(files.texts == ["a": "x\n"])
    }
}

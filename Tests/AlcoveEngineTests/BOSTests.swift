internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

/// Field report 5: the token that begins a sequence stands exactly once where the file asks for it.
struct BOSTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let addBOS: Bool?
        let template: String
        var content = "hi"
        let expected: Int
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "asked for, written", addBOS: true, template: "<s>{{ messages[0].content }}", expected: 1),
        Case(
            name: "asked for, written by name", addBOS: true, template: "{{ bos_token }}{{ messages[0].content }}",
            expected: 1),
        Case(name: "asked for, written twice", addBOS: true, template: "<s>{{ bos_token }}x", expected: 1),
        Case(name: "asked for, not written", addBOS: true, template: "{{ messages[0].content }}", expected: 1),
        Case(name: "not asked for, written", addBOS: false, template: "<s>{{ messages[0].content }}", expected: 1),
        Case(name: "not asked for, not written", addBOS: false, template: "{{ messages[0].content }}", expected: 0),
        Case(name: "nothing said, written", addBOS: nil, template: "<s>{{ messages[0].content }}", expected: 1),
        Case(name: "nothing said, not written", addBOS: nil, template: "{{ messages[0].content }}", expected: 0),
        Case(
            name: "asked for, forged", addBOS: true, template: "{{ messages[0].content }}", content: "<s><s>hi",
            expected: 1),
        Case(
            name: "not asked for, forged", addBOS: false, template: "{{ messages[0].content }}", content: "<s>hi",
            expected: 0),
        Case(name: "asked for, in the middle too", addBOS: true, template: "<s>a</s><s>b", expected: 2),
    ]

    @Test(arguments: cases) func bosStandsAsOftenAsItShould(_ c: Case) async throws {
        let folder = GGUFFolder()
        let engine = try await LlamaEngine.loadVocabulary(path: folder.file(Self.file(c.addBOS, c.template)))

        let (tokens, control) = try engine.tokenize([Message(role: .user, content: c.content)])

        #expect(tokens.filter { $0 == 0 }.count == c.expected)
        #expect((tokens.first == 0) == (c.expected > 0))
        #expect(control.map { tokens[$0] } == tokens.filter { $0 < 3 })
    }

    @Test func aBOSThatIsHalfOfAPairIsKept() async throws {
        let folder = GGUFFolder()
        let engine = try await LlamaEngine.loadVocabulary(
            path: folder.file(Self.file(false, "[gMask]<sop>x", bos: "[gMask]")))

        let tokens = try engine.tokenize([Message(role: .user, content: "")]).tokens

        #expect(tokens.prefix(2) == [0, 2])
    }

    /// A vocabulary of single bytes with three control tokens before them.
    private static func file(_ addBOS: Bool?, _ template: String, bos: String = "<s>") -> [UInt8] {
        var builder = GGUFBuilder.tiny()
        let letters = byteLetters()
        builder.set("tokenizer.ggml.tokens", .strings([bos, "</s>", "<sop>"] + letters + ["zq"]))
        builder.set("tokenizer.ggml.token_type", .int32s([3, 3, 3] + Array(repeating: 1, count: letters.count + 1)))
        builder.set("tokenizer.ggml.merges", .strings(["z q"]))
        builder.set("tokenizer.chat_template", .string(template))
        builder.remove("tokenizer.ggml.add_bos_token")
        if let addBOS { builder.add("tokenizer.ggml.add_bos_token", .bool(addBOS ? 1 : 0)) }
        return builder.bytes()
    }

    /// GPT-2's letters for the 256 bytes: itself where it can be seen, otherwise the next one from U+0100.
    private static func byteLetters() -> [String] {
        var next: UInt32 = 256
        return (UInt32(0)..<256).map { byte in
            if (33...126).contains(byte) || (161...172).contains(byte) || (174...255).contains(byte) {
                return String(UnicodeScalar(byte)!)  // a byte is a scalar
            }
            defer { next += 1 }
            return String(UnicodeScalar(next)!)  // below U+0144
        }
    }
}

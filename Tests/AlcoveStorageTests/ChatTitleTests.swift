import AlcoveCore
import AlcoveStorage
import Testing

struct ChatTitleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let messages: [MessageBody]
        let expected: String
        var testDescription: String { name }
    }

    private static func user(_ text: String?, extras: JSONObject = [:]) -> MessageBody {
        MessageBody(role: "user", content: text, extras: extras)
    }

    static let cases = [
        Case(name: "plain", messages: [user("Hello there")], expected: "Hello there"),
        Case(name: "first line, trimmed", messages: [user("\n  Hello \t\r\nthere")], expected: "Hello"),
        Case(
            name: "assistant first",
            messages: [MessageBody(role: "assistant", content: "Hi"), user("Question")], expected: "Question"),
        Case(
            name: "60 characters stay", messages: [user(String(repeating: "é", count: 60))],
            expected: String(repeating: "é", count: 60)),
        Case(
            name: "61 are cut", messages: [user(String(repeating: "é", count: 61))],
            expected: String(repeating: "é", count: 57) + "…"),
        Case(
            name: "file blocks go",
            messages: [user("[File: a.txt]\nx\n[End of file]\n\n[File: b]\ny\n[End of file]\n\nCompare them")],
            expected: "Compare them"),
        Case(
            name: "a file that holds the end mark",
            messages: [user("[File: a]\nsay [End of file] here\n[End of file]\n\nWhy?")], expected: "Why?"),
        Case(name: "no end mark", messages: [user("[File: a] is what I wrote")], expected: "[File: a] is what I wrote"),
        Case(
            name: "only an attachment",
            messages: [user("", extras: ["attachments": [["file": "1.png", "fileName": "Cat.png"]]])],
            expected: "Cat.png"),
        Case(
            name: "text of a later message is better than an attachment",
            messages: [user(nil, extras: ["attachments": [["fileName": "Cat.png"]]]), user("What is it?")],
            expected: "What is it?"),
        Case(
            name: "only a text file", messages: [user(nil, extras: ["textFileNames": ["notes.md"]])],
            expected: "notes.md"),
        Case(
            name: "controls and overrides go", messages: [user("\u{7}a\u{202E}b\u{2066}c\u{200B}\u{FEFF}d\te")],
            expected: "abcd e"),
        Case(
            name: "joiners and marks of direction stay",
            messages: [user("👩\u{200D}💻 \u{200F}\u{5D0} \u{645}\u{200C}\u{62E}")],
            expected: "👩\u{200D}💻 \u{200F}\u{5D0} \u{645}\u{200C}\u{62E}"),
        Case(name: "a line that cannot be seen is none", messages: [user("\u{202E}\u{0}\nSeen")], expected: "Seen"),
        Case(name: "nothing", messages: [], expected: "Chat Jan 2, 03:04"),
        Case(name: "blank", messages: [user(" \n ")], expected: "Chat Jan 2, 03:04"),
    ]

    @Test(arguments: cases) func isMadeFromTheFirstQuestion(_ c: Case) {
        let title = ChatTitle.derive(from: c.messages, createdAt: Timestamp(milliseconds: 0)) { _ in "Jan 2, 03:04" }

        #expect(title == c.expected)
    }
}

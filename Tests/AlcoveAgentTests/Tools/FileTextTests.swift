import AlcoveCore
import Testing

@testable import AlcoveAgent

struct FileTextTests {
    private func page(_ text: String, offset: Int = 1, limit: Int = 400) throws(FileTextError) -> FileText.Page {
        try FileText.page(of: Array(text.utf8), path: "a.txt", offset: offset, limit: limit)
    }

    @Test func linesAreNumberedAndCounted() throws {
        #expect(
            try page("one\r\ntwo\n\nfour").text == """
                a.txt, lines 1-4 of 4:
                    1 | one
                    2 | two
                    3 |\u{20}
                    4 | four

                """)
    }

    @Test func aPageSaysWhereToGoOn() throws {
        let page = try page("1\n2\n3\n4\n", offset: 2, limit: 2)

        #expect(page.text == "a.txt, lines 2-3 of 4:\n    2 | 2\n    3 | 3\n(1 more line; go on with offset 4.)\n")
        #expect(page.lines == 2..<4 && page.total == 4)
        #expect(try self.page("1\n2\n", offset: 2).text == "a.txt, line 2 of 2:\n    2 | 2\n")
        #expect(try self.page("").text == "a.txt is empty.")
    }

    @Test func aPageNeverPasses64KiB() throws {
        let text = String(repeating: String(repeating: "é", count: 1999) + "\n", count: 100)

        let first = try page(text)

        #expect(first.text.utf8.count <= FileText.pageLimit + 200)
        #expect(first.text.hasSuffix("(84 more lines; go on with offset 17.)\n"))
    }

    @Test func aLongLineIsCutWithAMark() throws {
        let page = try page(String(repeating: "😸", count: 2001))

        #expect(
            page.text == "a.txt, line 1 of 1:\n    1 | \(String(repeating: "😸", count: 2000)) ... (1 more character)\n")
    }

    @Test func otherEncodingsAreReadAndNamed() throws {
        let utf16: [UInt8] = [0xFF, 0xFE, 0xE9, 0x00, 0x0A, 0x00]
        #expect(try FileText.page(of: utf16, path: "a").text == "a, line 1 of 1 (UTF-16):\n    1 | é\n")
        #expect(try FileText.page(of: [0xEF, 0xBB, 0xBF, 0x61], path: "a").text == "a, line 1 of 1:\n    1 | a\n")
        #expect(
            try FileText.page(of: [0x61, 0xE9, 0x62], path: "a").text
                == "a, line 1 of 1 (bytes that are not UTF-8 are shown as \u{FFFD}):\n    1 | a\u{FFFD}b\n")
    }

    static let unreadable: [([UInt8], String)] = [
        (
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A],
            "a is not text but a PNG image (6 bytes). Look at it with a command that knows the format."
        ),
        (
            [0x61, 0x00, 0x62],
            "a is not text but binary data (3 bytes). Look at it with a command that knows the format."
        ),
        (
            [0x01, 0x02, 0x61],
            "a is not text but binary data (3 bytes). Look at it with a command that knows the format."
        ),
        (
            [0xFE, 0xFF, 0x00],
            "a is not text but broken UTF-16 (3 bytes). Look at it with a command that knows the format."
        ),
        (
            [UInt8](repeating: 0x61, count: 8 << 20 | 1),
            "a has 8388609 bytes, and files up to 8388608 bytes are read. Search it or cut a part out with a command."
        ),
    ]

    @Test(arguments: unreadable.indices) func whatIsNoTextIsNamed(_ index: Int) {
        let (bytes, sentence) = FileTextTests.unreadable[index]
        let error = #expect(throws: FileTextError.self) { try FileText.page(of: bytes, path: "a") }
        #expect(error?.sentence == sentence)
    }

    @Test func anOffsetPastTheEndSaysHowManyLinesThereAre() {
        let error = #expect(throws: FileTextError.self) { try page("1\n2\n", offset: 3) }
        #expect(error?.sentence == "a.txt has 2 lines; there is no line 3. Lines are counted from 1.")
    }

    // MARK: writing

    @Test func aFileThatIsThereIsLeftAlone() throws {
        let old = Array("one\r\ntwo\r\n".utf8)

        #expect(try FileText.writing("x", to: "a", existing: nil) == .create(Array("x".utf8)))
        #expect(try FileText.writing("one\ntwo\n", to: "a", existing: old) == .nothing)
        let error = #expect(throws: FileTextError.self) { try FileText.writing("x", to: "a", existing: old) }
        #expect(
            error?.sentence == "There is a file at a already, and it was left as it is. Change it with apply_patch.")
        #expect(
            try FileText.writing("x\ny\r\n", to: "a", existing: old, overwrites: true)
                == .replace(Array("x\r\ny\r\n".utf8)))
        #expect(
            try FileText.writing("x", to: "a", existing: [0xEF, 0xBB, 0xBF, 0x61], overwrites: true)
                == .replace([0xEF, 0xBB, 0xBF, 0x78]))
    }

    @Test func whatIsNoTextIsWrittenAsJSON() throws {
        #expect(
            try FileText.writing(["a": [1]], to: "a", existing: nil)
                == .create(Array("{\n  \"a\": [\n    1\n  ]\n}".utf8)))
    }

    // MARK: names

    static let missing: [(String, [String], String)] = [
        ("main.c", ["src/main.c", "b"], "Did you mean src/main.c?"),
        ("src/man.c", ["src/main.c", "b"], "Did you mean src/main.c?"),
        ("zzzzzz", ["b", "a"], "There are a, b."), ("x", [], "There are no files here yet."),
        (
            "zzzzzz", (0..<12).map { "file\($0)" },
            "There are file0, file1, file10, file11, file2, file3, file4, file5, file6, file7 and 2 more."
        ),
    ]

    @Test(arguments: missing) func aMissingFileBringsSuggestions(_ path: String, _ files: [String], _ hint: String) {
        #expect(FileText.missing(path, among: files) == .missing(path: path, hint: hint))
    }
}

import Testing

@testable import AlcoveServer

struct FileBlocksTests {
    func item(_ name: String, _ text: String?, staged: String? = nil, isTable: Bool = false) -> FileBlocks.Item {
        FileBlocks.Item(
            shownName: name, text: text.map { PlainText($0, limit: 1 << 20) }, bytes: text?.utf8.count ?? 9,
            stagedName: staged, isTable: isTable)
    }

    @Test func filesStandBeforeTheQuestion() {
        var blocks = FileBlocks(contextLength: 4096)
        let content = blocks.content("What is it?", with: [item("a.txt", "one"), item("b.txt", "two\n")])
        #expect(
            content == """
                [File: a.txt]
                one
                [End of file]

                [File: b.txt]
                two
                [End of file]

                What is it?
                """)
        #expect(blocks.content("", with: [item("a.txt", "")]) == "[File: a.txt]\n\n[End of file]")
        #expect(blocks.content("x", with: []) == "x")
    }

    @Test func aBlockThatThePageHasMadeIsNotMadeTwice() {
        var blocks = FileBlocks(contextLength: 4096)
        let text = "[File: a.txt]\none\n[End of file]\n\nWhat?"
        #expect(blocks.content(text, with: [item("a.txt", "one")]) == text)
        #expect(blocks.content(text, with: [item("b.txt", "two")]) == "[File: b.txt]\ntwo\n[End of file]\n\n" + text)
        // Speaking of a block is not one.
        #expect(blocks.content("See [File: a.txt]\n", with: [item("a.txt", "1")]).hasPrefix("[File: a.txt]\n1\n"))
    }

    @Test func whatIsTooLongIsReferredToOrCut() {
        let long = String(repeating: "é", count: 5_000)
        var blocks = FileBlocks(contextLength: 2_000)
        let referred = blocks.content("Q", with: [item("l.txt", long, staged: "l-2.txt")])
        #expect(referred.contains("10000 bytes") && referred.contains("\"l-2.txt\"") && !referred.contains("éé"))
        #expect(blocks.room == 4_000)
        let cut = blocks.content("Q", with: [item("l.txt", long)])
        #expect(cut.contains(String(repeating: "é", count: 2_000) + "\n(Cut here: these are 4000 of 10000 bytes.)"))
        #expect(blocks.room == 0)
        #expect(!blocks.content("Q", with: [item("m.txt", long)]).contains("éé"))
    }

    @Test func laterMessagesChangeNothingOfEarlierOnes() {
        var one = FileBlocks(contextLength: 500), two = FileBlocks(contextLength: 500)
        let first = one.content("A", with: [item("a.txt", String(repeating: "a", count: 600))])
        #expect(two.content("A", with: [item("a.txt", String(repeating: "a", count: 600))]) == first)
        _ = two.content("B", with: [item("b.txt", String(repeating: "b", count: 900))])
        #expect(one.room == 400)
    }

    @Test func tablesAreForToolsWhereThereAreAny() {
        var blocks = FileBlocks(contextLength: 4096)
        #expect(!blocks.content("", with: [item("t.csv", "a,b", staged: "t.csv", isTable: true)]).contains("a,b"))
        #expect(blocks.content("", with: [item("t.csv", "a,b", isTable: true)]).contains("a,b"))
        let unread = blocks.content("", with: [item("x.pdf", nil, staged: "x.pdf")])
        #expect(unread.contains("No text could be read") && unread.contains("\"x.pdf\""))
    }
}

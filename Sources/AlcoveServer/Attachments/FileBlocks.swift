internal import AlcoveCore

/// Files as a model reads them: `[File: name]`, the text, `[End of file]`, before the person's question.
///
/// What is shown is a pure function of the files, of the model's window and of whether tools can read files, so that the same
/// history makes the same prompt. Oldest messages come first: a later message never changes what an earlier one showed.
struct FileBlocks {
    /// A file with what is known of its text.
    struct Item {
        var shownName: String
        /// As much of it as may be shown; nil when there is none to be had.
        var text: PlainText?
        /// Bytes of the text, or of the file, in all.
        var bytes: Int
        /// Its name in the workspace, for tools that can read it.
        var stagedName: String?
        /// Tables are worked on by tools and not shown, where there are tools.
        var isTable: Bool
    }

    /// Bytes that may still be shown. About half a window: four bytes are a token, in English.
    private(set) var room: Int
    /// Less than this is no use to anybody.
    private static let least = 400

    init(contextLength: Int) { room = max(FileBlocks.least, contextLength * 2) }

    /// The message with the blocks before it.
    mutating func content(_ text: String, with items: [Item]) -> String {
        let blocks = items.filter { !FileBlocks.isShown($0.shownName, in: text) }.map { block($0) }
        if blocks.isEmpty { return text }
        return (text.isEmpty ? blocks : blocks + [text]).joined(separator: "\n\n")
    }

    /// Whether a page has put the file's block there itself.
    private static func isShown(_ name: String, in text: String) -> Bool {
        text.hasPrefix("[File: ") && text.contains("[File: \(name)]\n")
    }

    private mutating func block(_ item: Item) -> String {
        let name = item.shownName
        if let staged = item.stagedName, item.isTable {
            return FileBlocks.wrap(
                name, "(\(item.bytes) bytes, not shown here. The file is in the working folder as \(quoted(staged)).)")
        }
        guard let plain = item.text else {
            let place = item.stagedName.map { " The file is in the working folder as \(quoted($0))." } ?? ""
            return FileBlocks.wrap(name, "(No text could be read from this file.\(place))")
        }
        if plain.isComplete, plain.text.utf8.count <= room {
            room -= plain.text.utf8.count
            return FileBlocks.wrap(name, plain.text)
        }
        if let staged = item.stagedName {
            return FileBlocks.wrap(
                name,
                "(\(item.bytes) bytes, too long to be shown here. It is in the working folder as \(quoted(staged)); read it "
                    + "there, in parts.)")
        }
        guard room >= FileBlocks.least else {
            return FileBlocks.wrap(name, "(\(item.bytes) bytes, too long to be shown here.)")
        }
        let beginning = PlainText(plain.text, isComplete: plain.isComplete, limit: room).text
        room -= beginning.utf8.count
        return FileBlocks.wrap(
            name, beginning + "\n(Cut here: these are \(beginning.utf8.count) of \(item.bytes) bytes.)")
    }

    private func quoted(_ name: String) -> String { JSONValue.string(name).text() }

    private static func wrap(_ name: String, _ text: String) -> String {
        "[File: \(name)]\n\(text)\(text.hasSuffix("\n") ? "" : "\n")[End of file]"
    }
}

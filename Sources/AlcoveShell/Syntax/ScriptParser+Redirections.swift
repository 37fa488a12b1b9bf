extension ScriptParser {
    /// nil, and nothing taken, when none begins here.
    mutating func redirection() throws(SyntaxError) -> Redirection? {
        if peek == 38, peek(1) == 62 {
            position += 2
            let appends = take(">")
            return Redirection(descriptor: 1, kind: .both(try target(), appends: appends))
        }
        if beginsProcess { return nil }
        var end = position
        while end < source.count, source[end].isDigit, end - position < 10 { end += 1 }
        guard end < source.count, source[end] == 60 || source[end] == 62 else { return nil }
        let number = Int(source[position..<end].map { Int($0) - 48 }.reduce(0) { $0 * 10 + $1 })
        let isNumbered = end > position
        guard number < 256 else {
            throw SyntaxError(line: line, "there is no descriptor \(number)", hint: "Use a number below 256.")
        }
        position = end
        if take("<<<") {
            return Redirection(descriptor: isNumbered ? number : 0, kind: .string(try target()))
        }
        if take("<<") {
            let stripsTabs = take("-")
            skipBlanks()
            return Redirection(
                descriptor: isNumbered ? number : 0, kind: .text(try hereDocument(stripsTabs: stripsTabs)))
        }
        let isInput = peek == 60
        let kind: Redirection.Kind
        if take("<&") {
            kind = .duplicate(try target(), isInput: true)
        } else if take("<>") {
            kind = .readWrite(try target())
        } else if take("<") {
            kind = .read(try target())
        } else if take(">&") {
            let word = try target()
            // `>&FILE` without a number is `&>FILE`.
            if let plain = word.plain, !isNumbered, plain != [45], !plain.allSatisfy(\.isDigit) {
                kind = .both(word, appends: false)
            } else {
                kind = .duplicate(word, isInput: false)
            }
        } else if take(">>") {
            kind = .append(try target())
        } else if take(">|") {
            kind = .write(try target(), clobbers: true)
        } else {
            position += 1
            kind = .write(try target(), clobbers: false)
        }
        return Redirection(descriptor: isNumbered ? number : isInput ? 0 : 1, kind: kind)
    }

    private mutating func target() throws(SyntaxError) -> Word {
        skipBlanks()
        guard let word = try word() else { throw unexpected(wanted: "a file name") }
        return word
    }

    private mutating func hereDocument(stripsTabs: Bool) throws(SyntaxError) -> HereDocument {
        let start = position
        guard try word() != nil else { throw unexpected(wanted: "a word that ends the text") }
        // The word is taken as it is written, expansions included; quotes anywhere in it switch them off in the text.
        var delimiter: [UInt8] = []
        var isQuoted = false
        var quote: UInt8?
        var index = start
        while index < position {
            let byte = source[index]
            if let open = quote {
                if byte == open {
                    quote = nil
                } else if open == 34, byte == 92, index + 1 < position, [34, 36, 92, 96].contains(source[index + 1]) {
                    index += 1
                    delimiter.append(source[index])
                } else {
                    delimiter.append(byte)
                }
            } else if byte == 34 || byte == 39 {
                quote = byte
                isQuoted = true
            } else if byte == 92, index + 1 < position {
                isQuoted = true
                index += 1
                delimiter.append(source[index])
            } else {
                delimiter.append(byte)
            }
            index += 1
        }
        let document = HereDocument(delimiter: delimiter, isQuoted: isQuoted, stripsTabs: stripsTabs)
        awaited.append(document)
        return document
    }

    /// Reads the texts asked for on the line that has just ended.
    mutating func readAwaited() throws(SyntaxError) {
        while !awaited.isEmpty {
            let document = awaited.removeFirst()
            let start = line
            let text = body(of: document)
            if document.isQuoted {
                document.parts = [.quoted(text)]
            } else {
                var parser = ScriptParser(text, line: start, depth: depth + 1)
                document.parts = try parser.hereText()
            }
        }
    }

    /// The lines up to the delimiter, or to the end of the script.
    private mutating func body(of document: HereDocument) -> [UInt8] {
        var text: [UInt8] = []
        var continues = false
        while position < source.count {
            var begin = position
            var end = position
            while end < source.count, source[end] != 10 { end += 1 }
            if document.stripsTabs, !continues {
                while begin < end, source[begin] == 9 { begin += 1 }
            }
            position = min(end + 1, source.count)
            line += 1
            if !continues, source[begin..<end].elementsEqual(document.delimiter) { break }
            text += source[begin..<end]
            if end < source.count { text.append(10) }
            var slashes = 0
            while end - slashes > begin, source[end - slashes - 1] == 92 { slashes += 1 }
            continues = !document.isQuoted && slashes % 2 == 1
        }
        return text
    }
}

internal import AlcoveCore

/// Looks over a snippet of code by rules on its lines; nothing of it is ever run.
///
/// What it finds is worth a look, no more: the rules know no language's grammar, only what most of them have in common.
package struct CodeInspection: Sendable {
    package struct Finding: Sendable, Hashable {
        /// From 1.
        package var line: Int
        /// Stable, for programs.
        package var rule: String
        package var text: String
    }

    /// Most characters of a snippet, and most findings that are told.
    package static let lengthLimit = 20_000, findingLimit = 40
    private static let longLine = 160, deepNesting = 6, longBlock = 80

    package private(set) var findings: [Finding] = []
    package let lineCount: Int
    package private(set) var commentLines = 0

    package init(_ code: String) {
        let lines = code.prefix(CodeInspection.lengthLimit).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).map(String.init)
        lineCount = lines.last?.isEmpty == true ? lines.count - 1 : lines.count
        var brackets: [(mark: Character, line: Int)] = []
        var state = LineState()
        for (index, line) in lines.enumerated() {
            let parts = state.read(line)
            if parts.isComment { commentLines += 1 }
            look(at: line, parts, index + 1)
            count(&brackets, in: parts.code, index + 1)
        }
        for open in brackets.suffix(3) {
            add(open.line, "unclosed_bracket", "\"\(open.mark)\" is never closed")
        }
        if state.isInComment { add(lineCount, "unclosed_comment", "a comment is never closed") }
        findings.sort { ($0.line, $0.rule) < ($1.line, $1.rule) }
    }

    private mutating func add(_ line: Int, _ rule: String, _ text: String) {
        if findings.count < CodeInspection.findingLimit {
            findings.append(Finding(line: line, rule: rule, text: text))
        }
    }

    private mutating func look(at line: String, _ parts: LineState.Parts, _ number: Int) {
        if line.count > CodeInspection.longLine { add(number, "long_line", "\(line.count) characters") }
        let indent = line.prefix { $0 == " " || $0 == "\t" }
        if indent.contains(" "), indent.contains("\t") {
            add(number, "mixed_indent", "tabs and spaces before the code")
        }
        if let mark = ["TODO", "FIXME", "XXX", "HACK"].first(where: parts.comment.contains) {
            add(number, "left_over", "\(mark) in a comment")
        }
        let code = parts.code, squeezed = code.filter { !$0.isWhitespace }
        for rule in CodeInspection.rules where rule.words.contains(where: { CodeInspection.holds(code, $0) }) {
            add(number, rule.name, rule.text)
        }
        if ["except:pass", "catch{}", "catch(e){}", "catch(error){}", "catch(_){}"].contains(where: squeezed.contains) {
            add(number, "swallowed_error", "an error is caught and dropped")
        }
        if let name = CodeInspection.secret(parts) {
            add(number, "secret", "\(name) seems to be written into the code")
        }
        if parts.strings.contains(where: {
            $0.hasPrefix("http://") && !$0.hasPrefix("http://127.") && !$0.hasPrefix("http://localhost")
        }) {
            add(number, "plain_http", "an address without encryption")
        }
        let isQuery = parts.strings.contains { text in
            ["select ", "insert into ", "update ", "delete from "].contains(where: text.lowercased().hasPrefix)
        }
        if isQuery,
            code.contains("+") || code.contains("%") || line.contains("f\"") || line.contains("f'")
                || line.contains("\\(")
        {
            add(number, "built_query", "a query is put together from text; values should be bound")
        }
    }

    private mutating func count(
        _ brackets: inout [(mark: Character, line: Int)], in code: String, _ number: Int
    ) {
        let closing: [Character: Character] = [")": "(", "]": "[", "}": "{"]
        for letter in code {
            if "([{".contains(letter) {
                brackets.append((letter, number))
                if brackets.count == CodeInspection.deepNesting + 1 {
                    add(number, "deep_nesting", "more than \(CodeInspection.deepNesting) brackets deep")
                }
            } else if let open = closing[letter] {
                guard let last = brackets.last, last.mark == open else {
                    add(number, "stray_bracket", "\"\(letter)\" closes nothing")
                    continue
                }
                brackets.removeLast()
                if letter == "}", number - last.line > CodeInspection.longBlock {
                    add(last.line, "long_block", "a block of \(number - last.line) lines")
                }
            }
        }
    }

    private static let rules: [(name: String, words: [String], text: String)] = [
        ("runs_text", ["eval(", "exec(", "Function("], "runs text as code"),
        (
            "runs_command", ["os.system(", "popen(", "shell=True", "Runtime.getRuntime(", "system("],
            "hands text to a shell"
        ),
        ("weak_hash", ["md5(", "sha1(", "MD5.", "SHA1."], "a hash that is not safe any more"),
        ("unsafe_copy", ["strcpy(", "strcat(", "sprintf(", "gets("], "copies without a bound"),
        ("forced", ["try!", "as!", "unwrap()"], "ends the program where it fails"),
        ("unsafe_load", ["pickle.load", "yaml.load(", "unserialize("], "makes objects of a stranger's bytes"),
        ("no_check", ["verify=False", "InsecureSkipVerify", "rejectUnauthorized: false"], "takes any certificate"),
    ]

    /// A word that begins where a word may begin: "retrieval(" holds no "eval(".
    private static func holds(_ code: String, _ word: String) -> Bool {
        var rest = code[...]
        while let range = rest.firstRange(of: word) {
            let before = range.lowerBound == code.startIndex ? " " : code[code.index(before: range.lowerBound)]
            if !before.isLetter, !before.isNumber, before != "_" { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }

    /// The name of what is set to a text that looks like a secret.
    private static func secret(_ parts: LineState.Parts) -> String? {
        guard let equals = parts.code.firstIndex(where: { $0 == "=" || $0 == ":" }),
            parts.strings.contains(where: {
                $0.count >= 8 && !$0.contains(" ") && !$0.contains("{") && !$0.contains("$")
            })
        else { return nil }
        let name = parts.code[..<equals].split { !$0.isLetter && !$0.isNumber && $0 != "_" }.last.map(String.init) ?? ""
        let lowered = name.lowercased()
        let isSecret = ["password", "passwd", "secret", "api_key", "apikey", "token", "private_key"].contains(
            where: lowered.contains)
        return isSecret ? name : nil
    }

    /// What a person reads.
    package var text: String {
        let head = "\(lineCount) line\(lineCount == 1 ? "" : "s"), \(commentLines) of them comments."
        if findings.isEmpty { return head + " Nothing stands out." }
        return head + "\n" + findings.map { "- line \($0.line), \($0.rule): \($0.text)" }.joined(separator: "\n")
    }
}

/// Tells code from comments and texts, over lines.
private struct LineState {
    struct Parts {
        /// The line without its comments and the insides of its texts.
        var code = ""
        var comment = ""
        var strings: [String] = []
        var isComment: Bool { !comment.isEmpty && code.allSatisfy(\.isWhitespace) }
    }

    private(set) var isInComment = false

    mutating func read(_ line: String) -> Parts {
        var parts = Parts()
        let letters = Array(line)
        var index = 0
        func starts(_ text: String) -> Bool { letters[index...].starts(with: text) }
        while index < letters.count {
            if isInComment {
                if starts("*/") {
                    isInComment = false
                    index += 2
                } else {
                    parts.comment.append(letters[index])
                    index += 1
                }
            } else if starts("/*") {
                isInComment = true
                parts.comment += " "
                index += 2
            } else if starts("//") || letters[index] == "#" && (index == 0 || letters[index - 1].isWhitespace) {
                parts.comment += String(letters[index...])
                break
            } else if "\"'`".contains(letters[index]) {
                index = LineState.text(letters, index, &parts)
            } else {
                parts.code.append(letters[index])
                index += 1
            }
        }
        return parts
    }

    /// Reads a text to its end, or the end of its line; a lone apostrophe is no text.
    private static func text(_ letters: [Character], _ start: Int, _ parts: inout Parts) -> Int {
        let mark = letters[start]
        var inside = "", index = start + 1
        while index < letters.count, letters[index] != mark {
            if letters[index] == "\\", index + 1 < letters.count {
                inside.append(letters[index])
                index += 1
            }
            inside.append(letters[index])
            index += 1
        }
        guard index < letters.count else {
            parts.code.append(mark)
            return start + 1
        }
        parts.code += String(mark) + String(mark)
        parts.strings.append(inside)
        return index + 1
    }
}

/// `{a,b}` and `{1..9}`: one word becomes several before anything else happens to it.
enum BraceExpansion {
    static let mostWords = 100_000

    private enum Piece {
        case byte(UInt8)
        case part(WordPart)
    }

    static func words(_ parts: [WordPart]) throws(Flow) -> [[WordPart]] {
        let hasBrace = parts.contains {
            if case .literal(let bytes) = $0 { bytes.contains(123) } else { false }
        }
        guard hasBrace else { return [parts] }
        var pieces: [Piece] = []
        for part in parts {
            if case .literal(let bytes) = part { pieces += bytes.map { .byte($0) } } else { pieces.append(.part(part)) }
        }
        let all = try expanded(pieces[...], depth: 0)
        guard all.count > 1 else { return [parts] }
        return all.map { joined($0) }
    }

    private static func joined(_ pieces: [Piece]) -> [WordPart] {
        var parts: [WordPart] = []
        var literal: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .byte(let byte): literal.append(byte)
            case .part(let part):
                if !literal.isEmpty { parts.append(.literal(literal)) }
                literal = []
                parts.append(part)
            }
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
        return parts
    }

    private static func isByte(_ piece: Piece, _ byte: UInt8) -> Bool {
        if case .byte(let other) = piece { return other == byte }
        return false
    }

    private static func expanded(_ pieces: ArraySlice<Piece>, depth: Int) throws(Flow) -> [[Piece]] {
        guard depth < 50 else { return [Array(pieces)] }
        var start = pieces.startIndex
        while let open = pieces[start...].firstIndex(where: { isByte($0, 123) }) {
            guard let (close, commas) = closing(pieces, open) else {
                start = open + 1
                continue
            }
            var choices: [[Piece]]
            if commas.isEmpty {
                guard let range = range(pieces[open + 1..<close]) else {
                    start = open + 1
                    continue
                }
                choices = range
            } else {
                choices = []
                var from = open + 1
                for end in commas + [close] {
                    choices += try expanded(pieces[from..<end], depth: depth + 1)
                    from = end + 1
                }
            }
            let before = Array(pieces[..<open])
            let after = try expanded(pieces[(close + 1)...], depth: depth + 1)
            guard choices.count * after.count <= mostWords else {
                throw .failed("a brace expansion makes more than \(mostWords) words")
            }
            return choices.flatMap { choice in after.map { before + choice + $0 } }
        }
        return [Array(pieces)]
    }

    private static func closing(_ pieces: ArraySlice<Piece>, _ open: Int) -> (Int, commas: [Int])? {
        var depth = 0
        var commas: [Int] = []
        for index in open..<pieces.endIndex {
            if isByte(pieces[index], 123) { depth += 1 }
            if isByte(pieces[index], 44), depth == 1 { commas.append(index) }
            if isByte(pieces[index], 125) {
                depth -= 1
                if depth == 0 { return (index, commas) }
            }
        }
        return nil
    }

    /// `1..9`, `9..1`, `1..9..2`, `a..e`.
    private static func range(_ pieces: ArraySlice<Piece>) -> [[Piece]]? {
        var text: [UInt8] = []
        for piece in pieces {
            guard case .byte(let byte) = piece else { return nil }
            text.append(byte)
        }
        let ends = text.text.split(separator: "..", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard ends.count == 2 || ends.count == 3 else { return nil }
        var step: Int?
        if ends.count == 3 {
            guard let given = Int(ends[2].text) else { return nil }
            step = abs(given)
        }
        if let low = Int(ends[0].text), let high = Int(ends[1].text) {
            let size = max(1, step ?? 1)
            guard high.subtractingReportingOverflow(low).overflow == false, abs(high - low) / size < mostWords else {
                return nil
            }
            let isPadded = ends[0...1].contains {
                $0.count > 1 && ($0[0] == 48 || ($0[0] == 45 && $0.count > 2 && $0[1] == 48))
            }
            let width = isPadded ? max(ends[0].count, ends[1].count) : 0
            return stride(from: low, through: high, by: low <= high ? size : -size).map { number in
                var digits = "\(abs(number))"
                let room = width - (number < 0 ? 1 : 0)
                digits = String(repeating: "0", count: max(0, room - digits.utf8.count)) + digits
                return Array(((number < 0 ? "-" : "") + digits).utf8).map { .byte($0) }
            }
        }
        guard ends[0].count == 1, ends[1].count == 1, ends[0][0].startsName, ends[1][0].startsName else { return nil }
        let (low, high) = (Int(ends[0][0]), Int(ends[1][0]))
        let size = max(1, step ?? 1)
        return stride(from: low, through: high, by: low <= high ? size : -size).map { [.byte(UInt8($0))] }
    }
}

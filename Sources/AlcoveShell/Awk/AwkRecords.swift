/// Records of one input: lines, paragraphs, or what stands between separators.
final class AwkRecords {
    enum Separator {
        case byte(UInt8)
        case paragraph
        case expression(LibraryPattern)
    }

    private let source: any ByteSource
    private var block: [UInt8] = []
    private var place = 0
    private var hasEnded = false
    /// The record given last had no separator after it.
    private(set) var lastWasCut = false

    init(_ source: any ByteSource) { self.source = source }

    private func fill() throws(Flow) {
        let piece = try source.read(1 << 16, isLine: false)
        if piece.isEmpty {
            hasEnded = true
            return
        }
        if place > 0 {
            block.removeFirst(place)
            place = 0
        }
        block += piece
        if block.count > Shell.longestValue { throw .failed("a record is longer than \(Shell.longestValue) bytes") }
    }

    /// nil at the end.
    func next(_ separator: Separator) throws(Flow) -> [UInt8]? {
        switch separator {
        case .byte(let byte):
            var from = place
            while true {
                if let end = block[from...].firstIndex(of: byte) { return take(to: end, skipping: 1) }
                let seen = block.count - place
                if hasEnded { return rest() }
                try fill()
                from = min(block.count, place + seen)
            }
        case .paragraph:
            while true {
                while place < block.count, block[place] == 10 { place += 1 }
                if place < block.count || hasEnded { break }
                try fill()
            }
            while true {
                var index = place
                while let line = block[index...].firstIndex(of: 10), line + 1 < block.count {
                    if block[line + 1] == 10 { return take(to: line, skipping: 2) }
                    index = line + 1
                }
                if hasEnded {
                    guard var last = rest() else { return nil }
                    while last.last == 10 { last.removeLast() }
                    return last.isEmpty ? nil : last
                }
                try fill()
            }
        case .expression(let expression):
            while true {
                if let range = expression.match(block, from: place), !range.isEmpty,
                    hasEnded || range.upperBound < block.count
                {
                    return take(to: range.lowerBound, skipping: range.count)
                }
                if hasEnded {
                    guard var last = rest() else { return nil }
                    if last.last == 10 { last.removeLast() }
                    return last
                }
                try fill()
            }
        }
    }

    private func take(to end: Int, skipping count: Int) -> [UInt8] {
        lastWasCut = false
        defer { place = end + count }
        return Array(block[place..<end])
    }

    private func rest() -> [UInt8]? {
        guard place < block.count else { return nil }
        lastWasCut = true
        defer {
            block = []
            place = 0
        }
        return Array(block[place...])
    }
}

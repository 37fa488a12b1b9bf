import Testing

@testable import AlcoveAgent

/// Against a second way of doing the same: edits on lists of lines.
struct PatchFuzzTests {
    private struct Edited {
        var before: [UInt8] = []
        var after: [UInt8] = []
        var hunks: [String] = []
    }

    /// A file whose lines are all different, so that a hunk fits in one place only, with some runs of lines replaced.
    private func edited(_ generator: inout SplitMix) -> Edited {
        let count = Int.random(in: 1...40, using: &generator)
        let style = Int.random(in: 0..<3, using: &generator)
        let hasEnd = Bool.random(using: &generator)
        let lines = (0..<count).map { index in
            (0..<Int.random(in: 0...2, using: &generator)).map { _ in "\t" }.joined() + "line \(index) é"
        }
        let ends = (0..<count).map { _ in
            style == 0 ? "\n" : style == 1 ? "\r\n" : Bool.random(using: &generator) ? "\n" : "\r\n"
        }
        var result = Edited()
        var before = "", after: [(text: String, end: String)] = []
        for index in 0..<count { before += lines[index] + (index == count - 1 && !hasEnd ? "" : ends[index]) }
        var position = 0
        while position < count {
            guard Int.random(in: 0..<4, using: &generator) == 0 else {
                after.append((lines[position], ends[position]))
                position += 1
                continue
            }
            // Context that is not used up yet, then a run of deleted lines with at most as many new ones.
            let removed = Int.random(in: 1...min(3, count - position), using: &generator)
            let added = Int.random(in: 0...removed, using: &generator)
            let following = min(Int.random(in: 0...2, using: &generator), count - position - removed)
            var hunk = "@@\n"
            for index in position..<position + removed { hunk += "-\(lines[index])\n" }
            for index in 0..<added {
                hunk += "+new \(position) \(index)\n"
                // The last line's own end is no end when the file has none: then that of the line before counts.
                let old = position + index
                let isOpen = old == count - 1 && !hasEnd
                let near = old > 0 ? ends[old - 1] : "\n"
                after.append(("new \(position) \(index)", isOpen ? near : ends[old]))
            }
            position += removed
            for _ in 0..<following {
                hunk += " \(lines[position])\n"
                after.append((lines[position], ends[position]))
                position += 1
            }
            result.hunks.append(hunk)
        }
        var text = after.map { $0.text + $0.end }.joined()
        if !hasEnd, let last = after.last { text.unicodeScalars.removeLast(last.end.unicodeScalars.count) }
        result.before = Array(before.utf8)
        result.after = Array(text.utf8)
        return result
    }

    @Test func randomEditsComeOutAsTheyWereMeant() throws {
        var generator = SplitMix(seed: 11)
        for _ in 0..<3000 {
            let files = MemoryFiles()
            var expected: [String: [UInt8]] = [:]
            var body: [String] = []
            for index in 0..<Int.random(in: 1...3, using: &generator) {
                let edit = edited(&generator)
                files.files["f\(index)"] = edit.before
                expected["f\(index)"] = edit.hunks.isEmpty ? edit.before : edit.after
                if !edit.hunks.isEmpty { body.append("*** Update File: f\(index)\n" + edit.hunks.joined()) }
            }
            if body.isEmpty { continue }

            try files.apply(body.joined().trimmingNewline)

            #expect(files.files == expected)
        }
    }

    @Test func corruptedPatchesNeverCrashAndNeverHalfApply() throws {
        var generator = SplitMix(seed: 12)
        var refused = 0
        for _ in 0..<4000 {
            let files = MemoryFiles()
            var body = ""
            for index in 0..<3 {
                let edit = edited(&generator)
                files.files["f\(index)"] = edit.before
                if !edit.hunks.isEmpty { body += "*** Update File: f\(index)\n" + edit.hunks.joined() }
            }
            var text = Array("*** Begin Patch\n\(body)*** Add File: new\n+x\n*** End Patch\n".utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) { corrupt(&text, &generator) }
            let before = files.files

            var error: PatchError?
            do throws(PatchError) {
                _ = try Patch(parsing: text).apply(to: files)
            } catch let refusal {
                error = refusal
            }

            #expect(files.commits <= 1)
            guard let error else { continue }
            refused += 1
            #expect(files.files == before && files.commits == 0)
            #expect(error.report.utf8.count < 6000)
        }
        #expect(refused > 1000)
    }

    private func corrupt(_ text: inout [UInt8], _ generator: inout SplitMix) {
        let index = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: text[index] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: text.remove(at: index)
        case 2: text.insert([0x0A, 0x20, 0x2B, 0x2D, 0x40, 0x2A].randomElement(using: &generator) ?? 0, at: index)
        case 3: text.removeSubrange(index..<min(text.count, index + Int.random(in: 1...30, using: &generator)))
        case 4: text.insert(contentsOf: text[index..<min(text.count, index + 40)], at: index)
        default: text.removeLast(min(text.count - 1, Int.random(in: 0...20, using: &generator)))
        }
        if text.isEmpty { text = [0x0A] }
    }
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}

/// The same numbers in every run.
private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

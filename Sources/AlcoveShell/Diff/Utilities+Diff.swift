internal import AlcoveCore
internal import AlcoveSandbox

/// One side of a comparison.
private struct DiffSide {
    var name: String
    var lines: [[UInt8]]
    var endsInLine: Bool
    var modified: Int64

    init(_ call: UtilityCall, _ operand: [UInt8]) throws(Flow) {
        name = operand.text
        let bytes: [UInt8]
        modified = Int64(time(nil)) * 1000
        if operand == [45] {
            bytes = try call.all(call.input())
        } else {
            bytes = try call.shell.contents(of: operand)
            if let entry = try? call.shell.here.stat(operand.text) { modified = entry.modified }
        }
        var parts = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
        endsInLine = parts.last?.isEmpty == true
        if endsInLine { parts.removeLast() }
        lines = parts
    }
}

private struct DiffOptions {
    var context: Int?
    var foldsCase = false
    var blanks = 0
    var ignoresEmpty = false
    var isBrief = false
    var saysSame = false
    var isRecursive = false
    var missingIsEmpty = false
    var stripsReturns = false
    var excluded: [Pattern] = []
    var labels: [[UInt8]] = []
    var shownOptions = ""
}

extension Utilities {
    @Sendable static func diff(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) { return try compare(call) } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
    }

    private static func compare(_ call: UtilityCall) throws(Flow) -> Int32 {
        let given = try call.options(
            "uqsibwBrNaEZpt", valued: "UCxL",
            longNames: [
                "--unified": "u", "--brief": "q", "--recursive": "r", "--ignore-case": "i", "--new-file": "N",
                "--ignore-all-space": "w", "--ignore-space-change": "b", "--ignore-blank-lines": "B",
                "--strip-trailing-cr": "Z", "--color": "a", "--color=": "L", "--unified=": "U", "--exclude=": "x",
                "--label=": "L", "--report-identical-files": "s",
            ])
        guard given.operands.count == 2 else { throw .failed("it takes two files or folders") }
        var options = DiffOptions()
        if given.has("u") { options.context = 3 }
        if let number = try call.number(given.values["U"]) { options.context = max(0, number) }
        options.foldsCase = given.has("i")
        options.blanks = given.has("w") ? 2 : given.has("b") ? 1 : 0
        options.ignoresEmpty = given.has("B")
        options.isBrief = given.has("q")
        options.saysSame = given.has("s")
        options.isRecursive = given.has("r")
        options.missingIsEmpty = given.has("N")
        options.stripsReturns = given.has("Z")
        for (letter, value) in given.all {
            if letter == "x" { options.excluded.append(Pattern(value)) }
            if letter == "L", !["never", "auto", "always"].contains(value.text) { options.labels.append(value) }
        }
        let words = call.words.dropFirst().dropLast(2).map { $0.text }
        options.shownOptions = words.isEmpty ? "" : words.joined(separator: " ") + " "
        var pair = given.operands
        let folders = pair.map { isFolder(call, $0) }
        if folders[0] && folders[1] {
            return try compareFolders(call, pair[0].text, pair[1].text, options)
        }
        if folders[0] { pair[0] = Array((pair[0].text + "/" + parts(pair[1].text).name).utf8) }
        if folders[1] { pair[1] = Array((pair[1].text + "/" + parts(pair[0].text).name).utf8) }
        return try compareFiles(call, pair[0], pair[1], options)
    }

    private static func isFolder(_ call: UtilityCall, _ path: [UInt8]) -> Bool {
        (try? call.shell.here.stat(path.text))?.kind == .folder
    }

    private static func compareFolders(
        _ call: UtilityCall, _ one: String, _ two: String, _ options: DiffOptions
    ) throws(Flow) -> Int32 {
        try call.control.check()
        let left = try call.confined { (here) throws(ConfinementError) in try here.list(one) }
        let right = try call.confined { (here) throws(ConfinementError) in try here.list(two) }
        var kinds: [String: (FileEntry?, FileEntry?)] = [:]
        for entry in left { kinds[entry.name] = (entry, nil) }
        for entry in right { kinds[entry.name] = (kinds[entry.name]?.0, entry) }
        var status: Int32 = 0
        let names = kinds.keys.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        for name in names where !options.excluded.contains(where: { $0.matches(Array(name.utf8)) }) {
            guard let (a, b) = kinds[name] else { continue }
            let (pathA, pathB) = (one + "/" + name, two + "/" + name)
            var code: Int32
            switch (a?.kind, b?.kind) {
            case (.folder?, .folder?):
                if options.isRecursive {
                    code = try compareFolders(call, pathA, pathB, options)
                } else {
                    try call.write(Array("Common subdirectories: \(pathA) and \(pathB)\n".utf8))
                    code = 0
                }
            case (.some, nil) where !options.missingIsEmpty, (nil, .some) where !options.missingIsEmpty:
                try call.write(Array("Only in \(a == nil ? two : one): \(name)\n".utf8))
                code = 1
            default:
                code = try compareFiles(
                    call, Array((a == nil ? "/dev/null" : pathA).utf8), Array((b == nil ? "/dev/null" : pathB).utf8),
                    options, isInside: true)
            }
            status = max(status, code)
        }
        return status
    }

    private static func compareFiles(
        _ call: UtilityCall, _ one: [UInt8], _ two: [UInt8], _ options: DiffOptions, isInside: Bool = false
    ) throws(Flow) -> Int32 {
        let sides = [try DiffSide(call, one), try DiffSide(call, two)]
        var numbers: [[UInt8]: Int] = [:]
        func ids(_ side: DiffSide) -> [Int] {
            side.lines.enumerated().map { index, line in
                var key = line
                if options.stripsReturns, key.last == 13 { key.removeLast() }
                if options.foldsCase { key = key.map(lowered) }
                if options.blanks == 2 { key.removeAll { $0.isBlank || $0 == 13 } }
                if options.blanks == 1 {
                    var out: [UInt8] = []
                    for byte in key { if !(byte.isBlank && out.last == 32) { out.append(byte.isBlank ? 32 : byte) } }
                    if out.last == 32 { out.removeLast() }
                    key = out
                } else if options.blanks == 0, index == side.lines.count - 1, !side.endsInLine {
                    // The same text without an end is another line.
                    key += [10, 0]
                }
                let next = numbers.count
                if let known = numbers[key] { return known }
                numbers[key] = next
                return next
            }
        }
        if sides.contains(where: { $0.lines.contains { $0.contains(0) } }) {
            if sides[0].lines == sides[1].lines { return 0 }
            try call.write(Array("Binary files \(sides[0].name) and \(sides[1].name) differ\n".utf8))
            return 2
        }
        var changes = try LineDifference.changes(ids(sides[0]), ids(sides[1]), call.control)
        if options.ignoresEmpty {
            changes.removeAll { change in
                sides[0].lines[change.old].allSatisfy(\.isEmpty) && sides[1].lines[change.new].allSatisfy(\.isEmpty)
            }
        }
        guard !changes.isEmpty else {
            if options.saysSame {
                try call.write(Array("Files \(sides[0].name) and \(sides[1].name) are identical\n".utf8))
            }
            return 0
        }
        if options.isBrief {
            try call.write(Array("Files \(sides[0].name) and \(sides[1].name) differ\n".utf8))
            return 1
        }
        var writer = BlockWriter(call)
        if isInside { try writer.line(Array("diff \(options.shownOptions)\(sides[0].name) \(sides[1].name)".utf8)) }
        if let context = options.context {
            try unified(&writer, call, sides, changes, context, options)
        } else {
            try normal(&writer, sides, changes)
        }
        try writer.flush()
        return 1
    }

    private static func line(
        _ writer: inout BlockWriter, _ prefix: String, _ side: DiffSide, _ index: Int
    ) throws(Flow) {
        try writer.add(prefix.utf8)
        try writer.line(side.lines[index])
        if index == side.lines.count - 1, !side.endsInLine {
            try writer.line(Array("\\ No newline at end of file".utf8))
        }
    }

    private static func normal(
        _ writer: inout BlockWriter, _ sides: [DiffSide], _ changes: [LineDifference.Change]
    ) throws(Flow) {
        func span(_ range: Range<Int>) -> String {
            range.isEmpty
                ? "\(range.lowerBound)"
                : range.count == 1 ? "\(range.upperBound)" : "\(range.lowerBound + 1),\(range.upperBound)"
        }
        for change in changes {
            let letter = change.old.isEmpty ? "a" : change.new.isEmpty ? "d" : "c"
            try writer.line(Array((span(change.old) + letter + span(change.new)).utf8))
            for index in change.old { try line(&writer, "< ", sides[0], index) }
            if letter == "c" { try writer.line(Array("---".utf8)) }
            for index in change.new { try line(&writer, "> ", sides[1], index) }
        }
    }

    private static func unified(
        _ writer: inout BlockWriter, _ call: UtilityCall, _ sides: [DiffSide], _ changes: [LineDifference.Change],
        _ context: Int, _ options: DiffOptions
    ) throws(Flow) {
        for (index, sign) in ["---", "+++"].enumerated() {
            if index < options.labels.count {
                try writer.line(Array("\(sign) ".utf8) + options.labels[index])
                continue
            }
            let date = Clock.text(
                Int(sides[index].modified / 1000), Array("%Y-%m-%d %H:%M:%S.%N %z".utf8), isUTC: false,
                zone: call.shell.value("TZ"), nanoseconds: Int(sides[index].modified % 1000) * 1_000_000)
            try writer.line(Array("\(sign) \(sides[index].name)\t".utf8) + date)
        }
        var start = 0
        while start < changes.count {
            var end = start
            while end + 1 < changes.count, changes[end + 1].old.lowerBound - changes[end].old.upperBound <= 2 * context
            {
                end += 1
            }
            let group = changes[start...end]
            let firstOld = max(0, changes[start].old.lowerBound - context)
            let lastOld = min(sides[0].lines.count, changes[end].old.upperBound + context)
            let firstNew = changes[start].new.lowerBound - (changes[start].old.lowerBound - firstOld)
            let lastNew = changes[end].new.upperBound + (lastOld - changes[end].old.upperBound)
            func span(_ first: Int, _ last: Int) -> String {
                last - first == 1 ? "\(first + 1)" : "\(last == first ? first : first + 1),\(last - first)"
            }
            try writer.line(Array("@@ -\(span(firstOld, lastOld)) +\(span(firstNew, lastNew)) @@".utf8))
            var place = firstOld
            for change in group {
                for index in place..<change.old.lowerBound { try line(&writer, " ", sides[0], index) }
                for index in change.old { try line(&writer, "-", sides[0], index) }
                for index in change.new { try line(&writer, "+", sides[1], index) }
                place = change.old.upperBound
            }
            for index in place..<lastOld { try line(&writer, " ", sides[0], index) }
            start = end + 1
        }
    }

    @Sendable static func compareBytes(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("sl", valued: "n", longNames: ["--silent": "s", "--quiet": "s"])
        guard (1...2).contains(options.operands.count) else { throw .failed("it takes two files") }
        let names = options.operands.count == 1 ? options.operands + [[45]] : options.operands
        func read(_ name: [UInt8]) throws(Flow) -> [UInt8] {
            name == [45] ? try call.all(call.input()) : try call.shell.contents(of: name)
        }
        var (a, b) = ([UInt8](), [UInt8]())
        do throws(Flow) {
            a = try read(names[0])
            b = try read(names[1])
        } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 2
        }
        if let most = try call.number(options.values["n"]) {
            a = Array(a.prefix(most))
            b = Array(b.prefix(most))
        }
        var status: Int32 = 0
        var line = 1
        for index in 0..<min(a.count, b.count) {
            if a[index] != b[index] {
                status = 1
                if options.has("s") { return 1 }
                if options.has("l") {
                    let digits = ["\(index + 1)", String(a[index], radix: 8), String(b[index], radix: 8)]
                    try call.write(Array("\(digits[0]) \(digits[1]) \(digits[2])\n".utf8))
                    continue
                }
                try call.write(
                    Array("\(names[0].text) \(names[1].text) differ: byte \(index + 1), line \(line)\n".utf8))
                return 1
            }
            if a[index] == 10 { line += 1 }
        }
        if a.count != b.count {
            if !options.has("s") {
                let shorter = a.count < b.count ? names[0] : names[1]
                try call.complain("the end of \(shorter.text) comes first, after byte \(min(a.count, b.count))")
            }
            return 1
        }
        return status
    }
}

internal import AlcoveCore
internal import AlcoveSandbox

/// One file's part of a unified diff.
private struct FilePatch {
    struct Hunk {
        var start: Int
        var old: [[UInt8]] = []
        var new: [[UInt8]] = []
        var oldEndsOpen = false
        var newEndsOpen = false
    }

    var oldName: [UInt8]
    var newName: [UInt8]
    var hunks: [Hunk] = []

    static func read(_ text: [UInt8]) throws(Flow) -> [FilePatch] {
        let lines = text.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
        var files: [FilePatch] = []
        var index = 0
        func name(_ line: [UInt8]) -> [UInt8] {
            let rest = line.dropFirst(4)
            return Array(rest.prefix { $0 != 9 })
        }
        while index < lines.count {
            let line = lines[index]
            if line.starts(with: Array("--- ".utf8)), index + 1 < lines.count,
                lines[index + 1].starts(with: Array("+++ ".utf8))
            {
                files.append(FilePatch(oldName: name(line), newName: name(lines[index + 1])))
                index += 2
                continue
            }
            guard line.starts(with: Array("@@ -".utf8)), !files.isEmpty else {
                index += 1
                continue
            }
            let numbers = line.text.split(separator: " ").dropFirst().prefix(2).map { part in
                part.dropFirst().split(separator: ",").map { Int($0) ?? 0 }
            }
            guard numbers.count == 2, let start = numbers[0].first else {
                throw .failed("line \(index + 1) of the patch is no place: \(shown(line))")
            }
            var left = numbers[0].count > 1 ? numbers[0][1] : 1
            var right = numbers[1].count > 1 ? numbers[1][1] : 1
            var hunk = Hunk(start: left == 0 ? start + 1 : start)
            index += 1
            while left > 0 || right > 0 {
                guard index < lines.count else { throw .failed("the patch ends within a hunk") }
                let line = lines[index]
                let text = Array(line.dropFirst())
                switch line.first {
                case 45?:
                    hunk.old.append(text)
                    left -= 1
                case 43?:
                    hunk.new.append(text)
                    right -= 1
                case 92?: break
                case 32?, nil:
                    hunk.old.append(text)
                    hunk.new.append(text)
                    left -= 1
                    right -= 1
                default: throw .failed("line \(index + 1) of the patch begins with none of \" +-\\\": \(shown(line))")
                }
                index += 1
                if index < lines.count, lines[index].first == 92 {
                    if line.first != 43 { hunk.oldEndsOpen = true }
                    if line.first != 45 { hunk.newEndsOpen = true }
                    index += 1
                }
            }
            files[files.count - 1].hunks.append(hunk)
        }
        return files
    }
}

extension Utilities {
    @Sendable static func patch(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "REsNfbt", valued: "pio",
            longNames: ["--dry-run": "D", "--reverse": "R", "--forward": "N", "--silent": "s", "--batch": "f"])
        let text: [UInt8]
        if let file = options.values["i"] {
            text = try call.shell.contents(of: file)
        } else if options.operands.count > 1 {
            text = try call.shell.contents(of: options.operands[1])
        } else {
            text = try call.all(call.input())
        }
        let strips = try call.number(options.values["p"])
        let files = try FilePatch.read(text)
        guard !files.isEmpty else { throw .failed("there is no unified diff in the input") }
        var status: Int32 = 0
        for var file in files {
            if options.has("R") {
                swap(&file.oldName, &file.newName)
                for index in file.hunks.indices {
                    let hunk = file.hunks[index]
                    file.hunks[index] = .init(
                        start: hunk.start, old: hunk.new, new: hunk.old, oldEndsOpen: hunk.newEndsOpen,
                        newEndsOpen: hunk.oldEndsOpen)
                }
            }
            let target = options.operands.first ?? name(of: file, strips: strips, call)
            do throws(Flow) {
                try apply(file, to: target, call, options)
            } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what)
                status = 1
            }
        }
        return status
    }

    private static func name(of file: FilePatch, strips: Int?, _ call: UtilityCall) -> [UInt8] {
        func cut(_ name: [UInt8]) -> [UInt8] {
            let parts = name.split(separator: 47)
            guard let strips else { return name }
            return Array(parts.dropFirst(min(strips, max(0, parts.count - 1))).joined(separator: [47]))
        }
        let null = Array("/dev/null".utf8)
        let names = [file.newName, file.oldName].filter { $0 != null }.map(cut)
        if let there = names.first(where: { (try? call.shell.here.stat($0.text)) != nil }) { return there }
        if strips == nil {
            // Without -p the last name is what GNU's patch takes.
            let last = names.map { Array(parts($0.text).name.utf8) }
            if let there = last.first(where: { (try? call.shell.here.stat($0.text)) != nil }) { return there }
        }
        return names.first ?? []
    }

    private static func apply(
        _ file: FilePatch, to target: [UInt8], _ call: UtilityCall, _ options: UtilityCall.Options
    ) throws(Flow) {
        let name = try call.shell.name(target)
        let isNew = file.oldName == Array("/dev/null".utf8)
        let isGone = file.newName == Array("/dev/null".utf8)
        var lines: [[UInt8]] = []
        var endsInLine = true
        if !isNew || (try? call.shell.here.stat(name)) != nil {
            let bytes = try call.shell.contents(of: target)
            lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
            endsInLine = lines.last?.isEmpty == true
            if endsInLine { lines.removeLast() }
        }
        var shift = 0
        for (index, hunk) in file.hunks.enumerated() {
            let wanted = hunk.start - 1 + shift
            guard let (place, used) = find(hunk, in: lines, near: wanted) else {
                throw .failed("\(name): hunk \(index + 1) does not fit at line \(hunk.start); the file is not changed")
            }
            lines.replaceSubrange(place..<place + used.old.count, with: used.new)
            shift += used.new.count - used.old.count + (place - wanted)
            if place + used.new.count >= lines.count, hunk.oldEndsOpen || hunk.newEndsOpen {
                endsInLine = !hunk.newEndsOpen
            }
        }
        if !options.has("s") { try call.write(Array("patching file \(name)\n".utf8)) }
        if options.has("D") { return }
        if isGone, lines.isEmpty {
            return try call.confined { (here) throws(ConfinementError) in try here.remove(name) }
        }
        let bytes = Array(lines.joined(separator: [10])) + (endsInLine && !lines.isEmpty ? [10] : [])
        let place = options.values["o"]?.text ?? name
        try call.confined { (here) throws(ConfinementError) in
            if place.contains("/"), (try? here.stat(place)) == nil { try here.makeFolders(parts(place).parent) }
            try here.replace(place, bytes)
        }
    }

    /// Where a hunk fits: at its line, near it, or with less of its context.
    private static func find(
        _ hunk: FilePatch.Hunk, in lines: [[UInt8]], near wanted: Int
    ) -> (Int, FilePatch.Hunk)? {
        var leading = 0
        while leading < min(hunk.old.count, hunk.new.count), hunk.old[leading] == hunk.new[leading] { leading += 1 }
        var trailing = 0
        while trailing < min(hunk.old.count, hunk.new.count) - leading,
            hunk.old[hunk.old.count - 1 - trailing] == hunk.new[hunk.new.count - 1 - trailing]
        {
            trailing += 1
        }
        for fuzz in 0...2 {
            let (before, after) = (min(fuzz, leading), min(fuzz, trailing))
            if fuzz > 0, before + after == 0 { return nil }
            var used = hunk
            used.old = Array(hunk.old.dropFirst(before).dropLast(after))
            used.new = Array(hunk.new.dropFirst(before).dropLast(after))
            let last = lines.count - used.old.count
            guard last >= 0 else { continue }
            for distance in 0...max(last, wanted + 1) {
                for place in distance == 0
                    ? [wanted + before] : [wanted + before - distance, wanted + before + distance]
                where place >= 0 && place <= last && lines[place..<place + used.old.count].elementsEqual(used.old) {
                    return (place, used)
                }
            }
        }
        return nil
    }
}

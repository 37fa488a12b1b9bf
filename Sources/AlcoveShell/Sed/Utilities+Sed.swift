internal import AlcoveCore
internal import AlcoveSandbox

extension Utilities {
    @Sendable static func sed(_ call: UtilityCall) throws(Flow) -> Int32 {
        var rest = call.words.dropFirst()
        var script: [UInt8] = []
        var hasScript = false
        var isQuiet = false
        var isExtended = false
        var isSeparate = false
        var suffix: [UInt8]?
        var operands: [[UInt8]] = []
        func add(_ text: [UInt8]) {
            if hasScript { script.append(10) }
            hasScript = true
            script += text
        }
        while let word = rest.popFirst() {
            guard word.first == 45, word.count > 1 else {
                operands.append(word)
                continue
            }
            if word == [45, 45] {
                operands += rest
                break
            }
            let text = word.text
            switch text {
            case "--quiet", "--silent": isQuiet = true
            case "--regexp-extended": isExtended = true
            case "--separate": isSeparate = true
            case "--posix", "--unbuffered", "--sandbox": break
            case _ where text.hasPrefix("--expression="): add(Array(text.dropFirst(13).utf8))
            case _ where text.hasPrefix("--in-place"): suffix = Array(text.dropFirst(11).utf8)
            case _ where text.hasPrefix("--"):
                throw .failed("there is no option \(shown(word)). It has: -n -E -r -i -s -e -f")
            default:
                var place = 1
                letters: while place < word.count {
                    let letter = word[place]
                    place += 1
                    switch letter {
                    case 110: isQuiet = true
                    case 69, 114: isExtended = true
                    case 115: isSeparate = true
                    case 117: break
                    case 105:
                        suffix = Array(word[place...])
                        break letters
                    case 101, 102:
                        guard let value = place < word.count ? Array(word[place...]) : rest.popFirst() else {
                            throw .failed("the option -\([letter].text) needs a value")
                        }
                        if letter == 101 {
                            add(value)
                        } else {
                            var file = value == [45] ? try call.all(call.input()) : try call.shell.contents(of: value)
                            if file.last == 10 { file.removeLast() }
                            add(file)
                        }
                        break letters
                    default: throw .failed("there is no option -\([letter].text). It has: -n -E -r -i -s -e -f")
                    }
                }
            }
        }
        if !hasScript {
            guard !operands.isEmpty else { throw .failed("a script belongs after it, as in sed 's/old/new/' FILE") }
            script = operands.removeFirst()
        }
        let program = try SedProgram(script, isExtended: isExtended)
        guard let suffix else {
            if !isSeparate || operands.count < 2 {
                return try SedRun(
                    call, program, isQuiet: isQuiet, lines: SedLines(call, operands), isEdit: false
                ).run()
            }
            var status: Int32 = 0
            for operand in operands {
                let run = try SedRun(call, program, isQuiet: isQuiet, lines: SedLines(call, [operand]), isEdit: false)
                status = max(status, try run.run())
            }
            return status
        }
        guard !operands.isEmpty else { throw .failed("-i needs the files that are to be changed") }
        var status: Int32 = 0
        for operand in operands {
            let lines = SedLines(call, [operand])
            let run = try SedRun(call, program, isQuiet: isQuiet, lines: lines, isEdit: true)
            let code = try run.run()
            status = max(status, code)
            guard lines.isWhole, let bytes = run.edited else { continue }
            let name = try call.shell.name(operand)
            let here = call.shell.here
            do throws(ConfinementError) {
                if !suffix.isEmpty {
                    let old = try here.read(name, limit: Shell.longestValue)
                    let kept =
                        suffix.contains(42)
                        ? suffix.flatMap { $0 == 42 ? operand : [$0] } : operand + suffix
                    try here.replace(kept.text, old)
                }
                try here.replace(name, bytes)
            } catch { throw .failed(error.sentence) }
        }
        return status
    }
}

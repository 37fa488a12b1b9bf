import AlcoveShell
import Testing

struct FuzzTests {
    /// The same sequence for the same seed.
    struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test func tenThousandMutatedScriptsAreReadOrRefused() async {
        let refused = await onLargeStack { () -> Int in
            var random = Seeded(state: 20_261_130)
            let pieces = [
                "$(", ")", "`", "\"", "'", "<<E\n", "E\n", "${", "}", "$((", "))", "if ", "fi", "\n", ";", "|", "&",
                "\\", "case x in", "\u{0}", "é",
            ]
            var refused = 0
            for _ in 0..<10_000 {
                var script = Array(Scripts.all.randomElement(using: &random)!.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let place = Int.random(in: 0...script.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: script.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
                    case 1:
                        script.removeSubrange(place..<min(script.count, place + Int.random(in: 0...5, using: &random)))
                    default: if place < script.count { script[place] = UInt8.random(in: 0...255, using: &random) }
                    }
                }
                do throws(SyntaxError) { _ = try ScriptParser.parse(script) } catch {
                    refused += 1
                    if error.line < 1 || error.what.isEmpty { return -1 }
                }
            }
            return refused
        }
        #expect(refused > 1000 && refused < 10_000)
    }

    /// Scripts put together at random from words that differ in how they expand.
    @Test func randomScriptsRunAsInDash() throws {
        var random = Seeded(state: 6)
        let words = [
            "a", "'b c'", "\"d  e\"", "$x", "\"$x\"", "${y:-z w}", "\"${y-q}\"", "$(echo s t)", "\"$(echo s  t)\"",
            "$((2*3))", "*", "$@", "\"$@\"", "${x#? }", "\\ ", "''", "${#x}", "`echo u`", "$#", "$?",
        ]
        func word() -> String {
            (0..<Int.random(in: 1...3, using: &random)).map { _ in words.randomElement(using: &random)! }.joined()
        }
        func command(_ depth: Int) -> String {
            switch Int.random(in: 0..<(depth > 2 ? 4 : 12), using: &random) {
            case 0, 1: return "printf '<%s>' \(word()) \(word()); echo"
            case 2: return "x=\(word())"
            case 3:
                return ["true", "false", "set -- a 'b c'", "shift 0", "x='p  q'", "unset y", "y=1"].randomElement(
                    using: &random)!
            case 4: return "if \(command(depth + 1)); then \(command(depth + 1)); else \(command(depth + 1)); fi"
            case 5: return "for i in \(word()) \(word()); do printf '{%s}' \"$i\"; \(command(depth + 1)); done"
            case 6: return "{ \(command(depth + 1)); } && { \(command(depth + 1)); }"
            case 7: return "( \(command(depth + 1)) ) || { \(command(depth + 1)); }"
            case 8: return "{ \(command(depth + 1)); } | cat"
            case 9: return "case \(word()) in a*) \(command(depth + 1));; *) \(command(depth + 1));; esac"
            case 10: return "cat <<E\n\(word()) $x\nE\n"
            default: return "! { \(command(depth + 1)); }"
            }
        }
        let (ours, theirs) = (ScratchFolder(), ScratchFolder())
        for _ in 0..<300 {
            let script = "x='m n'\n" + (0..<3).map { _ in command(0) }.joined(separator: "\n")
            let wanted = try ScriptRun.reference(
                "/usr/bin/dash", script, in: theirs.path, arguments: ["one", "t w o", ""])
            let (run, error, _) = ScriptRun.here(script, in: ours.path, arguments: ["one", "t w o", ""])
            // dash cuts some fields as nobody else does; what bash does with the same words is right too.
            if run != wanted,
                try run
                    == ScriptRun.reference("/usr/bin/bash", script, in: theirs.path, arguments: ["one", "t w o", ""])
            {
                continue
            }
            #expect(run == wanted, "\(script)\nhere: \(run.shown)\ndash: \(wanted.shown)\nerror: \(error)")
        }
    }
}

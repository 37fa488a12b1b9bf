import AlcoveEngine
import Testing

struct StopMatcherTests {
    private func run(_ stops: [String], _ pieces: [String]) -> (text: String, stopped: Bool) {
        var matcher = StopMatcher(stops: stops)
        var text = ""
        for piece in pieces {
            let (shown, stopped) = matcher.append(piece)
            text += shown
            if stopped { return (text, true) }
        }
        return (text + matcher.finish(), false)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let stops: [String]
        let text: String
        let shown: String
        let stopped: Bool
        var testDescription: String { "\(stops) in \(text)" }
    }

    static let cases = [
        Case(stops: ["END"], text: "one END two", shown: "one ", stopped: true),
        Case(stops: ["END"], text: "one EN two", shown: "one EN two", stopped: false),
        Case(stops: ["aab"], text: "aaab", shown: "a", stopped: true),
        Case(stops: ["abc", "b"], text: "abx", shown: "a", stopped: true),
        Case(stops: ["abc", "bcd"], text: "abd", shown: "abd", stopped: false),
        Case(stops: ["\n\n"], text: "a\nb\n\nc", shown: "a\nb", stopped: true),
        Case(stops: ["😸"], text: "cat 😹😸!", shown: "cat 😹", stopped: true),
        Case(stops: [""], text: "all of it", shown: "all of it", stopped: false),
        Case(stops: [], text: "all of it", shown: "all of it", stopped: false),
    ]

    @Test(arguments: cases) func findsTheFirstStopHoweverTheTextComes(_ c: Case) {
        let characters = c.text.map(String.init)
        #expect(run(c.stops, [c.text]) == (c.shown, c.stopped))
        #expect(run(c.stops, characters) == (c.shown, c.stopped))
        for cut in 1..<characters.count {
            let pieces = [characters[..<cut].joined(), characters[cut...].joined()]
            #expect(run(c.stops, pieces) == (c.shown, c.stopped))
        }
    }
}

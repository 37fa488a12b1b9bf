import AlcoveCore
import Testing

/// Field report 7 and T26: a model's pieces are bytes, and an emoji came apart into question marks.
struct UTF8AssemblerTests {
    private func joined(_ pieces: [[UInt8]]) -> (deltas: [String], text: String) {
        var assembler = UTF8Assembler()
        var deltas = pieces.map { assembler.append($0) }
        deltas.append(assembler.finish())
        return (deltas, deltas.joined())
    }

    @Test func anEmojiInTwoPiecesComesWhole() {
        let result = joined([[0x20, 0xF0, 0x9F], [0x98, 0xB8]])

        #expect(result.deltas == [" ", "😸", ""])
    }

    @Test func whatNeverBecomesACharacterIsOneReplacement() {
        #expect(joined([[0x20, 0xF0, 0x9F]]).deltas == [" ", "\u{FFFD}"])
    }

    @Test func aFamilyByteByByteIsTheSameText() {
        let family = "👩‍👩‍👧‍👦"

        #expect(joined(family.utf8.map { [$0] }).text == family)
    }

    @Test func everySplitOfEveryTextGivesTheTextAndNoHalfCharacter() {
        for text in ["aé漢😸z", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", "🏳️‍🌈 שלום"] {
            let bytes = Array(text.utf8)
            for first in 0...bytes.count {
                for second in first...bytes.count {
                    let result = joined([Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])])
                    #expect(result.text == text)
                    #expect(!result.deltas.contains { $0.contains("\u{FFFD}") })
                }
            }
        }
    }

    @Test func nonsenseGivesWhatASingleDecodingGives() {
        var generator = SplitMix(seed: 11)
        for _ in 0..<3_000 {
            let bytes = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                [0x41, 0x80, 0xBF, 0xC2, 0xE0, 0xA0, 0xED, 0xF0, 0x90, 0xF4, 0x8F, 0xFF].randomElement(
                    using: &generator)!
            }.map { UInt8($0) }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            let whole = String(decoding: bytes, as: UTF8.self)

            let text = joined([Array(bytes[..<cut]), Array(bytes[cut...])]).text

            #expect(text == whole, "\(bytes) cut at \(cut)")
        }
    }
}

import AlcoveCore
import Testing

struct SHA256Tests {
    /// FIPS 180-4's examples, and two of the one-block and two-block edges (computed with coreutils' sha256sum).
    static let vectors: [(String, String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
                + "nopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ]

    @Test(arguments: vectors) func digestsAsPublished(_ text: String, _ hex: String) {
        #expect(SHA256.hex(text.utf8) == hex)
    }

    @Test func aMillionLettersDigestAsPublished() {
        #expect(
            SHA256.hex(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func piecesGiveTheSameAsTheWhole() {
        let bytes = (0..<300).map { UInt8($0 % 251) }
        for length in bytes.indices {
            var hash = SHA256()
            for start in stride(from: 0, to: length, by: 7) { hash.update(bytes[start..<min(length, start + 7)]) }
            #expect(hash.finish() == SHA256.digest(bytes[..<length]))
        }
    }
}

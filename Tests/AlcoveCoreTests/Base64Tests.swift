import AlcoveCore
import Testing

struct Base64Tests {
    // RFC 4648, section 10.
    static let vectors = [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ]

    @Test(arguments: vectors) func encodesAndDecodesTheVectors(_ plain: String, _ text: String) {
        #expect(Base64.text(Array(plain.utf8)) == text)
        #expect(Base64.bytes(text) == Array(plain.utf8))
    }

    @Test(arguments: ["Z", "Zg=", "Zg==Zg==", "Z===", "Zm9*", "Zm 9v"]) func refusesWhatIsNone(_ text: String) {
        #expect(Base64.bytes(text) == nil)
    }

    @Test func allBytesComeBack() {
        let bytes = (0...255).map { UInt8($0) }
        #expect(Base64.bytes(Base64.text(bytes)) == bytes)
    }
}

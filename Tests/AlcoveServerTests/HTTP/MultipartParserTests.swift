import AlcoveCore
import Testing

@testable import AlcoveServer

struct MultipartParserTests {
    struct Part: Equatable {
        var name: String
        var fileName: String?
        var type: String?
        var bytes: [UInt8]
    }

    enum Outcome: Equatable {
        case parts([Part])
        case failure(MultipartError)
    }

    static func parse(
        _ chunks: [ArraySlice<UInt8>], type: String = "multipart/form-data; boundary=XX",
        limits: MultipartParser.Limits = .init()
    ) -> Outcome {
        do throws(MultipartError) {
            var parser = try MultipartParser(contentType: type, limits: limits)
            var parts: [Part] = []
            for chunk in chunks {
                parser.feed(chunk)
                while let event = try parser.next() {
                    switch event {
                    case .part(let part):
                        parts.append(
                            Part(name: part.name, fileName: part.fileName, type: part.contentType, bytes: []))
                    case .bytes(let bytes):
                        #expect(!bytes.isEmpty)
                        parts[parts.count - 1].bytes += bytes
                    case .partEnd, .end: break
                    }
                }
            }
            try parser.finish()
            return .parts(parts)
        } catch {
            return .failure(error)
        }
    }

    static func parse(_ text: String, type: String = "multipart/form-data; boundary=XX") -> Outcome {
        parse([Array(text.utf8)[...]], type: type)
    }

    static func file(_ bytes: String, name: String = "file", fileName: String? = "a.txt", type: String? = nil) -> Part {
        Part(name: name, fileName: fileName, type: type, bytes: Array(bytes.utf8))
    }

    static let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"

    static let forms: [(String, [Part])] = [
        ("--XX\r\n\(head)\r\nhello\r\n--XX--\r\n", [file("hello")]),
        ("--XX\r\n\(head)\r\nhello\r\n--XX--", [file("hello")]),
        ("before\r\n--XX \t\r\n\(head)\r\nhello\r\n--XX--after\r\n--XX\r\n", [file("hello")]),
        ("--XX\r\n\(head)Content-Type: text/x\r\n\r\n\r\n--XX--", [file("", type: "text/x")]),
        ("--XX\r\n\(head)\r\n--XX--", [file("")]),
        ("--XX\r\n\(head)\r\n\r\n\r\n--XX\r\n\(head)\r\n--X\r\n--XX--", [file("\r\n"), file("--X")]),
        ("--XX\r\n\(head)\r\n--XXY\r\n--XX-\r\n-\r\n--XX  y\r\n--XX--", [file("--XXY\r\n--XX-\r\n-\r\n--XX  y")]),
        ("--XX\r\n\(head)\r\n\r\r\n\r\n--XX--", [file("\r\r\n")]),
        ("--XX--", []),
        (
            "--XX\r\ncontent-disposition:form-data;\r\n name=a\r\nX-Other: 1\r\n\r\n1\r\n--XX\r\n\(head)\r\n2\r\n--XX--",
            [file("1", name: "a", fileName: nil), file("2")]
        ),
    ]

    @Test(arguments: forms.indices)
    func everySplitGivesTheSame(_ index: Int) {
        let (text, parts) = MultipartParserTests.forms[index]
        let bytes = Array(text.utf8)
        #expect(MultipartParserTests.parse([bytes[...]]) == .parts(parts))
        #expect(MultipartParserTests.parse(bytes.indices.map { bytes[$0...$0] }) == .parts(parts))
        for cut in bytes.indices {
            #expect(MultipartParserTests.parse([bytes[..<cut], bytes[cut...]]) == .parts(parts), "cut at \(cut)")
        }
    }

    @Test func aFormThatIsCutAnywhereIsIncomplete() {
        let bytes = Array("--XX\r\n\(MultipartParserTests.head)\r\nhello\r\n--XX--".utf8)
        for count in 0..<bytes.count {
            #expect(MultipartParserTests.parse([bytes[..<count]]) == .failure(.incomplete), "\(count) bytes")
        }
    }

    static let names: [(String, String?)] = [
        (#"filename="a b.txt""#, "a b.txt"), (#"filename=a.txt"#, "a.txt"), (#"FileName = "x""#, "x"),
        (#"filename="a\"b\\c""#, #"a"b\c"#), (#"filename="C:\new\file.txt""#, #"C:\new\file.txt"#),
        (#"filename="a%22b%0D%0Ac%20""#, "a\"b\r\nc%20"), (#"filename="""#, ""), (#"filename="a;b""#, "a;b"),
        (#"filename="é.txt""#, "é.txt"), (#"filename*=UTF-8''%e2%82%ac%20.txt"#, "€ .txt"),
        (#"filename="plain"; filename*=utf-8'en'%C3%A9"#, "é"), (#"filename*=iso-8859-1''%e9"#, "é"),
        (#"filename="plain"; filename*=UTF-8''%ff"#, "plain"), (#"filename="plain"; filename*=UTF-8''%4"#, "plain"),
        (#"filename="plain"; filename*=UTF-8%20x"#, "plain"), (#"filename*=UTF-8''..%2F..%2Fetc%00"#, "../../etc\0"),
        ("x=1;; ;", nil),
    ]

    @Test(arguments: names)
    func namesAreReadAsTheyWereMeant(_ parameters: String, _ name: String?) {
        let text = "--XX\r\nContent-Disposition: form-data; name=file; \(parameters)\r\n\r\n\r\n--XX--"
        #expect(MultipartParserTests.parse(text) == .parts([MultipartParserTests.file("", fileName: name)]))
    }

    static let faults: [(String, String)] = [
        ("--XX\r\n\r\n\r\n--XX--", "bad_part_header"), ("--XX\r\nContent-Type: a\r\n\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\nContent-Disposition: form-data\r\n\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\n\(head)\(head)\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\nContent-Disposition: form-data; name=\"a\0\"\r\n\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\n folded: 1\r\n\r\n\r\n--XX--", "bad_part_header"), ("--XX\r\n: 1\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\nno colon\r\n\r\n--XX--", "bad_part_header"),
        ("--XX\r\n\(head)Content-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--XX--", "unsupported_transfer_encoding"),
        ("", "multipart_incomplete"), ("--XX\n\(head)\nx\n--XX--\n", "multipart_incomplete"),
    ]

    @Test(arguments: faults)
    func faultsAreNamed(_ text: String, _ code: String) {
        guard case .failure(let error) = MultipartParserTests.parse(text) else {
            Issue.record("it was taken")
            return
        }
        #expect(error.code == code)
    }

    @Test func theBoundaryIsReadFromTheField() {
        let good = [
            "multipart/form-data; boundary=XX", "Multipart/Form-Data;charset=utf-8;BOUNDARY=\"XX\"",
            "multipart/form-data;boundary=\"XX\" ; x=y",
        ]
        for type in good { #expect(MultipartParserTests.parse("--XX--", type: type) == .parts([])) }
        let bad: [(String, MultipartError)] = [
            ("multipart/form-data", .noBoundary), ("multipart/mixed; boundary=XX", .noBoundary), ("", .noBoundary),
            ("multipart/form-data; boundary=", .badBoundary), ("multipart/form-data; boundary=\"X \"", .badBoundary),
            ("multipart/form-data; boundary=é", .badBoundary),
            ("multipart/form-data; boundary=" + String(repeating: "x", count: 201), .badBoundary),
        ]
        for (type, error) in bad { #expect(MultipartParserTests.parse("--XX--", type: type) == .failure(error)) }
    }

    @Test func partsAndHeadersAreBounded() {
        var limits = MultipartParser.Limits()
        limits.parts = 3
        limits.headerBytes = MultipartParserTests.head.utf8.count - 2
        let part = "--XX\r\n\(MultipartParserTests.head)\r\nx\r\n"
        for count in 0...4 {
            let form = Array((String(repeating: part, count: count) + "--XX--").utf8)
            let wanted: Outcome =
                count <= 3
                ? .parts(Array(repeating: MultipartParserTests.file("x"), count: count))
                : .failure(.tooManyParts(limit: 3))
            #expect(MultipartParserTests.parse([form[...]], limits: limits) == wanted)
            #expect(MultipartParserTests.parse(form.indices.map { form[$0...$0] }, limits: limits) == wanted)
        }
        limits.headerBytes -= 1
        let form = Array((part + "--XX--").utf8)
        let tooLarge = Outcome.failure(.headerTooLarge(part: 1, limit: limits.headerBytes))
        #expect(MultipartParserTests.parse([form[...]], limits: limits) == tooLarge)
        #expect(MultipartParserTests.parse(form.indices.map { form[$0...$0] }, limits: limits) == tooLarge)
    }

    /// What the pieces are must never matter, whatever the bytes are.
    @Test func mutationsGiveTheSameInOnePieceAndInMany() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("\r\n-X:;\"= a".utf8)
        for round in 0..<5_000 {
            var bytes = Array(MultipartParserTests.forms[round % MultipartParserTests.forms.count].0.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let byte = Bool.random(using: &random) ? alphabet.randomElement(using: &random)! : .random(in: 0...255)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                case 2: bytes.remove(at: place)
                default: bytes.insert(contentsOf: bytes[place...].prefix(12), at: Int.random(in: 0..<bytes.count))
                }
            }
            var pieces: [ArraySlice<UInt8>] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...9, using: &random)
                pieces.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            let whole = MultipartParserTests.parse([bytes[...]])
            #expect(MultipartParserTests.parse(pieces) == whole, "\(bytes)")
        }
    }

    @Test func aLargePartIsNotHeld() throws {
        var parser = try MultipartParser(contentType: "multipart/form-data; boundary=XX")
        parser.feed(Array("--XX\r\n\(MultipartParserTests.head)\r\n".utf8))
        var passedOn = 0
        let piece = [UInt8](repeating: 0x0D, count: 65_536)
        for round in 1...64 {
            parser.feed(piece)
            while let event = try parser.next() { if case .bytes(let bytes) = event { passedOn += bytes.count } }
            #expect(round * piece.count - passedOn <= 8)
        }
    }
}

import AlcoveCore
import Testing

@testable import AlcoveServer

/// What a file is, what it is called, what it says.
struct UploadNamesTests {
    static let heic: [UInt8] = [0, 0, 0, 0x20] + Array("ftypheic".utf8)
    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0]

    static let kinds: [(String, String?, [UInt8], String)] = [
        ("a.PNG", nil, png, "png"), ("a.jpeg", nil, [0xFF, 0xD8, 0xFF, 0xE0], "jpeg"), ("a", "image/png", png, "png"),
        ("a", "text/markdown; charset=x", Array("# x".utf8), "md"), ("a", nil, heic, "heic"),
        ("photo.png", "image/png", heic, "heic"), ("a.mov", nil, [0, 0, 0, 1] + Array("ftypqt  ".utf8), "mov"),
        ("a.m4a", nil, [0, 0, 0, 1] + Array("ftypmp42".utf8), "m4a"), ("a", nil, Array("%PDF-1.7".utf8), "pdf"),
        ("a.txt", nil, Array("%PDF-1.7 is how a PDF begins".utf8), "txt"), ("a.txt", nil, png, "png"),
        ("a.txt", nil, Array("BMW and ID3 are words".utf8), "txt"), ("a.tar.md", nil, [], "md"),
        ("a.mp3", nil, [0xFF, 0xFB], "mp3"), ("clip", "video/webm", [0x1A, 0x45, 0xDF, 0xA3], "webm"),
        (".md", "text/plain", [0x23], "txt"), ("a.xlsx", nil, [0x50, 0x4B, 3, 4] + Array("xl/".utf8), "xlsx"),
    ]

    @Test(arguments: kinds)
    func aKindIsFoundByNameThenTypeThenBytes(_ name: String, _ type: String?, _ head: [UInt8], _ ending: String) throws
    {
        #expect(try UploadNaming.ending(name: name, type: type, head: head) == ending)
    }

    static let refused: [(String, String?, [UInt8], String)] = [
        ("a", nil, [1, 2], "no_extension"), ("a", "application/octet-stream", [], "no_extension"),
        ("a.exe", "text/plain", [0x4D], "unsupported_file"), ("a.svg", nil, [], "unsupported_file"),
        ("a.png", nil, Array("<html>".utf8), "file_not_as_named"), ("a.pdf", nil, [], "file_not_as_named"),
        ("a.docx", nil, [0x50, 0x4B, 3, 4, 0], "file_not_as_named"), ("a.heic", nil, [0], "file_not_as_named"),
        ("a.png", nil, [0, 0, 0, 0x20] + Array("ftypavif".utf8), "file_not_as_named"),
    ]

    @Test(arguments: refused)
    func whatItIsNotIsRefused(_ name: String, _ type: String?, _ head: [UInt8], _ code: String) {
        #expect {
            try UploadNaming.ending(name: name, type: type, head: head)
        } throws: { error in
            (error as? UploadError)?.code == code
        }
    }

    @Test func onlyBareNamesOfUploadsAreNames() {
        let stem = String(repeating: "0a", count: 16)
        #expect(UploadName(stem + ".png")?.kind == .image)
        #expect(UploadName(stem + ".png")?.url == "/uploads/\(stem).png")
        let others = [
            "", stem, stem + ".exe", stem + ".PNG", stem + "-preview.png", "/" + stem + ".png", "../" + stem + ".png",
            stem + ".png/", stem + ".png.png", stem.uppercased() + ".png", stem + "\0.png", "0" + stem + ".png",
            stem.dropLast() + ".png", stem + ".png ", stem.dropLast() + "é.png",
        ]
        for text in others { #expect(UploadName(text) == nil, "\(text)") }
        #expect(UploadName.isServed(stem + "-preview.png") && UploadName.isServed(stem + "-text.txt"))
        for text in [stem + "-a/b.png", stem + "-..png", stem + "-a.b.png", "x" + stem + "-a.png", stem + "-é.png"] {
            #expect(!UploadName.isServed(text), "\(text)")
        }
    }

    @Test func shownNamesArePlain() {
        let cases: [(String, String)] = [
            ("a.txt", "a.txt"), ("/etc/a.txt", "a.txt"), (#"C:\x\a.txt"#, "a.txt"), ("..", "f"), ("", "f"), ("/", "f"),
            ("a\r\n\0b", "ab"), ("\u{202E}gpj.exe", "gpj.exe"), ("  a b  ", "a b"), ("\u{FEFF}\u{200B}", "f"),
            ("e\u{301}.txt", "e\u{301}.txt"), ("...", "f"), (" . ", "f"),
        ]
        for (text, name) in cases { #expect(ShownName.clean(text, fallback: "f") == name, "\(text)") }
        let long = ShownName.clean(String(repeating: "👩‍👩‍👧‍👦", count: 40) + ".pdf", fallback: "f")
        #expect(long.utf8.count <= ShownName.limit && long.hasSuffix(".pdf"))
        // Joiners are hidden characters too, and are dropped before anything is cut.
        #expect(long.hasPrefix("👩👩"))
    }

    @Test func textIsReadInWhateverItIsWritten() {
        let cases: [([UInt8], String?)] = [
            ([], ""), (Array("é".utf8), "é"), ([0xEF, 0xBB, 0xBF, 0x61], "a"), ([0xE9], "é"), ([0x61, 0], nil),
            ([0xFF, 0xFE, 0x61, 0, 0x3D, 0xD8, 0, 0xDE], "a😀"), ([0xFE, 0xFF, 0, 0x61], "a"),
            ([0xFF, 0xFE, 0x61, 0, 0x62], "a"),
        ]
        for (bytes, text) in cases { #expect(PlainText.decode(bytes) == text, "\(bytes)") }
        #expect(PlainText.decode(Array("a😀".utf8.dropLast()), isCut: true) == "a")
        #expect(PlainText("aé😀", limit: 4) == PlainText("aé", isComplete: false, limit: 9))
        #expect(PlainText("aé😀", limit: 7).isComplete)
        #expect(PlainText("é", limit: 1).text == "")
    }

    @Test func everyListedEndingHasATypeThatIsSafeToShow() {
        for kind in UploadKind.allCases {
            for ending in kind.endings {
                let type = UploadKind.contentType(ending: ending)
                #expect(UploadKind(ending: ending) == kind)
                #expect(!type.contains("html") && !type.contains("svg") && !type.contains("javascript"), "\(ending)")
                #expect(type != ContentType.unknown, "\(ending)")
                #expect((kind == .text) == (type == "text/plain; charset=utf-8"))
            }
        }
    }
}

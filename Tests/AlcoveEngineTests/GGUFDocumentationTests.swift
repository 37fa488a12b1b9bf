internal import AlcoveEngine
internal import Foundation
internal import Testing

/// `docs/models.md` tells every code and the usual advice, as the program says them.
struct GGUFDocumentationTests {
    @Test func everyCodeAndItsHintAreWrittenDown() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/models.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `gguf_") }

        for reason in GGUFError.Reason.allCases {
            let own = rows.filter { $0.hasPrefix("| `\(reason.rawValue)` |") }
            #expect(own.count == 1, "\(reason.rawValue)")
            #expect(own.first?.hasSuffix("| \(reason.hint ?? "") |") == true, "\(reason.rawValue)")
        }
        #expect(rows.count == GGUFError.Reason.allCases.count)
    }
}

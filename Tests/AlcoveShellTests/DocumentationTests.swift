import AlcoveShell
import Foundation
import Testing

/// docs/shell.md lists the commands there are, no more and no fewer.
struct DocumentationTests {
    private func listed(after title: String) throws -> [String] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../docs/shell.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "\n\(title): "))
        let end = try #require(text.range(of: "\n\n", range: start.upperBound..<text.endIndex))
        return text[start.upperBound..<end.lowerBound].split(whereSeparator: { $0 == " " || $0 == "\n" }).map {
            String($0.dropFirst().dropLast())
        }
    }

    @Test func theBuiltInCommandsAreListed() throws { #expect(try listed(after: "Built in") == ShellNames.builtins) }

    @Test func theUtilitiesAreListed() throws { #expect(try listed(after: "Utilities") == ShellNames.utilities) }
}

@testable import AlcoveAgent

/// Files that are only names and bytes.
final class MemoryFiles: PatchFiles {
    var files: [String: [UInt8]]
    private(set) var commits = 0

    init(_ files: [String: String] = [:]) { self.files = files.mapValues { Array($0.utf8) } }

    var texts: [String: String] { files.mapValues { String(decoding: $0, as: UTF8.self) } }

    func read(_ place: String) throws(PatchError) -> [UInt8]? { files[place] }

    func commit(_ changes: [PatchChange]) throws(PatchError) {
        commits += 1
        for change in changes { files[change.place] = change.after }
    }

    /// The whole patch between its markers.
    @discardableResult
    func apply(_ body: String) throws -> PatchOutcome {
        try Patch(parsing: "*** Begin Patch\n\(body)\n*** End Patch\n").apply(to: self)
    }
}

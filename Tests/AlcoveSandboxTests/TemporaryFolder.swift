import AlcoveCore
import Testing

@testable import AlcoveSandbox

/// A folder of a test's own, removed with its last reference.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/var/tmp/alcove-sandbox-XXXXXX".utf8CString)
        path = try #require(mkdtemp(&template).map { String(cString: $0) })
    }

    deinit {
        let parts = path.split(separator: "/")
        try? ConfinedPaths(workspace: "/" + parts.dropLast().joined(separator: "/"))
            .remove(String(parts[parts.count - 1]), recursively: true)
    }

    /// The real path of an entry, made with these contents when it has any.
    @discardableResult
    func file(_ name: String, _ text: String? = nil) throws -> String {
        let full = path + "/" + name
        if let text {
            let file = try #require(fopen(full, "w"))
            fputs(text, file)
            fclose(file)
        }
        return full
    }

    @discardableResult
    func folder(_ name: String) throws -> String {
        try #require(mkdir(path + "/" + name, 0o755) == 0)
        return path + "/" + name
    }

    func text(_ name: String) -> String? {
        guard let file = fopen(path + "/" + name, "r") else { return nil }
        defer { fclose(file) }
        var text = ""
        while true {
            let byte = fgetc(file)
            guard byte != EOF else { return text }
            text.unicodeScalars.append(UnicodeScalar(UInt8(byte)))
        }
    }

    func exists(_ name: String) -> Bool { faccessat(AT_FDCWD, path + "/" + name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }
}

internal import AlcoveCore

/// A folder of a test's own, removed with its last reference.
package final class TemporaryFolder: Sendable {
    package struct Failure: Error { let what: String }

    package let path: String

    /// - Parameter base: the folder to make it in. That of temporary files is another one inside the sandbox.
    package init(in base: String? = nil) throws {
        if let base {
            var template = Array("\(base)/alcove-test-XXXXXX".utf8CString)
            guard let path = mkdtemp(&template).map({ String(cString: $0) }) else { throw Failure(what: base) }
            self.path = path
        } else {
            guard let path = Folder.makeTemporary("test") else { throw Failure(what: "temporary folder") }
            self.path = path
        }
    }

    deinit { Folder.remove(path) }

    /// Names of what is in it, sorted.
    package var names: [String] { Folder.names(in: path) }

    /// The real path of an entry, made with these contents when it has any.
    @discardableResult
    package func file(_ name: String, _ text: String? = nil) throws -> String {
        if let text { try write(Array(text.utf8), to: name) }
        return path + "/" + name
    }

    package func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    package func write(_ bytes: [UInt8], to name: String) throws {
        guard let file = fopen("\(path)/\(name)", "w") else { throw Failure(what: name) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw Failure(what: name) }
    }

    @discardableResult
    package func folder(_ name: String) throws -> String {
        guard mkdir(path + "/" + name, 0o755) == 0 else { throw Failure(what: name) }
        return path + "/" + name
    }

    package func link(_ name: String, to target: String) throws {
        guard symlink(target, "\(path)/\(name)") == 0 else { throw Failure(what: name) }
    }

    package func bytes(of name: String) throws -> [UInt8] {
        guard let file = fopen("\(path)/\(name)", "r") else { throw Failure(what: name) }
        defer { fclose(file) }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { all += buffer[..<count] }
        return all
    }

    package func text(_ name: String) -> String? { (try? bytes(of: name)).map { String(decoding: $0, as: UTF8.self) } }

    package func exists(_ name: String) -> Bool {
        faccessat(AT_FDCWD, path + "/" + name, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }
}

internal import AlcoveCore

/// All models that can be had: those Alcove knows, the one that came with it, and those of the person's `catalog.json`.
///
/// Read anew whenever it is asked for, so that a change of the file counts at once. A bad entry is told in a sentence and
/// hides no other.
package struct Catalog: Sendable {
    /// What is wrong with the person's file or with one of its entries.
    package struct Problem: Sendable, Hashable {
        package var path: String
        package var message: String
    }

    package var entries: [CatalogEntry]
    package var problems: [Problem] = []
    /// Hosts of this device or its network that the person's file allows downloading from.
    package var allowedHosts: [String] = []

    /// Longest file that is read.
    private static let limit = 1 << 20

    /// - Parameters:
    ///   - file: the person's own `catalog.json`; need not exist.
    ///   - starter: the file of the model that came with the program.
    package init(file: String, starter: String?) {
        entries = BuiltInCatalog.entries
        if let starter { entries.append(BuiltInCatalog.starter(path: starter)) }
        read(file)
    }

    package func entry(_ id: String) -> CatalogEntry? { entries.first { $0.id == id } }

    /// The entry that a file belongs to, by the file's path in the store.
    package func entry(ofFile path: String, in store: ModelStore) -> (entry: CatalogEntry, file: CatalogFile)? {
        for entry in entries {
            for file in entry.files where store.path(of: file, in: entry) == path { return (entry, file) }
        }
        return nil
    }

    private mutating func read(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno != ENOENT {
                problems.append(Problem(path: path, message: "It cannot be read: \(Platform.describe(errno: errno))."))
            }
            return
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Catalog.limit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                AlcoveCore.read(descriptor, $0.baseAddress! + count, $0.count - count)  // never empty
            }
            if read < 0, errno == EINTR { continue }
            if read <= 0 { break }
            count += read
        }
        guard count <= Catalog.limit else {
            problems.append(Problem(path: path, message: "It is longer than \(Catalog.limit) bytes."))
            return
        }
        do {
            let value = try JSONValue(parsing: Array(bytes[..<count]))
            guard let models = value["models"]?.array ?? value.array else {
                problems.append(Problem(path: path, message: "It should be {\"models\": [...]}."))
                return
            }
            allowedHosts = value["allowedHosts"]?.array?.compactMap(\.string) ?? []
            for (number, model) in models.enumerated() { take(model, number: number + 1, path: path) }
        } catch {
            problems.append(Problem(path: path, message: error.message))
        }
    }

    private mutating func take(_ value: JSONValue, number: Int, path: String) {
        do throws(InputError) {
            let entry = try CatalogEntry(json: value)
            guard !entries.contains(where: { $0.id.lowercased() == entry.id.lowercased() }) else {
                throw InputError(code: "catalog_id_taken", message: "The id \"\(entry.id)\" is taken by another model.")
            }
            entries.append(entry)
        } catch {
            let name = value["id"]?.string.map { " (\"\($0.prefix(64))\")" } ?? ""
            problems.append(Problem(path: "\(path), model \(number)\(name)", message: error.message))
        }
    }
}

internal import AlcoveCore

/// The model files of this device: those that came with the program and those in the person's folder.
struct ModelLibrary: Sendable {
    struct Entry: Sendable {
        var name: String
        var path: String
        var bytes: UInt64
        var isBundled: Bool
    }

    let folders: Folders
    let resources: Resources

    /// Longest chain of folders that is looked into below `models`.
    private static let depth = 3

    /// All of them, the person's own first, each folder by name.
    var entries: [Entry] {
        var found: [Entry] = []
        collect(folders.models, isBundled: false, depth: ModelLibrary.depth, into: &found)
        for folder in resources.bundledModels { collect(folder, isBundled: true, depth: 1, into: &found) }
        return found
    }

    /// What answers when nothing was chosen: the quickest file that came with the program.
    var starter: Entry? {
        let bundled = entries.filter(\.isBundled)
        return bundled.first { $0.name.contains("Q8_0") } ?? bundled.first ?? entries.first
    }

    /// The path of a model by its file name, by its name without `.gguf`, or of a file anywhere.
    func path(named name: String) throws(InputError) -> String {
        // The system would take what stands before it for the whole path.
        guard !name.utf8.contains(0) else {
            throw InputError(code: "bad_model_name", message: "The name of the model holds a NUL character.")
        }
        let entries = entries
        if let entry = entries.first(where: { $0.name == name || $0.name == name + ".gguf" }) { return entry.path }
        if name.contains("/") || name.hasSuffix(".gguf") {
            let path = Folders.absolute(name)
            if access(path, F_OK) == 0 { return path }
            throw InputError(
                code: "model_missing", message: "There is no model file at \(path).",
                hint: "Check the path, or run `alcove models` to see what is there.", place: .missing)
        }
        throw InputError(
            code: "model_unknown", message: "There is no model named \"\(name)\".",
            hint: didYouMean(name, among: entries.map(\.name)) ?? "Run `alcove models` to see what is there.",
            place: .missing)
    }

    private func collect(_ folder: String, isBundled: Bool, depth: Int, into found: inout [Entry]) {
        guard depth > 0, let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        for name in names.sorted() {
            let path = folder + "/" + name
            var status = stat()
            guard stat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                collect(path, isBundled: isBundled, depth: depth - 1, into: &found)
            } else if name.lowercased().hasSuffix(".gguf") {
                found.append(Entry(name: name, path: path, bytes: UInt64(status.st_size), isBundled: isBundled))
            }
        }
    }
}

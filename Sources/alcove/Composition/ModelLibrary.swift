internal import AlcoveCore
internal import AlcoveServer

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
        // Projectors and drafts of the catalogue go beside a model and are none.
        let catalog = catalog, store = ModelStore(folder: folders.models)
        found.removeAll { entry in
            catalog.entry(ofFile: entry.path, in: store).map { $0.file.role != .weights }
                ?? entry.name.lowercased().hasPrefix("mmproj-")
        }
        return found + bundled
    }

    private var bundled: [Entry] {
        var found: [Entry] = []
        for folder in resources.bundledModels { collect(folder, isBundled: true, depth: 1, into: &found) }
        return found
    }

    private var bundledStarter: Entry? { bundled.first { $0.name.contains("Q8_0") } ?? bundled.first }

    /// The catalogue as it stands now.
    var catalog: Catalog { Catalog(file: folders.catalogFile, starter: bundledStarter?.path) }

    /// What answers when nothing was chosen: the quickest file that came with the program.
    var starter: Entry? {
        bundledStarter ?? entries.first
    }

    /// The path of a model by its file name, by its name without `.gguf`, or of a file anywhere.
    func path(named name: String) throws(InputError) -> String {
        // The system would take what stands before it for the whole path.
        guard !name.utf8.contains(0) else {
            throw InputError(code: "bad_model_name", message: "The name of the model holds a NUL character.")
        }
        let entries = entries
        if let entry = entries.first(where: { $0.name == name || $0.name == name + ".gguf" }) { return entry.path }
        if let path = try catalogPath(name) { return path }
        if name.contains("/") || name.hasSuffix(".gguf") {
            let path = Folders.absolute(name)
            if access(path, F_OK) == 0 { return path }
            throw InputError(
                code: "model_missing", message: "There is no model file at \(path).",
                hint: "Check the path, or run `alcove models` to see what is there.", place: .missing)
        }
        throw InputError(
            code: "model_unknown", message: "There is no model named \"\(name)\".",
            hint: didYouMean(name, among: entries.map(\.name) + catalog.entries.map(\.id))
                ?? "Run `alcove models` to see what is there.",
            place: .missing)
    }

    /// The weights of a model of the catalogue; nil when it has none of that id.
    private func catalogPath(_ id: String) throws(InputError) -> String? {
        guard let entry = catalog.entry(id) else { return nil }
        let status = ModelStore(folder: folders.models).status(of: entry)
        if let path = status.path { return path }
        throw InputError(
            code: "model_not_installed",
            message: status.state == .partial
                ? "\(entry.name) is not complete on this device yet." : "\(entry.name) is not on this device yet.",
            hint: entry.canBeDownloaded ? "Bring it with: alcove pull \(entry.id)" : nil, place: .missing)
    }

    private func collect(_ folder: String, isBundled: Bool, depth: Int, into found: inout [Entry]) {
        guard depth > 0 else { return }
        for name in Folder.names(in: folder) where !name.hasPrefix(".") {
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

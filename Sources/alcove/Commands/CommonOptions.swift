internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveRemote
internal import AlcoveServer

/// Options that several commands share, with one meaning.
enum CommonOptions {
    static let root = Command.Option(
        name: "--root", short: nil, value: "FOLDER",
        help: "Where chats and models are kept. Default: the system's place for such data.")
    static let model = Command.Option(
        name: "--model", short: "m", value: "NAME|FILE",
        help: "The model that answers: a name of `alcove models`, or a GGUF file.")
    static let context = Command.Option(
        name: "--context", short: "c", value: "TOKENS",
        help: "Most tokens of one chat. Default: what the model was made for, at most 8192.")
    static let threads = Command.Option(
        name: "--threads", short: "t", value: "N",
        help: "Threads that compute, at most one a core. Default: one a core.")
    static let lora = Command.Option(
        name: "--lora", short: nil, value: "FILE[:SCALE]",
        help: "A LoRA adapter (GGUF) of the model, and how strongly it acts. Default: 1, as it was trained.")
    static let draft = Command.Option(
        name: "--draft", short: nil, value: "NAME|FILE",
        help: "A smaller model of the same family that guesses ahead for it. Default: the one of the catalogue, if any."
    )
    static let projector = Command.Option(
        name: "--projector", short: nil, value: "FILE",
        help:
            "The model's projector (mmproj, GGUF), so that it sees or hears. Default: the catalogue's, or mmproj-MODEL.gguf "
            + "beside the model.")
    static let engine =
        [model, context, threads, lora, draft, projector, WorkerOptions.rpc, WorkerOptions.timeout] + RemoteOptions.all

    static let maxTokens = Command.Option(
        name: "--max-tokens", short: "n", value: "N", help: "Most tokens of the answer.")
    static let temperature = Command.Option(
        name: "--temperature", short: nil, value: "T", help: "0 chooses the likeliest word always, higher is freer.")
    static let seed = Command.Option(
        name: "--seed", short: nil, value: "N", help: "The same seed gives the same answer.")
    static let system = Command.Option(
        name: "--system", short: nil, value: "TEXT", help: "What the model is told first.")
    static let json = Command.Option(name: "--json", short: nil, value: nil, help: "Print JSON, for programs.")

    static func sampling(_ invocation: Invocation, default options: SamplingOptions) throws -> SamplingOptions {
        var options = options
        if let value = try invocation.float("--temperature", in: 0...5) { options.temperature = value }
        if let value = try invocation.int("--seed", in: 0...Int(UInt32.max)) { options.seed = UInt32(value) }
        return options
    }

    static func loader(
        _ invocation: Invocation, folders: Folders?, resources: Resources, gate: ComputeGate? = nil
    ) throws -> ModelLoader {
        var loader = ModelLoader(
            context: try invocation.int("--context", in: 64...4_194_304),
            threads: try invocation.int("--threads", in: 1...1024),
            marker: folders.map { LoadMarker(path: $0.loadMarker) }, program: resources.program,
            root: folders?.root)
        loader.remote = try RemoteOptions.read(invocation)
        loader.workers = try WorkerOptions.read(invocation)
        loader.gate = gate
        loader.adapter = try invocation.text("--lora").map { text in
            var adapter = try Adapter(text)
            adapter.path = Folders.absolute(adapter.path)
            return adapter
        }
        if let name = invocation.text("--draft") {
            let library = ModelLibrary(
                folders: folders ?? Folders(root: invocation.text("--root")), resources: resources)
            loader.draft = try library.path(named: name)
        }
        loader.projector = invocation.text("--projector").map(Folders.absolute)
        if let folders {
            let library = ModelLibrary(folders: folders, resources: resources)
            loader.entry = { path in
                // A fast copy is its original, only quicker.
                let original = library.fastCopies.copy(ofFile: path)?.originalPath ?? path
                return library.catalog.entry(ofFile: original, in: ModelStore(folder: folders.models))?.entry
            }
            let found = loader.entry
            let store = ModelStore(folder: folders.models)
            loader.draftOfEntry = { entry in
                entry.files.first { $0.role == .draft && store.isComplete($0, in: entry) }
                    .map { store.path(of: $0, in: entry) }
            }
            loader.catalogProjector = { path in
                guard let entry = found(path), let file = entry.files.first(where: { $0.role == .projector }),
                    store.isComplete(file, in: entry)
                else { return nil }
                return store.path(of: file, in: entry)
            }
        }
        return loader
    }

    /// The model's path that a command should use.
    static func modelPath(_ invocation: Invocation, library: ModelLibrary) throws -> String {
        // The loader knows the place; there is no file.
        if let remote = try RemoteOptions.read(invocation) { return remote.endpoint.shown }
        if let name = invocation.text("--model") { return try library.path(named: name) }
        guard let starter = library.starter else {
            throw InputError(
                code: "no_model", message: "There is no model on this device yet.",
                hint: "Run `make bootstrap` in the checkout for the starter model, or name a file with --model.")
        }
        return starter.path
    }
}

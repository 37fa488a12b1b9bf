internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveServer
internal import Synchronization

/// `alcove models optimize`: a copy of a model in a quantisation that this processor is quick with.
enum OptimizeCommand {
    static let command = Command(
        name: "optimize", summary: "Make a copy of a model that is quicker on this processor.",
        discussion: """
            Some files are stored in a way this processor has no fast kernel for (Q4_1, Q5_1, whole and half floats). A copy
            is made aside, checked against the original on a fixed text, and kept only when its perplexity is at most
            \(Int(FastCopyMaker.mostLoss * 100)) % higher. The original stays. Measured gains are of this run: let nothing else compute meanwhile.
            """,
        arguments: [
            Command.Argument(name: "ID|FILE", help: "The model: a name or id of `alcove models`, or a GGUF file.")
        ],
        options: [
            CommonOptions.root, CommonOptions.threads, CommonOptions.json,
            Command.Option(
                name: "--to", short: nil, value: "TYPE",
                help: "q8_0 (default, practically lossless) or q4_0 (smaller, often refused for its loss)."),
            Command.Option(
                name: "--remove", short: nil, value: nil,
                help: "Delete the fast copies of this model, or this fast copy; with --to only those of that type."),
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let library = ModelLibrary(folders: folders, resources: resources)
        let type = try invocation.text("--to").map { text throws(UsageError) in
            guard let type = FastCopyType(rawValue: text.lowercased()) else {
                throw UsageError("--to is q8_0 or q4_0, not \"\(text)\".")
            }
            return type
        }
        let threads = try invocation.int("--threads", in: 1...1024)
        let path = try library.path(named: invocation.arguments[0])
        if invocation.has("--remove") { return try remove(path, type, library, json: invocation.has("--json")) }

        let line = ProgressLines()
        let copy = try await library.fastCopyMaker(threads: threads).make(
            of: path, as: type ?? .q8_0, stop: DownloadOptions.stopOnSignal()
        ) { line.show($0) }
        if invocation.has("--json") {
            Terminal.line(copy.json.text(.indented))
        } else {
            for sentence in describe(copy) { Terminal.line(sentence) }
            Terminal.notice("Talk to it with: alcove chat --model \"\(copy.name)\"")
        }
        return .success
    }

    private static func remove(
        _ path: String, _ type: FastCopyType?, _ library: ModelLibrary, json: Bool
    ) throws -> ExitCode {
        let store = library.fastCopies
        let found = try library.fastCopies(named: path).filter { type == nil || $0.type == type }
        guard !found.isEmpty else {
            throw FastCopyError.nothingToRemove(name: "\(path.split(separator: "/").last ?? "")")
        }
        for copy in found {
            try store.remove(copy)
            CheckpointFolder.remove(root: library.folders.root, model: copy.path)
            if !json { Terminal.line("\(copy.name) is deleted.") }
        }
        if json { Terminal.line(JSONValue.array(found.map(\.json)).text(.indented)) }
        return .success
    }

    private static func describe(_ copy: FastCopy) -> [String] {
        let measure = copy.measure
        let worse = (measure.loss * 1000).rounded() / 10 + 0  // no minus before nothing
        var lines = [
            "\(copy.name) is ready, a fast copy of \(copy.originalName).",
            "  size        \(copy.originalBytes / 1_000_000) MB -> \(copy.bytes / 1_000_000) MB",
            "  reading     \(times(measure.prefillGain)) as quick (\(Int(measure.prefill)) tokens/s, "
                + "\(measure.threads == 1 ? "1 thread" : "\(measure.threads) threads"))",
            "  writing     \(times(measure.decodeGain)) as quick (\(Int(measure.decode)) tokens/s)",
            "  perplexity  \(rounded(measure.originalPerplexity)) -> \(rounded(measure.copyPerplexity)) "
                + "(\(worse > 0 ? "+" : "")\(worse) %)",
        ]
        if measure.prefillGain < 1.05, measure.decodeGain < 1.05 {
            lines.append(
                "It was no quicker in this run. Delete it with: alcove models optimize \"\(copy.name)\" --remove")
        }
        return lines
    }

    /// One decimal and a cross: `2.2x`.
    static func times(_ gain: Double) -> String { "\((gain * 10).rounded() / 10)x" }

    private static func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }

    /// Tells each tenth of each phase, on standard error.
    private final class ProgressLines: Sendable {
        private let told = Mutex<(phase: FastCopyProgress.Phase?, tenth: Int)>((nil, -1))

        func show(_ progress: FastCopyProgress) {
            let tenth = Int(progress.fraction * 10)
            let isNews = told.withLock { told in
                if told.phase == progress.phase, told.tenth >= tenth { return false }
                told = (progress.phase, tenth)
                return true
            }
            guard isNews else { return }
            let words = progress.phase == .quantizing ? "Writing the copy" : "Measuring it against the original"
            Terminal.notice("\(words): \(tenth * 10) %")
        }
    }
}

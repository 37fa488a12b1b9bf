internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveEngine

/// How quick a model is on this device: reading, writing, and the wait for the first word in every shape of conversation.
enum BenchCommand {
    static let command = Command(
        name: "bench", summary: "Measure how quick a model is on this device.",
        discussion: """
            Medians of several runs, with nothing else of Alcove's running. Shapes share a beginning of some 2,000 tokens;
            the first is computed cold, the others go on from what is kept. Figures for other programs on the same file and
            threads: Benchmarks/peers.py.
            """,
        options: [CommonOptions.root] + CommonOptions.engine + [
            CommonOptions.json,
            Command.Option(name: "--runs", short: nil, value: "N", help: "Runs of each speed. Default: 3."),
            Command.Option(
                name: "--prefix", short: nil, value: "TOKENS", help: "Tokens of the shared beginning. Default: 2000."),
            Command.Option(
                name: "--only", short: nil, value: "PART",
                help: "speeds, guessing or shapes: only that part. Default: all three."),
        ],
        run: { try await run($0) })

    private enum Part: String, CaseIterable { case speeds, guessing, shapes }

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let path = try CommonOptions.modelPath(
            invocation, library: ModelLibrary(folders: folders, resources: resources))
        var loader = try CommonOptions.loader(invocation, folders: nil, resources: resources)
        let runs = try invocation.int("--runs", in: 1...100) ?? 3
        let prefix = try invocation.int("--prefix", in: 100...100_000) ?? 2_000
        let parts = try parts(invocation.text("--only"))
        loader.context = loader.context ?? 2 * prefix + 2_048
        let threads = loader.threads ?? Platform.processorCount
        var report = BenchReport(model: path, threads: threads, isJSON: invocation.has("--json"))

        if parts.contains(.speeds) || parts.contains(.guessing) {
            let start = Platform.monotonicNanoseconds
            let first = try await loader.load(path) { _ in }
            let load = Double(Platform.monotonicNanoseconds - start) / 1e9
            report.add("load", .double(load), "\(Int(1000 * load)) ms")
            let speeds = BenchSpeeds(model: first.model, runs: runs)
            if parts.contains(.speeds) {
                try await add(speeds, threads: threads, to: &report)
                let together = try await speeds.together(3)
                report.add(
                    "writing, 3 answers at once", .double(together),
                    "\(BenchReport.rounded(together)) tokens/s together")
            }
            if parts.contains(.guessing) { try await addGuessing(speeds, to: &report) }
            let memory = MemoryReading.current
            report.add("resident with the model", .integer(Int64(memory.residentBytes)), memory.text)
            await first.unload()
        }
        // One thread beside as many as are wanted: contention and speculation differ between them.
        if parts.contains(.speeds), threads > 1 {
            var one = loader
            one.threads = 1
            let loaded = try await one.load(path) { _ in }
            try await add(BenchSpeeds(model: loaded.model, runs: runs), threads: 1, to: &report)
            await loaded.unload()
        }
        if parts.contains(.shapes) { try await addShapes(path, loader, prefix: prefix, to: &report) }
        report.end()
        return .success
    }

    private static func parts(_ text: String?) throws(UsageError) -> [Part] {
        guard let text else { return Part.allCases }
        guard let part = Part(rawValue: text) else {
            throw UsageError("--only is speeds, guessing or shapes, not \"\(text)\".")
        }
        return [part]
    }

    private static func add(_ speeds: BenchSpeeds, threads: Int, to report: inout BenchReport) async throws {
        let found = try await speeds.plain()
        let with = threads == 1 ? "1 thread" : "\(threads) threads"
        for (name, value) in [
            ("reading \(BenchSpeeds.promptTokens) tokens, \(with)", found.reading),
            ("writing \(BenchSpeeds.answerTokens) tokens, \(with)", found.writing),
        ] {
            report.add(name, .double(value), "\(BenchReport.rounded(value)) tokens/s")
        }
    }

    private static func addGuessing(_ speeds: BenchSpeeds, to report: inout BenchReport) async throws {
        for (name, prompt) in [("quoting", BenchSpeeds.quoting), ("prose", BenchSpeeds.prose)] {
            let found = try await speeds.guessing(prompt)
            report.add(
                "\(name), guessing ahead",
                [
                    "plain": .double(found.plain), "guessing": .double(found.guessing), "ratio": .double(found.ratio),
                    "drafted": JSONValue(found.drafted), "accepted": JSONValue(found.accepted),
                ],
                "\(BenchReport.rounded(found.guessing)) tokens/s, plain \(BenchReport.rounded(found.plain)): "
                    + "\((found.ratio * 100).rounded() / 100)x, \(found.accepted) of \(found.drafted) came true")
        }
    }

    private static func addShapes(
        _ path: String, _ loader: ModelLoader, prefix: Int, to report: inout BenchReport
    ) async throws {
        guard let folder = Folder.makeTemporary("bench") else {
            throw InputError(
                code: "no_temporary_folder",
                message: "No temporary folder can be made: \(Platform.describe(errno: errno)).",
                hint: "Name one that can be written in TMPDIR.", place: .host)
        }
        defer { Folder.remove(folder) }
        let shapes = BenchShapes(
            load: { checkpoints in
                var loader = loader
                loader.root = checkpoints
                let loaded = try await loader.load(path) { _ in }
                return BenchShapes.LoadedEngine(model: loaded.model, unload: loaded.unload)
            }, checkpoints: folder, prefixTokens: prefix)
        var cold = 0.0
        report.head("Time to the first token, shared beginning of about \(prefix) tokens:")
        var all = report
        try await shapes.run { shape in
            if cold == 0 { cold = shape.firstToken }
            let reused = 100 * Double(shape.reusedTokens) / Double(max(1, shape.promptTokens))
            let times = shape.firstToken > 0 ? cold / shape.firstToken : 0
            all.add(
                shape.name,
                [
                    "seconds": .double(shape.firstToken), "prompt": JSONValue(shape.promptTokens),
                    "reused": JSONValue(shape.reusedTokens), "timesCold": .double(times),
                ],
                "\(Int(1000 * shape.firstToken)) ms, \(shape.reusedTokens) of \(shape.promptTokens) reused "
                    + "(\(BenchReport.rounded(reused)) %), \(BenchReport.rounded(times))x")
        }
        report = all
    }
}

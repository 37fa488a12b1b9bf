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
            threads: Benchmarks/peers.
            """,
        options: [CommonOptions.root] + CommonOptions.engine + [
            CommonOptions.json,
            Command.Option(name: "--runs", short: nil, value: "N", help: "Runs of each speed. Default: 3."),
            Command.Option(
                name: "--prefix", short: nil, value: "TOKENS", help: "Tokens of the shared beginning. Default: 2000."),
        ],
        run: { try await run($0) })

    private static let promptTokens = 512
    private static let answerTokens = 128

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let path = try CommonOptions.modelPath(
            invocation, library: ModelLibrary(folders: folders, resources: resources))
        var loader = try CommonOptions.loader(invocation, folders: nil, resources: resources)
        let runs = try invocation.int("--runs", in: 1...100) ?? 3
        let prefix = try invocation.int("--prefix", in: 100...100_000) ?? 2_000
        loader.context = loader.context ?? 2 * prefix + 2_048
        var rows: [(name: String, value: JSONValue, line: String)] = []
        let isJSON = invocation.has("--json")
        func add(_ name: String, _ value: JSONValue, _ line: String) {
            rows.append((name, value, line))
            if !isJSON { Terminal.line(name.padded(to: 34) + line) }
        }

        let start = Platform.monotonicNanoseconds
        let first = try await loader.load(path) { _ in }
        add("load", .double(seconds(since: start)), "\(Int(1000 * seconds(since: start))) ms")
        let speeds = try await speeds(first.model, runs: runs)
        add("reading \(promptTokens) tokens", .double(speeds.reading), "\(rounded(speeds.reading)) tokens/s")
        add("writing \(answerTokens) tokens", .double(speeds.writing), "\(rounded(speeds.writing)) tokens/s")
        let together = try await together(first.model, 3)
        add("writing, 3 answers at once", .double(together), "\(rounded(together)) tokens/s together")
        add("resident with the model", JSONValue(Int(Platform.residentBytes)), "\(Platform.residentBytes >> 20) MB")
        await first.unload()

        guard let folder = Folder.makeTemporary("bench") else {
            throw InputError(
                code: "no_temporary_folder",
                message: "No temporary folder can be made: \(Platform.describe(errno: errno)).",
                hint: "Name one that can be written in TMPDIR.", place: .host)
        }
        defer { Folder.remove(folder) }
        let shapes = BenchShapes(
            load: { [loader] checkpoints in
                var loader = loader
                loader.root = checkpoints
                let loaded = try await loader.load(path) { _ in }
                return BenchShapes.LoadedEngine(model: loaded.model, unload: loaded.unload)
            }, checkpoints: folder, prefixTokens: prefix)
        var cold = 0.0
        if !isJSON { Terminal.line("\nTime to the first token, shared beginning of about \(prefix) tokens:") }
        try await shapes.run { shape in
            if cold == 0 { cold = shape.firstToken }
            let reused = Int((100 * Double(shape.reusedTokens) / Double(max(1, shape.promptTokens))).rounded())
            let times = shape.firstToken > 0 ? cold / shape.firstToken : 0
            add(
                shape.name,
                [
                    "seconds": .double(shape.firstToken), "prompt": JSONValue(shape.promptTokens),
                    "reused": JSONValue(shape.reusedTokens), "timesCold": .double(times),
                ],
                "\(Int(1000 * shape.firstToken)) ms, \(shape.reusedTokens) of \(shape.promptTokens) reused (\(reused) %), "
                    + "\(rounded(times))x")
        }
        if isJSON {
            var object: JSONObject = [
                "model": .string(path), "threads": JSONValue(loader.threads ?? Platform.processorCount),
            ]
            for row in rows { object[row.name] = row.value }
            Terminal.line(JSONValue.object(object).text(.indented))
        }
        return .success
    }

    /// Medians of tokens a second, reading and writing.
    private static func speeds(_ model: any LanguageModel, runs: Int) async throws -> (reading: Double, writing: Double)
    {
        var reading: [Double] = [], writing: [Double] = []
        for number in 0..<runs {
            // Another beginning each time, so that nothing of it is kept.
            var request = GenerationRequest(messages: [])
            request.rawPrompt =
                "Number \(number). " + String(repeating: "the quick brown fox jumps over \(number) ", count: 90)
            request.maxTokens = answerTokens
            request.stopsRepetition = false
            request.sampling.temperature = 0
            for try await event in model.generate(request) {
                guard case .finished(_, let usage) = event else { continue }
                reading.append(Double(usage.promptTokens - usage.reusedTokens) / max(usage.promptSeconds, 1e-9))
                if usage.completionTokens > 8 { writing.append(usage.tokensPerSecond) }
            }
        }
        return (median(reading), median(writing))
    }

    /// Tokens a second of several answers at once, together.
    private static func together(_ model: any LanguageModel, _ count: Int) async throws -> Double {
        let start = Platform.monotonicNanoseconds
        let tokens = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    var request = GenerationRequest(
                        messages: [Message(role: .user, content: "Tell story number \(number).")], maxTokens: 64)
                    request.sampling.temperature = 0
                    var tokens = 0
                    for try await event in model.generate(request) {
                        if case .finished(_, let usage) = event { tokens = usage.completionTokens }
                    }
                    return tokens
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(tokens) / seconds(since: start)
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }

    private static func seconds(since start: UInt64) -> Double { Double(Platform.monotonicNanoseconds - start) / 1e9 }

    private static func rounded(_ value: Double) -> String { String(Double(Int(value * 10)) / 10) }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}

internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveServer
internal import AlcoveTemplates

/// The parts, reachable one by one, for tests, tools and people who debug.
enum PlumbingCommand {
    static let command = Command(
        name: "plumbing", summary: "Reach the program's parts one by one (JSON lines).",
        discussion: "Each reads one JSON object a line and answers one a line, in order. \"id\" is echoed.",
        subcommands: [
            part(
                "template", "Render a chat template: template, and context or messages.",
                """
                {"template", "context", "now", "options": {"trim_blocks", "lstrip_blocks", "keep_trailing_newline"}} renders
                any Jinja source: {"output"}. {"template", "messages", "tools", "enable_thinking", "bos_token", "eos_token",
                "add_generation_prompt", "now"} makes the prompt the engine would make: {"output", "parts": [[text,
                is_input], ...], "format"}. A failure is {"error", "code"}.
                """, template),
            part("toolcall", "Read an answer: format or template, input or stream, tools.", "") { line in
                try worker.answer("toolcall", line)
            },
            part("grammar", "Make a grammar: schema or tools.", "") { line in try worker.answer("grammar", line) },
            part("http", "Parse HTTP requests: chunks (Base64).", "") { line in
                plumbingHTTP(chunks: try chunks(line))
            },
            part("sse", "Parse server-sent events: chunks (Base64).", "") { line in
                plumbingSSE(chunks: try chunks(line))
            },
            part("multipart", "Parse a form: content_type, chunks (Base64).", "") { line in
                try plumbingMultipart(contentType: line["content_type"]?.string ?? "", chunks: try chunks(line))
            },
            part("json", "Read or canonicalise JSON: op (parse, canonical), json (Base64).", "", json),
            part("rank", "Order texts by how well they answer a query: documents, query.", "", rank), kept, calendar,
            patch,
            download,
            tokenize,
            Command(
                name: "template-worker", summary: "What tries unknown templates; started by the program itself.",
                run: { _ in
                    TemplateWorker.serve()
                    return .success
                }),
            Command(
                name: "fast-copy-worker", summary: "What makes fast copies; started by the program itself.",
                run: { _ in
                    FastCopyWorker.serve()
                    return .success
                }),
            WorkerCommand.child,
            Command(
                name: "projector-worker", summary: "What tries unknown projectors; started by the program itself.",
                run: { _ in
                    ProjectorTrial.serve()
                    return .success
                }),
        ])

    /// A command that answers every line by itself.
    private static func part(
        _ name: String, _ summary: String, _ discussion: String,
        _ answer: @escaping @Sendable (JSONValue) throws -> JSONValue
    ) -> Command {
        Command(
            name: name, summary: summary, discussion: discussion,
            run: { _ in
                eachLine(answer)
                return .success
            })
    }

    /// Longest line that is read.
    private static let lineLimit = 64 << 20

    private static func eachLine(_ answer: (JSONValue) throws -> JSONValue) {
        for bytes in InputLines() {
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            var id = JSONValue.null
            var result: JSONObject
            do {
                guard bytes.count <= lineLimit else {
                    throw InputError(code: "long_line", message: "The line is longer than \(lineLimit) bytes.")
                }
                let line = try JSONValue(parsing: bytes)
                id = line["id"] ?? .null
                guard line.object != nil else {
                    throw InputError(code: "bad_line", message: "The line should be a JSON object.")
                }
                result = try answer(line).object ?? JSONObject()
            } catch {
                result = ["error": .string((error as? any UserFacingError)?.message ?? "\(error)")]
                if let code = (error as? any UserFacingError)?.code { result["code"] = .string(code) }
            }
            var shown: JSONObject = ["id": id]
            for (key, value) in result.members { shown[key] = value }
            Terminal.line(JSONValue.object(shown).text())
        }
    }

    private static func chunks(_ line: JSONValue) throws -> [[UInt8]] {
        guard let list = line["chunks"]?.array else {
            throw InputError(code: "no_chunks", message: "\"chunks\" should be a list of Base64 texts.")
        }
        return try list.map { item in
            guard let bytes = item.string.flatMap(Base64.bytes) else {
                throw InputError(code: "bad_base64", message: "A chunk is not Base64.")
            }
            return bytes
        }
    }

    // MARK: template

    private static func template(_ line: JSONValue) throws -> JSONValue {
        guard let source = line["template"]?.string else {
            throw InputError(code: "no_template", message: "\"template\" should be text.")
        }
        let now = try line["now"]?.string.map { text in
            guard let seconds = Timestamps.seconds(local: text) else {
                throw InputError(
                    code: "bad_time", message: "\"now\" is a time like 2026-01-02T03:04:05, not \"\(text)\".")
            }
            return seconds
        }
        if line["messages"] != nil { return try conversation(line, source: source, now: now) }
        let options = JinjaOptions(
            trimBlocks: line["options"]?["trim_blocks"]?.bool ?? true,
            stripsBlocks: line["options"]?["lstrip_blocks"]?.bool ?? true,
            keepsTrailingNewline: line["options"]?["keep_trailing_newline"]?.bool ?? false)
        // In a child: the template may be anything.
        let output = try worker.render(
            template: options.applied(to: source), context: line["context"] ?? [:], now: now)
        return ["output": .string(output)]
    }

    /// The prompt as the engine makes it: the template is tried in a child, then used here.
    private static func conversation(_ line: JSONValue, source: String, now: Int64?) throws -> JSONValue {
        let bos = line["bos_token"]?.string ?? "", eos = line["eos_token"]?.string ?? ""
        try worker.run(TemplateTrial(source: source, bos: bos, eos: eos))
        var conversation = Conversation(
            messages: try PlumbingMessages.messages(line), tools: PlumbingMessages.tools(line),
            thinking: line["enable_thinking"]?.bool ?? false, now: now)
        conversation.addsGenerationPrompt = line["add_generation_prompt"]?.bool ?? true
        let prompt = try ChatTemplate(source: source, bos: bos, eos: eos).render(conversation)
        return [
            "output": .string(prompt.text),
            "parts": .array(prompt.parts.map { [.string($0.text), .bool($0.isInput)] }),
            "format": JSONValue(prompt.parser.format),
        ]
    }

    private static let worker = TemplateWorkerBox(program: Resources().program)

    // MARK: tokenize

    private static let tokenize = Command(
        name: "tokenize", summary: "Tokens of a text or a conversation: model, text or messages.",
        run: { _ in
            // Models are loaded when a line first names them; the lines are answered one after another.
            var engines: [String: LlamaEngine] = [:]
            var pending: [(JSONValue, Result<LlamaEngine?, any Error>)] = []
            for bytes in InputLines() {
                let line = (try? JSONValue(parsing: bytes)) ?? .string(String(decoding: bytes, as: UTF8.self))
                let name = line["model"]?.string ?? ""
                if engines[name] == nil, line.object != nil {
                    do {
                        engines[name] = try await load(name)
                    } catch {
                        pending = [(line, .failure(error))]
                    }
                }
                if pending.isEmpty { pending = [(line, .success(engines[name]))] }
                let (given, engine) = pending.removeFirst()
                answerTokens(given, engine)
            }
            return .success
        })

    private static func load(_ name: String) async throws -> LlamaEngine {
        let library = ModelLibrary(folders: Folders(root: nil), resources: Resources())
        let path = name.isEmpty ? (library.starter?.path ?? "") : try library.path(named: name)
        return try await LlamaEngine.loadVocabulary(path: path)
    }

    private static func answerTokens(_ line: JSONValue, _ engine: Result<LlamaEngine?, any Error>) {
        var result: JSONObject = ["id": line["id"] ?? .null]
        do {
            guard line.object != nil, let engine = try engine.get() else {
                throw InputError(code: "bad_line", message: "The line should be a JSON object.")
            }
            let (tokens, control) =
                if let text = line["text"]?.string { engine.tokenize(text: text) } else {
                    try engine.tokenize(PlumbingMessages.messages(line))
                }
            result["tokens"] = .array(tokens.map { .integer(Int64($0)) })
            result["special"] = .array(control.map { JSONValue($0) })
        } catch {
            result["error"] = .string((error as? any UserFacingError)?.message ?? "\(error)")
        }
        Terminal.line(JSONValue.object(result).text())
    }
}

/// The one worker of a run, asked by one thread at a time.
private final class TemplateWorkerBox: @unchecked Sendable {
    // Unchecked: plumbing answers one line after another, on one task.
    private let worker: TemplateWorker

    init(program: String) { worker = TemplateWorker(command: [program, "plumbing", "template-worker"]) }

    func answer(_ part: String, _ line: JSONValue) throws -> JSONValue { try worker.answer(part, line) }

    func render(template: String, context: JSONValue, now: Int64?) throws -> String {
        try worker.render(template: template, context: context, now: now)
    }

    private var tried: TemplateTrial?

    /// Tries a template, unless it is the one that was tried last.
    func run(_ trial: TemplateTrial) throws {
        if tried == trial { return }
        try worker.run(trial)
        tried = trial
    }
}

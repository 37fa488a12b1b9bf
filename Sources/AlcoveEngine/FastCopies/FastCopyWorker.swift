internal import AlcoveCore
internal import Synchronization
internal import llama

/// The child that makes and measures a copy: a file that breaks the library, or a wish to stop, ends it and nothing else.
///
/// It reads one line of JSON, `{"source", "copy", "type", "threads"}`, and answers lines: `{"phase", "done", "of"}`, and at
/// last `{"result"}` or `{"error", "code"}`. It ends when its input does, so it never outlives who started it.
package enum FastCopyWorker {
    private static let rounds = 3
    /// Rows of a tensor that are held at once.
    private static let bufferBytes = 256 << 20

    package static func serve() {
        guard let line = readLine(), let request = try? JSONValue(parsing: Array(line.utf8)),
            let source = request["source"]?.string, let copy = request["copy"]?.string,
            let type = request["type"]?.string.flatMap(FastCopyType.init)
        else { return tell(["error": "The request cannot be read.", "code": "bad_request"]) }
        let isWatched = startThread(name: "alcove.input") {
            while readLine() != nil {}
            _exit(0)
        }
        guard isWatched else { return tell(["error": "The system gives no thread.", "code": "no_thread"]) }
        do {
            let threads = LlamaEngine.threads(request["threads"]?.int)
            try quantize(source, to: copy, type, threads: threads)
            tell(["result": try measure(source, copy, threads: threads).json])
        } catch {
            tell(["error": .string(error.message), "code": .string(error.code)])
        }
    }

    private static func quantize(_ source: String, to copy: String, _ type: FastCopyType, threads: Int)
        throws(EngineError)
    {
        LlamaLibrary.setLog { _, line in
            // "[  12/ 272] blk.0.attn_k.weight - ...": the library tells each tensor, and has no other way to say how far it is.
            guard line.first == "[", let slash = line.firstIndex(of: "/"), let end = line.firstIndex(of: "]"),
                slash < end,
                let done = Int(line[..<slash].drop { !$0.isNumber }),
                let all = Int(line[slash..<end].drop { !$0.isNumber })
            else { return }
            tell(["phase": "quantizing", "done": JSONValue(done), "of": JSONValue(all)])
        }
        _ = LlamaLibrary.takeLastError()
        var parameters = llama_model_quantize_default_params()
        parameters.ftype = type.fileType
        parameters.nthread = Int32(threads)
        parameters.allow_requantize = true
        parameters.max_buf_size = bufferBytes
        let status = llama_model_quantize(source, copy, &parameters)
        guard status == 0 else {
            throw .quantizeFailed(path: source, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
    }

    private static func measure(_ source: String, _ copy: String, threads: Int) throws(EngineError) -> FastCopyMeasure {
        let steps = 2 + rounds
        tell(["phase": "measuring", "done": 0, "of": JSONValue(steps)])
        let original = try FastCopyProbe(path: source, threads: threads)
        let made = try FastCopyProbe(path: copy, threads: threads)
        let originalPerplexity = try original.perplexity()
        tell(["phase": "measuring", "done": 1, "of": JSONValue(steps)])
        let copyPerplexity = try made.perplexity()
        var prefill: [(original: Double, copy: Double)] = [], decode = prefill
        for round in 0..<rounds {
            tell(["phase": "measuring", "done": JSONValue(2 + round), "of": JSONValue(steps)])
            // In turns, and each first once, so that what else the machine does meets both.
            let first = round % 2 == 0 ? try original.speeds() : try made.speeds()
            let second = round % 2 == 0 ? try made.speeds() : try original.speeds()
            let (a, b) = round % 2 == 0 ? (first, second) : (second, first)
            prefill.append((a.prefill, b.prefill))
            decode.append((a.decode, b.decode))
        }
        func median(_ values: [Double]) -> Double { max(values.sorted()[values.count / 2], 1e-9) }
        let copyPrefill = median(prefill.map(\.copy)), copyDecode = median(decode.map(\.copy))
        return FastCopyMeasure(
            originalPerplexity: originalPerplexity, copyPerplexity: copyPerplexity,
            prefillGain: median(prefill.map(\.original)) / copyPrefill,
            decodeGain: median(decode.map(\.original)) / copyDecode,
            prefill: Double(FastCopyProbe.window) / copyPrefill, decode: Double(FastCopyProbe.decoded) / copyDecode,
            threads: threads)
    }

    private static func tell(_ line: JSONValue) {
        var rest = (line.bytes() + [0x0A])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { _exit(1) }
            rest = rest.dropFirst(count)
        }
    }
}

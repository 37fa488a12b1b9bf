internal import AlcoveCore
internal import llama

/// One loaded file that is measured. Not Sendable on purpose: it stays on the thread that made it.
final class FastCopyProbe {
    /// Tokens read in one go; each window begins anew, so that the last token of a long text costs no more than the first.
    static let window = 256
    /// Tokens whose chances are held at once: a chance for each word of the vocabulary.
    private static let piece = 64
    static let decoded = 32
    private static let mostTokens = 768

    private let model: ModelHandle
    private let context: ContextHandle
    private let tokens: [Token]
    private let bos: Token?
    private let vocabularySize: Int
    private let window: Int

    init(path: String, threads: Int) throws(EngineError) {
        model = try ModelHandle(path: path) { _ in true }
        guard let raw = llama_model_get_vocab(model.raw), Vocabulary.missingByte(raw) == nil else {
            throw .loadFailed(path: path, reason: "its vocabulary cannot spell every text")
        }
        vocabularySize = Int(llama_vocab_n_tokens(raw))
        let first = llama_vocab_bos(raw)
        bos = llama_vocab_get_add_bos(raw) && first != LLAMA_TOKEN_NULL ? first : nil
        let text = Array(FastCopyText.text.utf8CString.dropLast())
        var found = [Token](repeating: 0, count: text.count + 8)
        let count = llama_tokenize(raw, text, Int32(text.count), &found, Int32(found.count), false, false)
        guard count > 64 else { throw .decodeFailed(status: count, reason: "the text to measure with has no tokens") }
        tokens = Array(found.prefix(min(Int(count), FastCopyProbe.mostTokens)))
        let trained = Int(llama_model_n_ctx_train(model.raw))
        window = trained > 64 ? min(FastCopyProbe.window, trained) : FastCopyProbe.window
        context = try ContextHandle(
            model: model, shape: ContextHandle.Shape(cells: 512, sequences: 1), cacheType: .f16,
            threads: ComputeThreads(count: threads),
            cancellation: Cancellation())
    }

    /// How surprised the model is by the text.
    func perplexity() throws(EngineError) -> Double {
        var sum = 0.0, count = 0
        var start = 0
        while start + 1 < tokens.count {
            let read = Array((bos.map { [$0] } ?? []) + tokens[start..<min(start + window - 1, tokens.count)])
            start += window - 1
            _ = context.cut(0, to: 0)
            for from in stride(from: 0, to: read.count, by: FastCopyProbe.piece) {
                let to = min(from + FastCopyProbe.piece, read.count)
                context.clearBatch()
                var outputs: [Int32] = []
                for position in from..<to {
                    outputs.append(context.add(read[position], position: position, sequence: 0, wantsLogits: true))
                }
                try compute()
                for position in from..<to where position + 1 < read.count {
                    sum += try surprise(at: outputs[position - from], of: read[position + 1])
                    count += 1
                }
            }
        }
        let value = exp(sum / Double(max(1, count)))
        guard value.isFinite else { throw .decodeFailed(status: 0, reason: "its chances are no numbers") }
        return value
    }

    /// Seconds for reading a window of tokens, and for a number of tokens one by one after it.
    func speeds() throws(EngineError) -> (prefill: Double, decode: Double) {
        _ = context.cut(0, to: 0)
        context.clearBatch()
        for position in 0..<FastCopyProbe.window {
            let last = position == FastCopyProbe.window - 1
            _ = context.add(tokens[position % tokens.count], position: position, sequence: 0, wantsLogits: last)
        }
        let start = Platform.monotonicNanoseconds
        try compute()
        let middle = Platform.monotonicNanoseconds
        for number in 0..<FastCopyProbe.decoded {
            context.clearBatch()
            let position = FastCopyProbe.window + number
            _ = context.add(tokens[position % tokens.count], position: position, sequence: 0, wantsLogits: true)
            try compute()
        }
        let end = Platform.monotonicNanoseconds
        return (Double(middle - start) / 1e9, Double(end - middle) / 1e9)
    }

    private func compute() throws(EngineError) {
        let status = context.decode()
        guard status == 0 else {
            throw .decodeFailed(status: status, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
        context.waitForResults()
    }

    /// Minus the logarithm of the chance the model gave to a token.
    private func surprise(at output: Int32, of token: Token) throws(EngineError) -> Double {
        guard let logits = llama_get_logits_ith(context.raw, output), token >= 0, Int(token) < vocabularySize else {
            throw .decodeFailed(status: 0, reason: "it gives no chances")
        }
        var most = logits[0]
        var index = 1
        while index < vocabularySize {
            if logits[index] > most { most = logits[index] }
            index += 1
        }
        var sum = 0.0
        index = 0
        while index < vocabularySize {
            sum += Double(expf(logits[index] - most))
            index += 1
        }
        return log(sum) - Double(logits[Int(token)] - most)
    }
}

internal import AlcoveEngine
internal import Foundation
internal import Testing
internal import llama

/// Vocabularies that bootstrap fetched, and the library's own reading of them.
enum VocabularyFile: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case smolLM2 = "models/SmolLM2-135M-Instruct.Q8_0.gguf"
    case qwen35 = "llama-testdata/ggml-vocab-qwen35.gguf"
    case gemma4 = "llama-testdata/ggml-vocab-gemma-4.gguf"
    case llamaBPE = "llama-testdata/ggml-vocab-llama-bpe.gguf"
    case llamaSPM = "llama-testdata/ggml-vocab-llama-spm.gguf"
    case phi3 = "llama-testdata/ggml-vocab-phi-3.gguf"
    case commandR = "llama-testdata/ggml-vocab-command-r.gguf"
    case deepSeek = "llama-testdata/ggml-vocab-deepseek-llm.gguf"

    var testDescription: String { "\(self)" }

    var path: String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return root.appendingPathComponent(".deps/" + rawValue).path
    }
}

/// A vocabulary read through the C API alone, to compare with.
final class ReferenceVocabulary {
    struct Special {
        var token: Int32
        var spelling: String
        var isControl: Bool
    }

    let model: OpaquePointer
    let raw: OpaquePointer
    let specials: [Special]

    init(_ path: String) throws {
        var parameters = llama_model_default_params()
        parameters.vocab_only = true
        model = try #require(llama_model_load_from_file(path, parameters))
        let raw = llama_model_get_vocab(model)!  // every model has one
        self.raw = raw
        specials = (0..<llama_vocab_n_tokens(raw)).compactMap { token in
            let attributes = llama_vocab_get_attr(raw, token).rawValue
            let control = LLAMA_TOKEN_ATTR_CONTROL.rawValue | LLAMA_TOKEN_ATTR_UNKNOWN.rawValue
            guard attributes & (control | LLAMA_TOKEN_ATTR_USER_DEFINED.rawValue) != 0 else { return nil }
            return Special(
                token: token, spelling: String(cString: llama_vocab_get_text(raw, token)),
                isControl: attributes & control != 0)
        }
    }

    deinit { llama_model_free(model) }

    func tokens(of text: String) -> [Int32] {
        let bytes = Array(text.utf8).map { CChar(bitPattern: $0) }
        var tokens = [Int32](repeating: 0, count: bytes.count + 8)
        let count = llama_tokenize(raw, bytes, Int32(bytes.count), &tokens, Int32(tokens.count), false, true)
        return Array(tokens.prefix(Int(max(0, count))))
    }

    /// The text of tokens, control tokens by their spelling.
    func text(of tokens: [Int32]) -> String {
        var bytes: [UInt8] = []
        for token in tokens {
            var piece = [CChar](repeating: 0, count: 512)
            let count = llama_token_to_piece(raw, token, &piece, 512, 0, true)
            bytes += piece.prefix(Int(max(0, count))).map { UInt8(bitPattern: $0) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

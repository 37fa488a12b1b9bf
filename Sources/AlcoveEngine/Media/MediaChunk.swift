internal import AlcoveCore
internal import Synchronization
internal import llama

/// A stretch of a prompt that is no text: one picture, a part of one, or a sound, as the model will see it.
///
/// In a prompt it stands as `count` times its `token`, a number below 0 that no vocabulary has. Equal contents have equal
/// numbers and others have others, so that beginnings of prompts are compared as ever.
///
/// Unchecked: owns one `mtmd_input_chunk *`, which does not change.
final class MediaChunk: @unchecked Sendable {
    let raw: OpaquePointer
    let token: Token
    /// Places it takes in the memory of a sequence.
    let count: Int
    /// Positions it takes: fewer than places where positions have several dimensions (M-RoPE).
    let positions: Int

    /// - Parameter raw: A chunk that this one owns from now on.
    init(raw: OpaquePointer, token: Token) {
        self.raw = raw
        self.token = token
        count = mtmd_input_chunk_get_n_tokens(raw)
        positions = Int(mtmd_input_chunk_get_n_pos(raw))
    }

    deinit { mtmd_input_chunk_free(raw) }
}

/// What a picture or a sound comes to in a prompt: tokens of text before, between and behind, and chunks.
struct MediaPrompt: Sendable {
    /// With `count` times its number for each chunk.
    var tokens: [Token] = []
    var chunks: [MediaChunk] = []
}

/// Numbers for contents, and what is known of each; for as long as the model is loaded.
final class MediaNumbers: Sendable {
    private struct Known {
        var tokens: [Key: Token] = [:]
        var sizes: [(count: Int, positions: Int)] = []
        /// Whether any takes fewer positions than places.
        var folds = false
    }

    private struct Key: Hashable {
        var digest: [UInt8]
        var part: Int
    }

    private let known = Mutex(Known())
    /// -1 is the library's word for no token at all.
    private static let first: Token = -2

    /// The number of a part of a content.
    func token(of digest: [UInt8], part: Int, count: Int, positions: Int) -> Token {
        known.withLock { known in
            let key = Key(digest: digest, part: part)
            if let token = known.tokens[key] { return token }
            let token = MediaNumbers.first - Token(known.sizes.count)
            known.sizes.append((count, positions))
            known.tokens[key] = token
            if positions != count { known.folds = true }
            return token
        }
    }

    /// At which position stands what comes behind the first `count` tokens.
    func position(behind count: Int, of tokens: [Token]) -> Int {
        known.withLock { known in
            guard known.folds else { return count }
            var position = 0, place = 0
            tokens.withUnsafeBufferPointer { tokens in
                while place < count {
                    let token = tokens[place]
                    let size =
                        token > MediaNumbers.first
                        ? (count: 1, positions: 1) : known.sizes[Int(MediaNumbers.first - token)]
                    position += size.positions
                    place += size.count
                }
            }
            return position
        }
    }

    /// How many tokens are whole before a position.
    func count(before position: Int, of tokens: [Token]) -> Int {
        known.withLock { known in
            guard !known.sizes.isEmpty else { return min(position, tokens.count) }
            var count = 0, reached = 0
            while count < tokens.count {
                let token = tokens[count]
                let size =
                    token > MediaNumbers.first ? (count: 1, positions: 1) : known.sizes[Int(MediaNumbers.first - token)]
                if reached + size.positions > position { break }
                reached += size.positions
                count += size.count
            }
            return min(count, tokens.count)
        }
    }
}

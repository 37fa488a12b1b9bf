package import AlcoveCore

/// How a copy compares with its original, both measured in one run on the same text.
package struct FastCopyMeasure: Sendable, Hashable {
    /// How surprised a model is by the text: lower is better.
    package var originalPerplexity: Double
    package var copyPerplexity: Double
    /// Times as quick as the original; medians of alternating rounds.
    package var prefillGain: Double
    package var decodeGain: Double
    /// Tokens a second of the copy.
    package var prefill: Double
    package var decode: Double
    package var threads: Int

    /// The part by which the copy is worse; below zero when it is better.
    package var loss: Double { copyPerplexity / originalPerplexity - 1 }

    package var json: JSONValue {
        [
            "originalPerplexity": .double(originalPerplexity), "copyPerplexity": .double(copyPerplexity),
            "prefillGain": .double(prefillGain), "decodeGain": .double(decodeGain),
            "prefillTokensPerSecond": .double(prefill), "decodeTokensPerSecond": .double(decode),
            "threads": JSONValue(threads),
        ]
    }

    init(
        originalPerplexity: Double, copyPerplexity: Double, prefillGain: Double, decodeGain: Double, prefill: Double,
        decode: Double, threads: Int
    ) {
        self.originalPerplexity = originalPerplexity
        self.copyPerplexity = copyPerplexity
        self.prefillGain = prefillGain
        self.decodeGain = decodeGain
        self.prefill = prefill
        self.decode = decode
        self.threads = threads
    }

    /// nil when something is missing or no sensible number.
    package init?(_ json: JSONValue) {
        func number(_ key: String) -> Double? {
            guard let value = json[key]?.double, value.isFinite, value > 0 else { return nil }
            return value
        }
        guard let original = number("originalPerplexity"), let copy = number("copyPerplexity"),
            let prefillGain = number("prefillGain"), let decodeGain = number("decodeGain"),
            let prefill = number("prefillTokensPerSecond"), let decode = number("decodeTokensPerSecond"),
            let threads = json["threads"]?.int
        else { return nil }
        self.init(
            originalPerplexity: original, copyPerplexity: copy, prefillGain: prefillGain, decodeGain: decodeGain,
            prefill: prefill, decode: decode, threads: threads)
    }
}

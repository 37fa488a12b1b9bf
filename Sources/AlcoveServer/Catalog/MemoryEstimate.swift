/// What the header of a model file says of its size in memory.
package struct ModelShape: Sendable, Hashable {
    package var weightBytes: UInt64
    /// Keys and values of one token at 16 bits; nil where the header does not tell.
    package var cacheBytesPerToken: Double?
    package var vocabularySize: Int?
    package var embeddingLength: Int?
    package var contextLength: Int?

    package init(
        weightBytes: UInt64, cacheBytesPerToken: Double?, vocabularySize: Int?, embeddingLength: Int?,
        contextLength: Int?
    ) {
        self.weightBytes = weightBytes
        self.cacheBytesPerToken = cacheBytesPerToken
        self.vocabularySize = vocabularySize
        self.embeddingLength = embeddingLength
        self.contextLength = contextLength
    }
}

/// The memory a model takes once a chat has reached its full length. An upper bound: layers with a sliding window need less.
package struct MemoryEstimate: Sendable, Hashable {
    package var weightBytes: UInt64
    package var cacheBytes: UInt64
    package var computeBytes: UInt64
    /// Whether nobody has said how large keys and values are, so that a large usual figure stands for them.
    package var guessesCache: Bool

    package var totalBytes: UInt64 { weightBytes + cacheBytes + computeBytes }

    /// Bits a number takes in the cache, scales included.
    package static let cacheBits = ["f16": 16.0, "q8_0": 8.5, "q4_0": 4.5]

    /// Of two storages the one of fewer bits: what a person chose for the device, and what a model's entry asks for.
    package static func smallerCache(_ one: String, _ other: String) -> String {
        (cacheBits[other] ?? 16) < (cacheBits[one] ?? 16) ? other : one
    }

    /// Keys and values of one token where nobody says: what a model of 8 billion parameters with grouped heads needs at most.
    private static let usualCacheBytes = 65_536.0
    /// Tokens computed in one go (`ContextHandle.batchTokens`).
    private static let batch = 512.0
    private static let longestUnasked = 8_192
    /// Chats the engine has room for at once, each as long as the longest (`EngineLoop.Options.sequences`).
    private static let sequences = 3.0

    /// - Parameters:
    ///   - bytes: the files that are loaded, where there is no header yet.
    ///   - context: tokens of one chat; 0 is what the file says, at most 8,192.
    init(shape: ModelShape?, bytes: UInt64, context: Int, cacheType: String, cacheBytesPerToken: Int? = nil) {
        weightBytes = max(shape?.weightBytes ?? 0, bytes)
        let tokens =
            context > 0
            ? min(context, shape?.contextLength ?? context)
            : min(shape?.contextLength ?? MemoryEstimate.longestUnasked, MemoryEstimate.longestUnasked)
        let known = shape?.cacheBytesPerToken ?? cacheBytesPerToken.map(Double.init)
        guessesCache = known == nil
        let share = (MemoryEstimate.cacheBits[cacheType] ?? 16) / 16
        cacheBytes = UInt64(
            min((known ?? MemoryEstimate.usualCacheBytes) * share * Double(tokens) * MemoryEstimate.sequences, 1e18))
        // One row of scores for each token of a batch, and some rows of the layers' width.
        let vocabulary = Double(shape?.vocabularySize ?? 262_144), width = Double(shape?.embeddingLength ?? 4_096)
        computeBytes = UInt64(min(MemoryEstimate.batch * 4 * (vocabulary + 8 * width), 1e18))
    }
}

/// Whether a model fits this device, with both numbers.
package struct Fit: Sendable, Hashable {
    package enum Verdict: String, Sendable {
        case fits
        /// The device is large enough, but too much of it is taken now.
        case tight
        case tooBig
    }

    package var verdict: Verdict
    package var estimate: MemoryEstimate
    package var device: DeviceMemory
    package var sentence: String

    init(minDeviceMemoryGB: Int, estimate: MemoryEstimate, device: DeviceMemory) {
        self.estimate = estimate
        self.device = device
        let needed = Fit.gigabytes(estimate.totalBytes)
        if minDeviceMemoryGB > device.tier {
            verdict = .tooBig
            sentence =
                "Too big: it is made for \(minDeviceMemoryGB) GB of memory, and this device has "
                + "\(Fit.gigabytes(device.physicalBytes))."
        } else if let free = device.freeBytes, estimate.totalBytes > free {
            verdict = .tight
            sentence = "It needs about \(needed), and \(Fit.gigabytes(free)) are free now: close other programs first."
        } else if let free = device.freeBytes {
            verdict = .fits
            sentence = "It needs about \(needed), and \(Fit.gigabytes(free)) are free."
        } else {
            verdict = .fits
            sentence = "It needs about \(needed) of this device's \(Fit.gigabytes(device.physicalBytes))."
        }
    }

    private static func gigabytes(_ bytes: UInt64) -> String {
        let tenths = (bytes + 50_000_000) / 100_000_000
        return "\(tenths / 10).\(tenths % 10) GB"
    }
}

internal import AlcoveCore

/// Tokens a second of one model: reading, writing, several at once, with and without guessing ahead. Medians.
struct BenchSpeeds {
    let model: any LanguageModel
    let runs: Int

    static let promptTokens = 512
    static let answerTokens = 128

    /// Reading a prompt of some 512 tokens, and writing 128 after it. Nothing is guessed: that is measured apart.
    func plain() async throws -> (reading: Double, writing: Double) {
        var reading: [Double] = [], writing: [Double] = []
        for number in 0...runs {
            // Another beginning each time, so that nothing of it is kept.
            var request = GenerationRequest(messages: [])
            request.rawPrompt =
                "Number \(number). " + String(repeating: "the quick brown fox jumps over \(number) ", count: 73)
            request.maxTokens = BenchSpeeds.answerTokens
            request.stopsRepetition = false
            request.speculates = false
            request.sampling.temperature = 0
            let usage = try await BenchSpeeds.usage(of: model, request)
            // The first run warms up.
            guard number > 0 else { continue }
            reading.append(Double(usage.promptTokens - usage.reusedTokens) / max(usage.promptSeconds, 1e-9))
            if usage.completionTokens > 8 { writing.append(usage.tokensPerSecond) }
        }
        return (BenchSpeeds.median(reading), BenchSpeeds.median(writing))
    }

    /// Several answers at once, together.
    func together(_ count: Int) async throws -> Double {
        var rates: [Double] = []
        for run in 0..<runs {
            let start = Platform.monotonicNanoseconds
            let tokens = try await withThrowingTaskGroup(of: Int.self) { [model] group in
                for number in 0..<count {
                    group.addTask {
                        var request = GenerationRequest(
                            messages: [Message(role: .user, content: "Tell story number \(run * count + number).")],
                            maxTokens: 64)
                        request.sampling.temperature = 0
                        request.stopsRepetition = false
                        return try await BenchSpeeds.usage(of: model, request).completionTokens
                    }
                }
                return try await group.reduce(0, +)
            }
            rates.append(Double(tokens) / (Double(Platform.monotonicNanoseconds - start) / 1e9))
        }
        return BenchSpeeds.median(rates)
    }

    /// What guessing ahead gains on an answer that is in its question, and on one that is not.
    struct Guessing {
        var plain: Double
        var guessing: Double
        /// Median of the ratios of neighbouring answers.
        var ratio: Double
        var drafted: Int
        var accepted: Int
    }

    func guessing(_ prompt: (Int) -> String) async throws -> Guessing {
        var rates: [Bool: [Double]] = [false: [], true: []], ratios: [Double] = []
        var result = Guessing(plain: 0, guessing: 0, ratio: 0, drafted: 0, accepted: 0)
        for number in 0...runs {
            var pair: [Bool: Double] = [:]
            // In turns, and each first as often: a machine that slows down meanwhile is not a gain.
            for speculates in number % 2 == 0 ? [false, true] : [true, false] {
                var request = GenerationRequest(
                    messages: [Message(role: .user, content: prompt(number))], maxTokens: BenchSpeeds.answerTokens)
                request.sampling.temperature = 0
                request.stopsRepetition = false
                request.speculates = speculates
                let usage = try await BenchSpeeds.usage(of: model, request)
                pair[speculates] = usage.tokensPerSecond
                if number > 0 {
                    result.drafted += usage.draftedTokens
                    result.accepted += usage.acceptedTokens
                }
            }
            guard number > 0, let plain = pair[false], let guessing = pair[true], plain > 0 else { continue }
            rates[false]?.append(plain)
            rates[true]?.append(guessing)
            ratios.append(guessing / plain)
        }
        result.plain = BenchSpeeds.median(rates[false] ?? [])
        result.guessing = BenchSpeeds.median(rates[true] ?? [])
        result.ratio = BenchSpeeds.median(ratios)
        return result
    }

    static func quoting(_ number: Int) -> String {
        "Repeat the following text word for word:\n\n"
            + "The small red boat number \(number + 11) left the old harbour at nine in the morning. It came back in the evening "
            + "with \(number + 41) baskets of fish. The fishermen carried the baskets up the hill to the market, where the "
            + "people of the village were waiting for them. The baker bought two of them, the teacher bought one, and the "
            + "doctor bought three for the hospital behind the church. At night everybody sat together at the long table by "
            + "the water, and the oldest of the fishermen told of the great storm."
    }

    static func prose(_ number: Int) -> String {
        "\(number + 11) foxes live in the wood. Tell their story at length, and leave nothing out."
    }

    private static func usage(of model: any LanguageModel, _ request: GenerationRequest) async throws -> Usage {
        var found = Usage()
        for try await event in model.generate(request) { if case .finished(_, let usage) = event { found = usage } }
        return found
    }

    private static func median(_ values: [Double]) -> Double {
        values.isEmpty ? 0 : values.sorted()[values.count / 2]
    }
}

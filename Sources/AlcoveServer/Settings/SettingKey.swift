internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveDownloads

/// What a person can set for the whole host. Only what does something is here: a key of another program, or of a later
/// part of this one, is kept and given back, and changes nothing.
package enum SettingKey: String, CaseIterable, Sendable {
    case selectedModelID = "selectedModelId"
    case allowCodeExecution, allowNetwork, maxTokens, toolTimeoutSeconds, thinkByDefault, contextLength
    case downloadOptionalFiles, speculativeDecoding, kvCacheDtype, uploadQuotaMB
    case calendarEnabled, calendarPath, calendarCredentials
    case assistantSteps, assistantRounds, assistantSeconds, assistantTokens, systemPrompt, rememberApprovals,
        stopUnattended

    /// The value of a host on which nobody has set anything.
    var usual: JSONValue {
        switch self {
        case .selectedModelID, .calendarPath, .calendarCredentials, .systemPrompt: .null
        case .allowCodeExecution, .downloadOptionalFiles, .speculativeDecoding, .rememberApprovals: true
        case .assistantSteps, .assistantRounds: 3
        case .assistantSeconds: 300
        case .assistantTokens: 256
        case .allowNetwork, .thinkByDefault, .calendarEnabled, .stopUnattended: false
        case .maxTokens: 2_048
        case .toolTimeoutSeconds: 120
        case .contextLength, .uploadQuotaMB: 0
        case .kvCacheDtype: "f16"
        }
    }

    /// Most characters of a system prompt.
    package static let promptLimit = 8_000

    /// Of a limit of runs.
    private var range: ClosedRange<Int> {
        switch self {
        case .assistantRounds: RunLimits.roundsRange
        case .assistantSeconds: RunLimits.secondsRange
        case .assistantTokens: RunLimits.replyTokensRange
        default: RunLimits.stepsRange
        }
    }

    /// The end of a sentence that begins with the key.
    var rule: String {
        switch self {
        case .selectedModelID: "should be the name of a model, or null"
        case .allowCodeExecution, .allowNetwork, .thinkByDefault, .downloadOptionalFiles, .speculativeDecoding,
            .calendarEnabled, .rememberApprovals, .stopUnattended:
            "should be true or false"
        case .assistantSteps, .assistantRounds, .assistantSeconds, .assistantTokens:
            "should be a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .systemPrompt: "should be text of at most \(SettingKey.promptLimit) characters, or null"
        case .calendarPath:
            "should be the whole path of an .ics file or of a folder of them, a CalDAV server's address without a name or password, or null"
        case .calendarCredentials: "should be the whole path of a file that holds name:password, or null"
        case .maxTokens: "should be a whole number of tokens from 1 to 262144"
        case .toolTimeoutSeconds: "should be a number of seconds"
        case .kvCacheDtype: "should be f16, q8_0 or q4_0"
        case .contextLength: "should be 0, for the model's own length, or a number of tokens from 256 to 1048576"
        case .uploadQuotaMB: "should be 0, for no quota, or a whole number of megabytes up to 1048576"
        }
    }

    /// When a change is first felt, as people say it.
    package var takesEffect: String {
        switch self {
        case .selectedModelID: "when the host starts"
        case .allowCodeExecution: "with the next call, and the tools of the next message"
        case .allowNetwork, .toolTimeoutSeconds: "with the next command"
        case .maxTokens, .thinkByDefault, .assistantSteps, .assistantRounds, .assistantSeconds, .assistantTokens,
            .systemPrompt:
            "with the next message"
        case .rememberApprovals: "with the next call"
        case .stopUnattended: "at once"
        case .contextLength, .kvCacheDtype: "when a model is loaded next"
        case .downloadOptionalFiles: "with the next download"
        case .speculativeDecoding: "with the next reply"
        case .uploadQuotaMB: "with the next upload"
        case .calendarEnabled, .calendarPath, .calendarCredentials: "with the next read"
        }
    }

    /// The value as it is kept; nil when it breaks the rule.
    func kept(_ value: JSONValue) -> JSONValue? {
        switch self {
        case .selectedModelID:
            if value.isNull { return value }
            guard let name = value.string, (1...4_096).contains(name.utf8.count), !name.utf8.contains(0) else {
                return nil
            }
            return value
        case .calendarPath, .calendarCredentials:
            if value.isNull { return value }
            guard let path = value.string, path.utf8.count <= 4_096, !path.utf8.contains(0) else { return nil }
            if path.hasPrefix("/") { return value }
            guard self == .calendarPath, let address = try? WebAddress(path), address.credentials == nil else {
                return nil
            }
            return value
        case .allowCodeExecution, .allowNetwork, .thinkByDefault, .downloadOptionalFiles, .speculativeDecoding,
            .calendarEnabled, .rememberApprovals, .stopUnattended:
            return value.bool.map { .bool($0) }
        case .assistantSteps, .assistantRounds, .assistantSeconds, .assistantTokens:
            guard let number = value.int, range.contains(number) else { return nil }
            return JSONValue(number)
        case .systemPrompt:
            if value.isNull { return value }
            guard let text = value.string, text.count <= SettingKey.promptLimit, !text.utf8.contains(0) else {
                return nil
            }
            return text.allSatisfy(\.isWhitespace) ? .some(.null) : value
        case .maxTokens:
            guard let tokens = value.int, (1...262_144).contains(tokens) else { return nil }
            return JSONValue(tokens)
        case .toolTimeoutSeconds:
            guard let seconds = value.double, seconds.isFinite else { return nil }
            return JSONValue(Int(min(max(seconds, 5), 600).rounded()))
        case .kvCacheDtype:
            guard let name = value.string, MemoryEstimate.cacheBits[name] != nil else { return nil }
            return value
        case .contextLength:
            guard let tokens = value.int, tokens == 0 || (256...1_048_576).contains(tokens) else { return nil }
            return JSONValue(tokens)
        case .uploadQuotaMB:
            guard let megabytes = value.int, (0...1_048_576).contains(megabytes) else { return nil }
            return JSONValue(megabytes)
        }
    }
}

package import AlcoveAgent
package import AlcoveCore

/// The settings of the host, whole: every key has a value, and what is not known is kept as it came.
package struct HostSettings: Sendable, Hashable {
    package private(set) var json: JSONObject
    /// Most bytes of all keys together, of those nobody knows too.
    private static let byteLimit = 256 << 10

    /// Nobody has set anything.
    package init() {
        json = JSONObject()
        for key in SettingKey.allCases { json[key.rawValue] = key.usual }
    }

    /// What was kept; a value that breaks its rule, as of a damaged or an older store, is the usual one.
    package init(stored: JSONObject) {
        self.init()
        for (name, value) in stored.members {
            guard let key = SettingKey(rawValue: name) else {
                json[name] = value
                continue
            }
            if let value = key.kept(value) { json[name] = value }
        }
    }

    /// These settings with some changed.
    ///
    /// - Throws: `InputError` that names the first key whose value breaks its rule; then nothing is changed.
    package func changing(_ changes: JSONObject) throws(InputError) -> HostSettings {
        var changed = self
        for (name, value) in changes.members {
            guard let key = SettingKey(rawValue: name) else {
                // A bare `nil` here would be JSON's null, and the key would stay.
                changed.json[name] = value.isNull ? JSONValue?.none : value
                continue
            }
            guard let kept = key.kept(value) else {
                throw InputError(code: "bad_setting", message: "\"\(name)\" \(key.rule).")
            }
            changed.json[name] = kept
        }
        // Keys of others are kept, but every change writes and answers all of them.
        guard JSONValue.object(changed.json).bytes().count <= HostSettings.byteLimit else {
            throw InputError(
                code: "settings_too_large",
                message: "The settings together would be longer than \(HostSettings.byteLimit >> 10) KB.",
                hint: "Set keys that nobody needs to null.")
        }
        return changed
    }

    /// Settings sent whole: a key that is left out goes back to the usual value. What we do not know stays.
    package func replacing(with whole: JSONObject) throws(InputError) -> HostSettings {
        var fresh = HostSettings()
        for (name, value) in json.members where SettingKey(rawValue: name) == nil { fresh.json[name] = value }
        return try fresh.changing(whole)
    }

    private subscript(_ key: SettingKey) -> JSONValue { json[key.rawValue] ?? key.usual }

    package var selectedModelID: String? { self[.selectedModelID].string }
    /// Most tokens of an answer whose sender does not say.
    package var maxTokens: Int { self[.maxTokens].int ?? 2_048 }
    /// Whether a chat whose person has not chosen reasons first.
    package var thinkByDefault: Bool { self[.thinkByDefault].bool ?? false }
    /// Most tokens of a chat; nil is the model's own.
    package var contextLength: Int? { self[.contextLength].int.flatMap { $0 == 0 ? nil : $0 } }
    /// How keys and values are kept at most; a model's own entry may say fewer bits.
    package var cacheType: String { self[.kvCacheDtype].string ?? "f16" }
    /// Whether answers may guess tokens ahead.
    package var speculates: Bool { self[.speculativeDecoding].bool ?? true }
    package var downloadOptionalFiles: Bool { self[.downloadOptionalFiles].bool ?? true }
    /// Most megabytes of all uploads together; 0 is no limit but the disk's.
    package var uploadQuotaMB: Int { self[.uploadQuotaMB].int ?? 0 }

    /// What every conversation begins with that has no such words of its own; nil for nothing.
    package var systemPrompt: String? { self[.systemPrompt].string }

    /// How far a run of the assistant may go.
    package var runLimits: RunLimits {
        var limits = RunLimits()
        limits.rounds = self[.assistantRounds].int ?? limits.rounds
        limits.steps = self[.assistantSteps].int ?? limits.steps
        limits.seconds = self[.assistantSeconds].int ?? limits.seconds
        limits.replyTokens = self[.assistantTokens].int ?? limits.replyTokens
        return limits
    }

    /// What the agent asks at each call.
    package var switches: Switches {
        var switches = Switches()
        switches.runCode = self[.allowCodeExecution].bool ?? true
        switches.network = self[.allowNetwork].bool ?? false
        switches.stopsUnattended = self[.stopUnattended].bool ?? false
        switches.remembersApprovals = self[.rememberApprovals].bool ?? true
        switches.commandSeconds = self[.toolTimeoutSeconds].double ?? 120
        return switches
    }
}

import AlcoveAgent
import AlcoveCore
import Testing

@testable import AlcoveServer

struct HostSettingsTests {
    @Test func everyKeyHasAUsualValueThatKeepsItsRule() {
        let settings = HostSettings()
        for key in SettingKey.allCases {
            #expect(key.kept(key.usual) == key.usual, "\(key)")
            #expect(settings.json[key.rawValue] == key.usual)
        }
    }

    @Test func aWholeDocumentResetsWhatItLeavesOutAndKeepsWhatNobodyKnows() throws {
        let settings = try HostSettings().changing(["allowNetwork": true, "maxTokens": 512, "uiLanguage": "de"])
        let replaced = try settings.replacing(with: ["maxTokens": 1024])

        #expect(replaced.json["allowNetwork"] == false)
        #expect(replaced.maxTokens == 1024)
        #expect(replaced.json["uiLanguage"] == "de")
    }

    @Test func limitsOfRunsAndThePromptAreReadAsTheyWereSet() throws {
        #expect(HostSettings().runLimits == RunLimits() && HostSettings().systemPrompt == nil)
        let settings = try HostSettings().changing([
            "assistantSteps": 5, "assistantRounds": 4, "assistantSeconds": 60, "assistantTokens": 100,
            "systemPrompt": "Be brief.",
        ])
        let limits = settings.runLimits
        #expect([limits.steps, limits.rounds, limits.seconds, limits.replyTokens] == [5, 4, 60, 100])
        #expect(settings.systemPrompt == "Be brief.")
        #expect(try settings.changing(["systemPrompt": " \n"]).systemPrompt == nil)
    }

    @Test func aPartChangesNothingElse() throws {
        let settings = try HostSettings().changing(["allowNetwork": true]).changing(["maxTokens": 256])

        #expect(settings.switches.network)
        #expect(settings.maxTokens == 256)
    }

    @Test(arguments: [
        ("allowNetwork", JSONValue.string("yes")), ("maxTokens", 0), ("maxTokens", 262_145), ("maxTokens", 1.5),
        ("maxTokens", .null), ("toolTimeoutSeconds", "long"), ("contextLength", 100), ("contextLength", -1),
        ("uploadQuotaMB", -1), ("uploadQuotaMB", 1_048_577), ("uploadQuotaMB", "1"),
        ("kvCacheDtype", "q5_1"), ("kvCacheDtype", 8), ("speculativeDecoding", 1),
        ("calendarPath", "a.ics"), ("calendarPath", "http://ann:x@127.0.0.1/"), ("calendarPath", "ftp://a/"),
        ("calendarCredentials", "account"), ("calendarCredentials", "http://a/"), ("calendarEnabled", "yes"),
        ("assistantSteps", 0), ("assistantSteps", 21), ("assistantRounds", 2.5), ("assistantSeconds", 9),
        ("assistantSeconds", 3_601), ("assistantTokens", 8_193), ("assistantTokens", .null),
        ("systemPrompt", 5), ("systemPrompt", .string(String(repeating: "a", count: 8_001))),
        ("systemPrompt", "a\u{0}"), ("rememberApprovals", 1), ("stopUnattended", "no"),
        ("selectedModelId", ""), ("selectedModelId", "a\u{0}b"), ("selectedModelId", 7),
    ])
    func aBadValueIsRefusedByName(key: String, value: JSONValue) {
        let error = #expect(throws: InputError.self) {
            try HostSettings().changing([key: value, "thinkByDefault": true])
        }
        #expect(error?.code == "bad_setting")
        #expect(error?.message.contains("\"\(key)\"") == true)
    }

    @Test func keysOfOthersCannotGrowWithoutEnd() throws {
        let large = try HostSettings().changing(["theirs": .string(String(repeating: "x", count: 200_000))])
        let error = #expect(throws: InputError.self) {
            try large.changing(["more": .string(String(repeating: "x", count: 100_000))])
        }
        #expect(error?.code == "settings_too_large")
        #expect(try !large.changing(["theirs": .null]).json.members.contains { $0.key == "theirs" })
    }

    @Test func aTimeoutIsHeldWithinItsLimits() throws {
        #expect(try HostSettings().changing(["toolTimeoutSeconds": 1]).switches.commandSeconds == 5)
        #expect(try HostSettings().changing(["toolTimeoutSeconds": 1e9]).switches.commandSeconds == 600)
    }

    /// A store that somebody damaged, or an older program wrote.
    @Test func aStoredValueThatBreaksItsRuleIsTheUsualOne() {
        let settings = HostSettings(stored: ["allowNetwork": "yes", "maxTokens": -4, "thinkByDefault": true, "x": [1]])

        #expect(!settings.switches.network)
        #expect(settings.maxTokens == 2048)
        #expect(settings.thinkByDefault)
        #expect(settings.json["x"] == [1])
    }
}

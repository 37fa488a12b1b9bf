import AlcoveCore
import Testing

@testable import AlcoveSandbox

struct ExecutionPolicyTests {
    var policy = ExecutionPolicy(workspace: "/w")

    @Test func switchesCountAtOnce() throws {
        var policy = policy
        try policy.check(.runCode)
        policy.runsCode = false
        #expect(throws: PolicyRefusal.codeOff) { try policy.check(.runCode) }
        #expect(throws: PolicyRefusal.subAgentsOff) { try policy.check(.startSubAgent) }
        policy.startsSubAgents = true
        try policy.check(.startSubAgent)
        policy.installsPackages = true
        #expect(throws: PolicyRefusal.networkOff(host: nil)) { try policy.check(.installPackages) }
    }

    @Test func refusalsNameTheSwitch() {
        #expect(PolicyRefusal.codeOff.message == "No code was run: the switch \"Run code\" is off.")
        #expect(
            PolicyRefusal.networkOff(host: "example.org").message
                == "There is no connection to example.org: network access is disabled by the user "
                + "(the switch \"Network\" is off).")
        #expect(
            PolicyRefusal.hostNotListed(host: "example.net", list: ["a.org", "b.org"]).message
                == "There is no connection to example.net: the switch \"Network\" allows only a.org, b.org.")
        #expect(PolicyRefusal.subAgentsOff.message == "No sub-agent was started: the switch \"Sub-agents\" is off.")
    }

    static let hosts: [(String, Bool)] = [
        ("example.org", true), ("EXAMPLE.org.", true), ("a.b.example.org", true), ("badexample.org", false),
        ("example.org.evil.net", false), ("org", false), ("", false), ("exаmple.org", false),
    ]

    @Test(arguments: hosts) func aListMeansAHostAndWhatIsBelowIt(_ host: String, _ isAllowed: Bool) {
        var policy = policy
        policy.network = .hosts(["example.org", ""])
        #expect(((try? policy.check(.connect(host: host))) != nil) == isAllowed)
        #expect(!policy.allowsNetworkToProcesses)
    }

    static let addresses: [([UInt8], Bool)] = [
        ([8, 8, 8, 8], true), ([127, 0, 0, 1], false), ([127, 255, 0, 1], false), ([10, 0, 0, 1], false),
        ([172, 16, 0, 1], false), ([172, 31, 255, 255], false), ([172, 32, 0, 1], true), ([192, 168, 1, 1], false),
        ([169, 254, 169, 254], false), ([0, 0, 0, 0], false), ([100, 64, 0, 1], false), ([100, 128, 0, 1], true),
        ([224, 0, 0, 1], false), ([255, 255, 255, 255], false), ([198, 19, 0, 1], false), ([198, 20, 0, 1], true),
        ([UInt8](repeating: 0, count: 15) + [1], false), ([UInt8](repeating: 0, count: 16), false),
        ([0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1], false),
        ([0xFD] + [UInt8](repeating: 0, count: 15), false),
        ([0x26, 0x06, 0x47] + [UInt8](repeating: 0, count: 13), true),
        ([0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 12), false),
        ([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1], false),
        ([UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 8, 8, 8, 8], true),
        ([0x20, 0x02, 10, 0, 0, 1] + [UInt8](repeating: 0, count: 10), false), ([], false), ([1, 2, 3], false),
    ]

    @Test(arguments: addresses) func whereItReallyGoesIsChecked(_ address: [UInt8], _ isPublic: Bool) {
        var policy = policy
        policy.network = .open
        #expect(((try? policy.check(host: "example.org", connectedTo: address)) != nil) == isPublic)
    }
}

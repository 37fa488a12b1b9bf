import AlcoveCore
import Testing

@testable import AlcoveDownloads

struct AddressGateTests {
    private static let loopback: [UInt8] = [127, 0, 0, 1]

    @Test func thisDeviceAndItsNetworkAreRefused() {
        let gate = AddressGate()
        let addresses: [[UInt8]] = [
            Self.loopback, [10, 1, 2, 3], [172, 16, 0, 1], [192, 168, 1, 1], [169, 254, 169, 254], [100, 64, 0, 1],
            [0, 0, 0, 0], [224, 0, 0, 1], [255, 255, 255, 255], Array(repeating: 0, count: 15) + [1],
            Array(repeating: 0, count: 16), [0xFE, 0x80] + Array(repeating: 0, count: 14),
            [0xFD, 0] + Array(repeating: 0, count: 14),
            Array(repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1],
            [0x20, 0x02, 10, 0, 0, 1] + Array(repeating: 0, count: 10), [], [1, 2, 3],
        ]

        for address in addresses { #expect(!gate.allows(host: "example.org", address: address)) }
        #expect(gate.allows(host: "example.org", address: [93, 184, 216, 34]))
        #expect(
            gate.allows(host: "example.org", address: [0x26, 0x06, 0x28, 0x00] + Array(repeating: 1, count: 12)))
    }

    @Test func whatAPersonAddedIsAllowedAndNothingBesides() {
        let gate = AddressGate(hosts: ["Nas.Local.", "10.0.0.5"])

        #expect(gate.allows(host: "nas.local", address: [192, 168, 1, 7]))
        #expect(gate.allows(host: "10.0.0.5", address: [10, 0, 0, 5]))
        #expect(!gate.allows(host: "10.0.0.6", address: [10, 0, 0, 6]))
        #expect(!gate.allows(host: "localhost", address: Self.loopback))
        #expect(!gate.allows(host: "x.nas.local", address: [192, 168, 1, 7]))
    }

    @Test func anySpellingOfThisDeviceStandsForAllButNotForNamesThatLeadHere() {
        let gate = AddressGate(hosts: ["127.0.0.1"])

        #expect(gate.allows(host: "localhost", address: Self.loopback))
        #expect(gate.allows(host: "::1", address: Array(repeating: 0, count: 15) + [1]))
        #expect(!gate.allows(host: "evil.example", address: Self.loopback))
        #expect(!gate.allows(host: "localhost", address: [10, 0, 0, 1]))
    }

    @Test func onlyALiteralAddressSaysPlainlyWhereItLies() throws {
        func gate(_ url: String) throws -> AddressGate { AddressGate().adding(typed: try WebAddress(url)) }

        #expect(try gate("http://10.0.0.5/x").allows(host: "10.0.0.5", address: [10, 0, 0, 5]))
        #expect(try gate("http://[::1]:80/x").allows(host: "localhost", address: Self.loopback))
        #expect(try !gate("http://nas.local/x").allows(host: "nas.local", address: [10, 0, 0, 5]))
        #expect(try gate("https://example.org/") == AddressGate())
    }

    @Test func surroundingsAreOneHostAndNothingOfTheOpenInternet() {
        let gate = AddressGate.surroundings(host: "Gpu.Local")

        #expect(gate.allows(host: "gpu.local", address: [192, 168, 1, 7]))
        #expect(gate.allows(host: "gpu.local", address: Self.loopback))
        #expect(!gate.allows(host: "gpu.local", address: [93, 184, 216, 34]))
        #expect(!gate.allows(host: "other.local", address: [192, 168, 1, 7]))
        #expect(!gate.allows(host: "gpu.local", address: []))
    }
}

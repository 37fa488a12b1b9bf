internal import AlcoveCore
internal import AlcoveSandbox

/// Decides which addresses may be connected to: those of the open internet, and of hosts a person has added.
///
/// An address in a catalogue, or a redirect, could otherwise make this device ask its own services and its neighbours.
package struct AddressGate: Sendable, Hashable {
    private let hosts: Set<String>
    private let allowsLoopback: Bool
    /// The one host that is meant, and nothing of the open internet.
    private var surroundings: String?

    /// - Parameter hosts: names or literal addresses, as in an address of the web. Any spelling of this device (`localhost`,
    ///   `127.0.0.1`, `::1`) stands for all of them.
    package init(hosts: some Sequence<String> = []) {
        self.hosts = Set(hosts.map(AddressGate.plain))
        allowsLoopback = self.hosts.contains(where: AddressGate.isLoopback)
    }

    /// Lets one host through as long as it is this device or in its own network: for what must not cross the open internet
    /// in plain sight.
    package static func surroundings(host: String) -> AddressGate {
        var gate = AddressGate()
        gate.surroundings = plain(host)
        return gate
    }

    /// The gate with one host more, when the address says plainly that it lies on this device or in its surroundings.
    ///
    /// Whoever types `http://127.0.0.1:8000/` means it. A name that only resolves to such an address does not say so.
    package func adding(typed address: WebAddress) -> AddressGate {
        guard
            AddressGate.isLoopback(address.host)
                || AddressGate.literal(address.host).map({ !NetworkAddress.isPublic($0) }) ?? false
        else { return self }
        return AddressGate(hosts: hosts.union([address.host]))
    }

    /// - Parameters:
    ///   - host: what the address of the web calls it.
    ///   - address: the bytes that will be connected to, in network order.
    package func allows(host: String, address: [UInt8]) -> Bool {
        if let surroundings {
            return surroundings == AddressGate.plain(host) && [4, 16].contains(address.count)
                && !NetworkAddress.isPublic(address)
        }
        if NetworkAddress.isPublic(address) || hosts.contains(AddressGate.plain(host)) { return true }
        return allowsLoopback && AddressGate.isLoopback(host) && AddressGate.isLoopbackAddress(address)
    }

    private static func plain(_ host: String) -> String {
        var host = host.lowercased()[...]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if host.hasSuffix(".") { host = host.dropLast() }
        return String(host)
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || literal(host).map(isLoopbackAddress) ?? false
    }

    private static func isLoopbackAddress(_ bytes: [UInt8]) -> Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }

    /// The bytes of a host that is an address; nil when it is a name.
    static func literal(_ host: String) -> [UInt8]? {
        var four = in_addr(), sixteen = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        if inet_pton(AF_INET6, host, &sixteen) == 1 { return withUnsafeBytes(of: &sixteen) { Array($0) } }
        return nil
    }

    static func text(_ bytes: [UInt8]) -> String {
        var buffer = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard [4, 16].contains(bytes.count), inet_ntop(family, bytes, &buffer, socklen_t(buffer.count)) != nil else {
            return "an unknown address"
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

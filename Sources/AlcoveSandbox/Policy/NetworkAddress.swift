/// Tells addresses of the open internet from those of this device and its surroundings.
package enum NetworkAddress {
    /// - Parameter bytes: 4 (IPv4) or 16 (IPv6), in network order. Anything else is not public.
    package static func isPublic(_ bytes: [UInt8]) -> Bool {
        switch bytes.count {
        case 4: return !special4.contains { $0.covers(bytes) }
        case 16:
            if let inner = embedded(bytes) { return isPublic(inner) }
            // 2000::/3 is all that was ever given out.
            return bytes[0] & 0xE0 == 0x20 && !special6.contains { $0.covers(bytes) }
        default: return false
        }
    }

    /// The IPv4 address within an IPv6 one that a translator would reach.
    private static func embedded(_ bytes: [UInt8]) -> [UInt8]? {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if bytes.starts(with: mapped) || bytes.starts(with: translated) { return Array(bytes[12...]) }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return Array(bytes[2..<6]) }
        return nil
    }

    private struct Block {
        let prefix: [UInt8]
        let bits: Int

        init(_ bits: Int, _ prefix: UInt8...) {
            self.prefix = prefix
            self.bits = bits
        }

        func covers(_ bytes: [UInt8]) -> Bool {
            for (index, byte) in prefix.enumerated() {
                let rest = min(8, bits - 8 * index)
                let mask = rest >= 8 ? 0xFF : ~(UInt8(0xFF) >> UInt8(rest))
                if bytes[index] & mask != byte & mask { return false }
            }
            return true
        }
    }

    // The special-purpose registries of IANA (RFC 6890 and successors).
    private static let special4 = [
        Block(8, 0), Block(8, 10), Block(10, 100, 64), Block(8, 127), Block(16, 169, 254), Block(12, 172, 16),
        Block(24, 192, 0, 0), Block(24, 192, 0, 2), Block(24, 192, 88, 99), Block(16, 192, 168), Block(15, 198, 18),
        Block(24, 198, 51, 100), Block(24, 203, 0, 113), Block(4, 224), Block(4, 240),
    ]
    private static let special6 = [
        Block(23, 0x20, 0x01, 0x00), Block(32, 0x20, 0x01, 0x0D, 0xB8), Block(20, 0x3F, 0xFF, 0x00),
    ]
}

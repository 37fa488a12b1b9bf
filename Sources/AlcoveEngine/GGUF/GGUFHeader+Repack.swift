extension GGUFTensorType {
    /// Types that only PrismML's llama.cpp reads and that can be written as Q2_0 without loss (`TernaryRepack`).
    static let repackable: [UInt32: GGUFTensorType] = [
        142: GGUFTensorType(foreign: 142, "PQ2_0", 128, 34), 143: GGUFTensorType(foreign: 143, "PTQ1_0", 128, 28),
    ]

    var isRepackable: Bool { GGUFTensorType.repackable[id] != nil }
}

extension GGUFHeader {
    /// Keys that say in which rotated basis weights are stored; the activations have to be rotated likewise.
    private static let rotation = "prism.hadamard."

    /// Refuses weights in a rotated basis: llama.cpp would compute with them without a word, and write noise.
    func refuseRotatedWeights() throws(GGUFError) {
        guard entries.contains(where: { $0.key.hasPrefix(GGUFHeader.rotation) }) else { return }
        throw GGUFError(
            .rotatedWeights,
            "\(fileName) keeps its weights in a rotated basis (\(GGUFHeader.rotation)*), which the linked llama.cpp does not "
                + "turn back: its answers would be noise.")
    }

    /// Where the value of a key stands in the file; nil when there is no such key.
    func valueOffset(of key: String) throws(GGUFError) -> UInt64? {
        var position: UInt64 = 24
        for entry in entries {
            position += 8 + UInt64(entry.key.utf8.count) + 4
            if entry.key == key { return position }
            position = try end(of: entry, from: position)
        }
        return nil
    }

    private func end(of entry: GGUFEntry, from position: UInt64) throws(GGUFError) -> UInt64 {
        switch entry.value {
        case .string(let text): return text.offset + text.byteCount
        case .array(let array):
            if let width = array.elementType.width { return array.offset + array.count * width }
            var end = array.offset
            let source = try GGUFSource(path: path)
            source.seek(to: end)
            for _ in 0..<array.count {
                guard let length = source.integer(UInt64.self), source.skip(length) else {
                    throw GGUFError(.truncated, "\(fileName) has changed while it was being read.")
                }
                end += 8 + length
            }
            return end
        default: return position + (entry.type.width ?? 0)
        }
    }
}

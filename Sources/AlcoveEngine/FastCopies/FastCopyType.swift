internal import llama

/// What a fast copy of a model is stored as: the types for which processors have their quickest kernels.
package enum FastCopyType: String, Sendable, CaseIterable {
    /// Eight bits: practically nothing is lost.
    case q8_0
    /// Four bits: smaller and quicker still, and never free of loss.
    case q4_0

    var fileType: llama_ftype { self == .q8_0 ? LLAMA_FTYPE_MOSTLY_Q8_0 : LLAMA_FTYPE_MOSTLY_Q4_0 }

    /// As it stands in names of files and in sentences.
    package var label: String { rawValue.uppercased() }

    /// Bytes of a tensor in the copy, at most: the output and the embeddings stay at eight bits, and what has odd rows at 16.
    fileprivate func bytes(of tensor: GGUFTensor) -> UInt64 {
        guard tensor.dimensionCount > 1 else { return tensor.byteCount }
        let elements = tensor.elementCount
        if tensor.dimensions[0] % 32 != 0 { return max(tensor.byteCount, 2 * elements) }
        let keepsEight = self == .q8_0 || tensor.name.hasPrefix("token_embd") || tensor.name.hasPrefix("output")
        return elements / 32 * (keepsEight ? 34 : 18)
    }

    /// Bytes a copy of this file will take at most, within the padding of its tensors.
    package func bytes(ofCopyOf header: GGUFHeader) -> UInt64 {
        header.tensors.reduce(header.dataOffset + (1 << 20)) { sum, tensor in
            let (next, overflow) = sum.addingReportingOverflow(bytes(of: tensor) + header.alignment)
            return overflow ? .max : next
        }
    }
}

/// Whether a copy of a file in another type would be quicker here, by the types of its tensors.
///
/// The library multiplies some types with kernels that take several rows at once (llamafile's, or weights repacked at
/// loading) and the others row by row. Whole and half floats have such kernels and are still slow: a token reads every
/// byte of the weights, and they have two to four times as many.
package struct FastCopyAdvice: Sendable, Hashable {
    /// The slow types with the most bytes first.
    package let slowTypes: [String]
    /// Their part of the weights that are multiplied, 0 to 1.
    package let slowShare: Double
    /// All types, for the sentence that says that nothing is to be gained.
    let types: [String]

    package init(_ header: GGUFHeader) {
        var bytes: [GGUFTensorType: UInt64] = [:]
        for tensor in header.tensors where tensor.dimensionCount > 1 {
            bytes[tensor.type, default: 0] += tensor.byteCount
        }
        let ordered = bytes.sorted { ($1.value, $0.key.id) < ($0.value, $1.key.id) }
        let all = ordered.reduce(0) { $0 + $1.value }
        let slow = ordered.filter { FastCopyAdvice.slow.contains($0.key.name) }
        types = ordered.map(\.key.name)
        slowTypes = slow.map(\.key.name)
        slowShare = all == 0 ? 0 : Double(slow.reduce(0) { $0 + $1.value }) / Double(all)
    }

    /// Whether it is worth offering: most of what is multiplied is of slow types.
    package var isWorthIt: Bool { slowShare > 0.5 }

    private static let slow: Set<String> = {
        var types: Set<String> = ["Q4_1", "Q5_1", "F16", "BF16", "F32"]
        #if !arch(x86_64)
        types.insert("Q5_0")  // llamafile's kernels have it for AVX only
        #endif
        return types
    }()
}

/// How the numbers of a tensor are stored: `enum ggml_type` of ggml.h, with the sizes of its blocks.
///
/// A row of a tensor is cut into blocks of `blockElements` numbers, each `blockBytes` long in the file.
package struct GGUFTensorType: Sendable, Hashable {
    /// The number in the file.
    package let id: UInt32
    package let name: String
    package let blockElements: UInt64
    package let blockBytes: UInt64

    /// The type with this number; nil when llama.cpp has none, or has it no longer.
    package init?(id: UInt32) {
        guard let known = GGUFTensorType.known[id] else { return nil }
        self = known
    }

    /// A type that ggml does not have (`repackable`).
    init(foreign id: UInt32, _ name: String, _ elements: UInt64, _ bytes: UInt64) {
        self.init(id, name, elements, bytes)
    }

    private init(_ id: UInt32, _ name: String, _ elements: UInt64, _ bytes: UInt64) {
        self.id = id
        self.name = name
        blockElements = elements
        blockBytes = bytes
    }

    /// What to say about a number that once meant, or elsewhere means, something: the name and why it cannot be read.
    static func foreign(id: UInt32) -> (name: String, why: String)? {
        switch id {
        case 4: ("Q4_2", "which llama.cpp dropped in 2023")
        case 5: ("Q4_3", "which llama.cpp dropped in 2023")
        case 31: ("Q4_0_4_4", "which llama.cpp dropped for plain Q4_0")
        case 32: ("Q4_0_4_8", "which llama.cpp dropped for plain Q4_0")
        case 33: ("Q4_0_8_8", "which llama.cpp dropped for plain Q4_0")
        case 36: ("IQ4_NL_4_4", "which llama.cpp dropped for plain IQ4_NL")
        case 37: ("IQ4_NL_4_8", "which llama.cpp dropped for plain IQ4_NL")
        case 38: ("IQ4_NL_8_8", "which llama.cpp dropped for plain IQ4_NL")
        case 142: ("PQ2_0", "which only PrismML's own llama.cpp reads")
        case 143: ("PTQ1_0", "which only PrismML's own llama.cpp reads")
        default: nil
        }
    }

    /// Every type of llama.cpp 0c1e57098; a test compares names and sizes with the library that is linked.
    private static let known: [UInt32: GGUFTensorType] = {
        let all = [
            GGUFTensorType(0, "F32", 1, 4), GGUFTensorType(1, "F16", 1, 2),
            GGUFTensorType(2, "Q4_0", 32, 18), GGUFTensorType(3, "Q4_1", 32, 20),
            GGUFTensorType(6, "Q5_0", 32, 22), GGUFTensorType(7, "Q5_1", 32, 24),
            GGUFTensorType(8, "Q8_0", 32, 34), GGUFTensorType(9, "Q8_1", 32, 36),
            GGUFTensorType(10, "Q2_K", 256, 84), GGUFTensorType(11, "Q3_K", 256, 110),
            GGUFTensorType(12, "Q4_K", 256, 144), GGUFTensorType(13, "Q5_K", 256, 176),
            GGUFTensorType(14, "Q6_K", 256, 210), GGUFTensorType(15, "Q8_K", 256, 292),
            GGUFTensorType(16, "IQ2_XXS", 256, 66), GGUFTensorType(17, "IQ2_XS", 256, 74),
            GGUFTensorType(18, "IQ3_XXS", 256, 98), GGUFTensorType(19, "IQ1_S", 256, 50),
            GGUFTensorType(20, "IQ4_NL", 32, 18), GGUFTensorType(21, "IQ3_S", 256, 110),
            GGUFTensorType(22, "IQ2_S", 256, 82), GGUFTensorType(23, "IQ4_XS", 256, 136),
            GGUFTensorType(24, "I8", 1, 1), GGUFTensorType(25, "I16", 1, 2),
            GGUFTensorType(26, "I32", 1, 4), GGUFTensorType(27, "I64", 1, 8),
            GGUFTensorType(28, "F64", 1, 8), GGUFTensorType(29, "IQ1_M", 256, 56),
            GGUFTensorType(30, "BF16", 1, 2), GGUFTensorType(34, "TQ1_0", 256, 54),
            GGUFTensorType(35, "TQ2_0", 256, 66), GGUFTensorType(39, "MXFP4", 32, 17),
            GGUFTensorType(40, "NVFP4", 64, 36), GGUFTensorType(41, "Q1_0", 128, 18),
            GGUFTensorType(42, "Q2_0", 64, 18),
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
    }()
}

/// The mixture of tensor types a file was made as: `general.file_type`, `enum llama_ftype` of llama.h.
enum GGUFFileType {
    static func name(_ id: UInt64) -> String? { names[id] }

    private static let names: [UInt64: String] = [
        0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
        12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS",
        20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
        28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
        39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
    ]
}

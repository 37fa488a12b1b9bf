/// What a GGUF file says before its weights begin: key-value pairs and a list of tensors, checked.
///
/// Reading one takes at most 50 MB and a few seconds, whatever the file says: long arrays (a vocabulary has 262,144
/// strings) stay in the file as a place and a count, and `forEachString` walks them when someone needs them.
package struct GGUFHeader: Sendable {
    package let path: String
    package let fileBytes: UInt64
    /// 2 or 3; they are laid out alike.
    package let version: UInt32
    package let entries: [GGUFEntry]
    package let tensors: [GGUFTensor]
    package let alignment: UInt64
    /// Where the weights begin, from the start of the file.
    package let dataOffset: UInt64
    /// Where the list of tensors begins, from the start of the file.
    package let tensorsOffset: UInt64
    private let index: [String: Int]

    /// Reads and checks the header of the file.
    ///
    /// - Throws: `GGUFError` for anything llama.cpp would refuse or stumble over, and for files of other kinds.
    ///
    /// - Parameter readsRepackable: whether weights that only a repacked copy can be loaded of are read as well.
    package init(path: String, readsRepackable: Bool = false) throws(GGUFError) {
        var reader = try GGUFHeaderReader(path: path)
        reader.readsRepackable = readsRepackable
        self = try reader.read()
    }

    init(
        path: String, fileBytes: UInt64, version: UInt32, entries: [GGUFEntry], index: [String: Int],
        tensors: [GGUFTensor], alignment: UInt64, dataOffset: UInt64, tensorsOffset: UInt64
    ) {
        self.path = path
        self.fileBytes = fileBytes
        self.version = version
        self.entries = entries
        self.index = index
        self.tensors = tensors
        self.alignment = alignment
        self.dataOffset = dataOffset
        self.tensorsOffset = tensorsOffset
    }

    package subscript(key: String) -> GGUFEntry? { index[key].map { entries[$0] } }

    /// The file's name for sentences.
    package var fileName: String { GGUFName.ofFile(path) }

    /// Walks a string array of this file without holding it; bytes as they stand in the file, not checked for UTF-8.
    ///
    /// - Parameter body: gets the position and the bytes of one string, cut at 1 MiB; false ends the walk.
    /// - Throws: `.truncated` when the file has become shorter since its header was read.
    package func forEachString(in array: GGUFArray, _ body: (Int, [UInt8]) -> Bool) throws(GGUFError) {
        guard array.elementType == .string else { return }
        let source = try GGUFSource(path: path)
        let shrunk = GGUFError(.truncated, "\(source.name) has changed while it was being read.")
        source.seek(to: array.offset)
        for position in 0..<array.count {
            guard let length = source.integer(UInt64.self), length <= source.remaining else { throw shrunk }
            let kept = min(length, GGUFHeaderReader.longestText)
            guard let bytes = source.bytes(Int(kept)), source.skip(length - kept) else { throw shrunk }
            guard body(Int(position), bytes) else { return }
        }
    }
}

/// One key of a header and what it says.
package struct GGUFEntry: Sendable, Hashable {
    package let key: String
    package let type: GGUFValueType
    package let value: GGUFValue
}

/// The types a value can have: `enum gguf_type` of gguf.h.
package enum GGUFValueType: UInt32, Sendable, Hashable, CaseIterable {
    case uint8 = 0
    case int8, uint16, int16, uint32, int32, float32, bool, string, array, uint64, int64, float64

    /// Bytes of one value; nil where it depends on the value.
    package var width: UInt64? {
        switch self {
        case .uint8, .int8, .bool: 1
        case .uint16, .int16: 2
        case .uint32, .int32, .float32: 4
        case .uint64, .int64, .float64: 8
        case .string, .array: nil
        }
    }
}

package enum GGUFValue: Sendable, Hashable {
    case unsigned(UInt64)
    case signed(Int64)
    case float(Float)
    case double(Double)
    case bool(Bool)
    case string(GGUFText)
    case array(GGUFArray)
}

/// A string value: where it stands and, unless it is very long, what it says.
package struct GGUFText: Sendable, Hashable {
    package let offset: UInt64
    package let byteCount: UInt64
    /// Bytes that are not UTF-8 replaced; nil for a text over 1 MiB, or after 8 MiB of other texts.
    package let text: String?
}

/// An array value: where it stands and, when it is short, what is in it.
package struct GGUFArray: Sendable, Hashable {
    package let elementType: GGUFValueType
    package let count: UInt64
    /// Of the first element, from the start of the file.
    package let offset: UInt64
    /// The elements of numbers up to 1,024 (an array with one for each layer) and of strings up to 64; else nil.
    package let elements: [GGUFValue]?
}

/// One tensor: its shape as ggml orders it (fastest first) and where its bytes stand.
package struct GGUFTensor: Sendable, Hashable {
    package let name: String
    package let type: GGUFTensorType
    package let dimensionCount: UInt8
    /// Unused ones are 1.
    package let dimensions: SIMD4<UInt64>
    /// From the start of the data section.
    package let offset: UInt64
    package let byteCount: UInt64

    package var shape: [UInt64] { (0..<Int(dimensionCount)).map { dimensions[$0] } }
    /// Fits, because the reader has refused a product over 2^63 - 1.
    package var elementCount: UInt64 { dimensions[0] &* dimensions[1] &* dimensions[2] &* dimensions[3] }
}

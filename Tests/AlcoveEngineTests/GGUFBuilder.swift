internal import AlcoveCore
internal import AlcoveEngine

/// Writes small GGUF files, sound ones and, on purpose, others.
struct GGUFBuilder {
    struct Value {
        var type: GGUFValueType
        var bytes: [UInt8]
        /// Where numbers stand in `bytes`, for the fuzzer.
        var numbers: [Int] = [0]

        static func uint8(_ value: UInt8) -> Value { Value(type: .uint8, bytes: [value]) }
        static func uint16(_ value: UInt16) -> Value { Value(type: .uint16, bytes: littleEndian(value)) }
        static func uint32(_ value: UInt32) -> Value { Value(type: .uint32, bytes: littleEndian(value)) }
        static func uint64(_ value: UInt64) -> Value { Value(type: .uint64, bytes: littleEndian(value)) }
        static func int32(_ value: Int32) -> Value { Value(type: .int32, bytes: littleEndian(value)) }
        static func int64(_ value: Int64) -> Value { Value(type: .int64, bytes: littleEndian(value)) }
        static func float(_ value: Float) -> Value { Value(type: .float32, bytes: littleEndian(value.bitPattern)) }
        static func double(_ value: Double) -> Value { Value(type: .float64, bytes: littleEndian(value.bitPattern)) }
        static func bool(_ value: UInt8) -> Value { Value(type: .bool, bytes: [value]) }
        static func string(_ text: String) -> Value { Value(type: .string, bytes: lengthAndBytes(Array(text.utf8))) }
        static func array(_ type: UInt32, count: UInt64, bytes: [UInt8]) -> Value {
            Value(type: .array, bytes: littleEndian(type) + littleEndian(count) + bytes, numbers: [0, 4, 12])
        }
        static func strings(_ texts: [String]) -> Value {
            array(8, count: UInt64(texts.count), bytes: texts.flatMap { lengthAndBytes(Array($0.utf8)) })
        }
        static func int32s(_ values: [Int32]) -> Value {
            array(5, count: UInt64(values.count), bytes: values.flatMap { littleEndian($0) })
        }
        static func floats(_ values: [Float]) -> Value {
            array(6, count: UInt64(values.count), bytes: values.flatMap { littleEndian($0.bitPattern) })
        }
    }

    struct Tensor {
        var name: [UInt8]
        var shape: [UInt64]
        var dimensionCount: UInt32?
        var type: UInt32 = 0
        /// Nil takes the place after the tensor before.
        var offset: UInt64?
        var byteCount: Int
        /// Nil counts up.
        var data: [UInt8]?

        init(
            _ name: String, _ shape: [UInt64], type: UInt32 = 0, offset: UInt64? = nil, dimensionCount: UInt32? = nil
        ) {
            self.name = Array(name.utf8)
            self.shape = shape
            self.type = type
            self.offset = offset
            self.dimensionCount = dimensionCount
            let known = GGUFTensorType(id: type)
            let elements = shape.reduce(1) { $0 &* $1 }
            let bytes = known.map { elements / $0.blockElements &* $0.blockBytes } ?? 0
            byteCount = bytes < 1 << 20 ? Int(bytes) : 0
        }
    }

    var magic = Array("GGUF".utf8)
    var version: UInt32 = 3
    var keyCount: UInt64?
    var tensorCount: UInt64?
    var keys: [(name: [UInt8], value: Value)] = []
    var tensors: [Tensor] = []
    var alignment = 32
    var tail: [UInt8] = []

    mutating func add(_ key: String, _ value: Value) { keys.append((Array(key.utf8), value)) }

    mutating func set(_ key: String, _ value: Value) {
        keys.removeAll { $0.name == Array(key.utf8) }
        add(key, value)
    }

    mutating func remove(_ key: String) { keys.removeAll { $0.name == Array(key.utf8) } }

    func bytes() -> [UInt8] { layout().bytes }

    /// The file, and where in it numbers stand that a reader believes.
    func layout() -> (bytes: [UInt8], fields: [Int]) {
        var out = magic + littleEndian(version)
        var fields = [4, 8, 16]
        out += littleEndian(tensorCount ?? UInt64(tensors.count)) + littleEndian(keyCount ?? UInt64(keys.count))
        for key in keys {
            fields.append(out.count)
            out += lengthAndBytes(key.name)
            fields.append(out.count)
            out += littleEndian(key.value.type.rawValue)
            fields += key.value.numbers.map { $0 + out.count }
            out += key.value.bytes
        }
        var next = 0
        for tensor in tensors {
            fields.append(out.count)
            out += lengthAndBytes(tensor.name)
            fields.append(out.count)
            out += littleEndian(tensor.dimensionCount ?? UInt32(tensor.shape.count))
            for size in tensor.shape {
                fields.append(out.count)
                out += littleEndian(size)
            }
            fields += [out.count, out.count + 4]
            out += littleEndian(tensor.type) + littleEndian(tensor.offset ?? UInt64(next))
            next += padded(tensor.byteCount)
        }
        if !tensors.isEmpty {
            out += [UInt8](repeating: 0, count: padded(out.count) - out.count)
            for tensor in tensors {
                out += tensor.data ?? (0..<tensor.byteCount).map { UInt8(truncatingIfNeeded: $0) }
                out += [UInt8](repeating: 0, count: padded(tensor.byteCount) - tensor.byteCount)
            }
        }
        return (out + tail, fields)
    }

    private func padded(_ count: Int) -> Int { (count + alignment - 1) / alignment * alignment }

    /// A model with all that the summary asks for.
    static func tiny() -> GGUFBuilder {
        var builder = GGUFBuilder()
        builder.add("general.architecture", .string("llama"))
        builder.add("general.name", .string("Tiny"))
        builder.add("general.file_type", .uint32(7))
        builder.add("llama.block_count", .uint32(2))
        builder.add("llama.context_length", .uint32(4096))
        builder.add("llama.embedding_length", .uint32(64))
        builder.add("llama.attention.head_count", .uint32(4))
        builder.add("llama.attention.head_count_kv", .uint32(2))
        builder.add("llama.attention.layer_norm_rms_epsilon", .float(1e-5))
        builder.add("tokenizer.ggml.model", .string("gpt2"))
        builder.add("tokenizer.ggml.pre", .string("smollm"))
        builder.add("tokenizer.ggml.tokens", .strings(["<s>", "</s>", "a", "b", "é"]))
        builder.add("tokenizer.ggml.token_type", .int32s([3, 3, 1, 1, 1]))
        builder.add("tokenizer.ggml.bos_token_id", .uint32(0))
        builder.add("tokenizer.ggml.eos_token_id", .uint32(1))
        builder.add("tokenizer.ggml.add_bos_token", .bool(0))
        builder.add("tokenizer.chat_template", .string("{{ messages }}"))
        builder.tensors = [
            Tensor("token_embd.weight", [64, 5], type: 8), Tensor("output_norm.weight", [64]),
            Tensor("blk.0.attn_q.weight", [64, 64], type: 8),
        ]
        return builder
    }
}

func littleEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

func lengthAndBytes(_ bytes: [UInt8]) -> [UInt8] { littleEndian(UInt64(bytes.count)) + bytes }

/// A folder of one test's own, gone when the test is.
final class GGUFFolder {
    let path: String

    init() {
        path = "/tmp/alcove-gguf-\(hexText(Platform.randomBytes(8)))"
        mkdir(path, 0o700)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    private var names: Set<String> = []

    func file(_ bytes: [UInt8]) -> String { file("tiny.gguf", bytes) }

    /// Writes a file and tells its path.
    func file(_ name: String, _ bytes: [UInt8]) -> String {
        names.insert(name)
        let path = self.path + "/" + name
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "the temporary folder can be written")
        var done = 0
        while done < bytes.count {
            let wrote = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, bytes.count - done) }
            precondition(wrote > 0, "the temporary folder has room")
            done += wrote
        }
        close(descriptor)
        return path
    }
}

/// A small generator with a seed, so that a failure can be had again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

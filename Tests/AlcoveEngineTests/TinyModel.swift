import AlcoveCore
import Testing

/// Models of the catalogue's architectures with random weights: a megabyte each, for what depends on the architecture alone.
///
/// They write printable characters without spaces and never end, so that what was answered is the same tokens when it comes
/// back as history.
enum TinyModel: String, CaseIterable, CustomTestStringConvertible {
    /// Attention to everything.
    case llama
    /// Sliding windows in four layers of five, inputs for each layer.
    case gemma4
    /// Sliding windows in two layers of three.
    case gemma3
    /// Recurrent layers, attention in every fourth.
    case qwen35

    var testDescription: String { rawValue }

    static let window = 32

    private static let template = """
        {% for m in messages %}<|im_start|>{{ m.role }}
        {{ m.content }}<|im_end|>
        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
        {% endif %}
        """

    /// A file in a folder of its own, which should be kept as long as the model is loaded.
    func file() -> (folder: GGUFFolder, path: String) {
        let folder = GGUFFolder()
        return (folder, folder.file(rawValue + ".gguf", TinyModel.made[self] ?? []))
    }

    /// A file with more control tokens, for what a projector writes around pictures.
    func file(marks: [String], in folder: GGUFFolder) -> String {
        folder.file(rawValue + "-marks.gguf", make(marks: marks))
    }

    private static let made = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.make()) })

    private func make(marks: [String] = []) -> [UInt8] {
        var writer = Writer(architecture: rawValue, dice: SeededGenerator(seed: 7))
        writer.marks = marks
        switch self {
        case .llama: writer.llama()
        case .gemma4: writer.gemma4()
        case .gemma3: writer.gemma3()
        case .qwen35: writer.qwen35()
        }
        return writer.builder.bytes()
    }

    /// Writes keys and tensors under the names that llama.cpp reads (`llama-arch.cpp`).
    private struct Writer {
        let architecture: String
        var dice: SeededGenerator
        var builder = GGUFBuilder()
        var marks: [String] = []
        private let width = 64, hidden = 128

        init(architecture: String, dice: SeededGenerator) {
            self.architecture = architecture
            self.dice = dice
        }

        // MARK: Keys

        private mutating func number(_ key: String, _ value: Int) {
            builder.add("\(architecture).\(key)", .uint32(UInt32(value)))
        }

        private mutating func real(_ key: String, _ value: Float) {
            builder.add("\(architecture).\(key)", .float(value))
        }

        private mutating func common(layers: Int, heads: Int, keyHeads: Int) {
            builder.add("general.architecture", .string(architecture))
            builder.add("general.name", .string("Tiny \(architecture)"))
            number("block_count", layers)
            number("context_length", 4096)
            number("embedding_length", width)
            number("feed_forward_length", hidden)
            number("attention.head_count", heads)
            number("attention.head_count_kv", keyHeads)
            real("attention.layer_norm_rms_epsilon", 1e-6)
        }

        private mutating func vocabulary(_ model: String, pre: String?, bytes: [String], others: [String]) {
            let specials = ["<|endoftext|>", "<|im_end|>", "<|im_start|>"] + marks
            let isBytes = model == "gpt2"
            let pair = isBytes ? ("Ġ", "t") : ("\u{2581}", "t")
            let tokens = bytes + others + [pair.0 + pair.1] + specials
            let normal = isBytes ? Int32(1) : 6
            let types =
                bytes.map { _ in normal } + others.map { _ in Int32(1) } + [1] + specials.map { _ in Int32(3) }
            builder.add("tokenizer.ggml.model", .string(model))
            if let pre { builder.add("tokenizer.ggml.pre", .string(pre)) }
            builder.add("tokenizer.ggml.tokens", .strings(tokens))
            builder.add("tokenizer.ggml.token_type", .int32s(types))
            if !isBytes { builder.add("tokenizer.ggml.scores", .floats(tokens.map { _ in 0 })) }
            builder.add("tokenizer.ggml.merges", .strings(["\(pair.0) \(pair.1)"]))
            let first = tokens.count - specials.count
            builder.add("tokenizer.ggml.bos_token_id", .uint32(UInt32(first)))
            builder.add("tokenizer.ggml.eos_token_id", .uint32(UInt32(first + 1)))
            builder.add("tokenizer.ggml.padding_token_id", .uint32(UInt32(first)))
            builder.add("tokenizer.ggml.add_bos_token", .bool(0))
            builder.add("tokenizer.chat_template", .string(TinyModel.template))
            tensor("token_embd.weight", [width, tokens.count])
            tensor("output_norm.weight", [width], value: 1)
            let printable = tokens.map { $0.utf8.count == 1 && (33...126).contains($0.utf8.first ?? 0) }
            output(printable)
        }

        /// Tokens of bytes, as GPT-2 spells them: each as a printable character.
        private mutating func byteVocabulary(pre: String) {
            var next: UInt32 = 256
            let spelled = (0..<256).map { byte -> String in
                let isPrintable = (33...126).contains(byte) || (161...172).contains(byte) || (174...255).contains(byte)
                defer { next += isPrintable ? 0 : 1 }
                return String(Unicode.Scalar(isPrintable ? UInt32(byte) : next) ?? "?")
            }
            vocabulary("gpt2", pre: pre, bytes: spelled, others: [])
        }

        /// Characters, and bytes for what is none of them.
        private mutating func characterVocabulary() {
            let bytes = (0..<256).map { "<0x" + hexText([UInt8($0)]).uppercased() + ">" }
            vocabulary(
                "gemma4", pre: nil, bytes: bytes,
                others: (33...126).map { String(Unicode.Scalar(UInt8($0))) } + ["\u{2581}"])
        }

        // MARK: Tensors

        private mutating func tensor(_ name: String, _ shape: [Int], scale: Float = 0.08, value: Float? = nil) {
            let count = shape.reduce(1, *)
            // A sum of dice is normal enough.
            let numbers = (0..<count).map { _ -> Float in
                if let value { return value }
                return (0..<4).reduce(Float(0)) { sum, _ in sum + Float.random(in: -1...1, using: &dice) } * scale
            }
            add(name, shape, numbers)
        }

        private mutating func output(_ printable: [Bool]) {
            let numbers = printable.flatMap { isPrintable in
                (0..<width).map { _ in isPrintable ? Float.random(in: -0.2...0.2, using: &dice) : 0 }
            }
            add("output.weight", [width, printable.count], numbers)
        }

        private mutating func add(_ name: String, _ shape: [Int], _ numbers: [Float]) {
            var tensor = GGUFBuilder.Tensor(name, shape.map { UInt64($0) })
            tensor.data = numbers.flatMap { littleEndian($0.bitPattern) }
            builder.tensors.append(tensor)
        }

        private mutating func ones(_ layer: Int, _ names: [String], _ count: Int? = nil) {
            for name in names { tensor("blk.\(layer).\(name).weight", [count ?? width], value: 1) }
        }

        private mutating func attention(_ layer: Int, query: Int, key: Int, from: Int? = nil) {
            tensor("blk.\(layer).attn_q.weight", [width, query])
            tensor("blk.\(layer).attn_k.weight", [width, key])
            tensor("blk.\(layer).attn_v.weight", [width, key])
            tensor("blk.\(layer).attn_output.weight", [from ?? query, width])
        }

        private mutating func feedForward(_ layer: Int) {
            tensor("blk.\(layer).ffn_gate.weight", [width, hidden])
            tensor("blk.\(layer).ffn_up.weight", [width, hidden])
            tensor("blk.\(layer).ffn_down.weight", [hidden, width])
        }

        // MARK: Architectures

        mutating func llama() {
            common(layers: 2, heads: 2, keyHeads: 2)
            number("rope.dimension_count", 32)
            byteVocabulary(pre: "gpt-2")
            for layer in 0..<2 {
                ones(layer, ["attn_norm", "ffn_norm"])
                attention(layer, query: width, key: width)
                feedForward(layer)
            }
        }

        mutating func gemma3() {
            common(layers: 3, heads: 2, keyHeads: 1)
            number("attention.key_length", 32)
            number("attention.value_length", 32)
            number("attention.sliding_window", TinyModel.window)
            number("attention.sliding_window_pattern", 3)
            real("rope.freq_base", 1e6)
            byteVocabulary(pre: "gpt-2")
            for layer in 0..<3 {
                ones(layer, ["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"])
                attention(layer, query: 64, key: 32)
                ones(layer, ["attn_q_norm", "attn_k_norm"], 32)
                feedForward(layer)
            }
        }

        mutating func gemma4() {
            let layers = 5, perLayer = 16
            common(layers: layers, heads: 2, keyHeads: 1)
            number("attention.key_length", 64)
            number("attention.value_length", 64)
            number("attention.key_length_swa", 32)
            number("attention.value_length_swa", 32)
            number("rope.dimension_count", 64)
            number("rope.dimension_count_swa", 32)
            real("rope.freq_base", 1e6)
            real("rope.freq_base_swa", 1e4)
            number("attention.sliding_window", TinyModel.window)
            builder.add(
                "gemma4.attention.sliding_window_pattern", .array(7, count: UInt64(layers), bytes: [1, 1, 1, 1, 0]))
            number("attention.shared_kv_layers", 0)
            number("embedding_length_per_layer_input", perLayer)
            real("final_logit_softcapping", 30)
            characterVocabulary()
            let tokens = builder.tensors[0].shape[1]
            tensor("per_layer_token_embd.weight", [perLayer * layers, Int(tokens)])
            tensor("per_layer_model_proj.weight", [width, perLayer * layers])
            tensor("per_layer_proj_norm.weight", [perLayer], value: 1)
            tensor("rope_freqs.weight", [32], value: 1)
            for layer in 0..<layers {
                let size = layer == 4 ? 64 : 32
                ones(layer, ["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm", "post_norm"])
                attention(layer, query: size * 2, key: size)
                ones(layer, ["attn_q_norm", "attn_k_norm"], size)
                feedForward(layer)
                tensor("blk.\(layer).inp_gate.weight", [width, perLayer])
                tensor("blk.\(layer).proj.weight", [perLayer, width])
                ones(layer, ["layer_output_scale"], 1)
            }
        }

        mutating func qwen35() {
            let layers = 4, head = 32, state = 32, inner = 64
            common(layers: layers, heads: 2, keyHeads: 1)
            number("attention.key_length", head)
            number("attention.value_length", head)
            number("rope.dimension_count", 16)
            real("rope.freq_base", 1e7)
            builder.add("qwen35.rope.dimension_sections", .int32s([3, 3, 2, 0]))
            number("ssm.conv_kernel", 4)
            number("ssm.inner_size", inner)
            number("ssm.state_size", state)
            number("ssm.time_step_rank", 2)
            number("ssm.group_count", 1)
            number("full_attention_interval", 4)
            byteVocabulary(pre: "qwen35")
            let mixed = state * 2 + inner
            for layer in 0..<layers {
                ones(layer, ["attn_norm", "post_attention_norm"])
                if layer % 4 == 3 {
                    // Each query comes with a gate of its size.
                    attention(layer, query: head * 2 * 2, key: head, from: head * 2)
                    ones(layer, ["attn_q_norm", "attn_k_norm"], head)
                } else {
                    tensor("blk.\(layer).attn_qkv.weight", [width, mixed])
                    tensor("blk.\(layer).attn_gate.weight", [width, inner])
                    tensor("blk.\(layer).ssm_conv1d.weight", [4, mixed], scale: 0.3)
                    tensor("blk.\(layer).ssm_dt.bias", [2])
                    tensor("blk.\(layer).ssm_a", [2], value: -0.05)
                    tensor("blk.\(layer).ssm_beta.weight", [width, 2])
                    tensor("blk.\(layer).ssm_alpha.weight", [width, 2])
                    ones(layer, ["ssm_norm"], state)
                    tensor("blk.\(layer).ssm_out.weight", [inner, width])
                }
                feedForward(layer)
            }
        }
    }
}

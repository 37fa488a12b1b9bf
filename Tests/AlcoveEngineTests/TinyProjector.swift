import AlcoveCore
@testable import AlcoveEngine
import Testing

/// Projectors with random weights for the tiny models: a few hundred kilobytes each, with the keys and tensors that clip.cpp
/// reads.
enum TinyProjector: String, CaseIterable, CustomTestStringConvertible {
    /// A picture and its slices, for plain attention.
    case idefics3
    /// One square picture whose tokens all see each other, for sliding windows.
    case gemma3
    case gemma4v
    /// Positions of several dimensions, for recurrent layers.
    case qwen3vl
    /// Sound.
    case ultravox

    var testDescription: String { rawValue }

    /// The architecture whose makers publish such a projector.
    var model: TinyModel {
        switch self {
        case .idefics3, .ultravox: .llama
        case .gemma3: .gemma3
        case .gemma4v: .gemma4
        case .qwen3vl: .qwen35
        }
    }

    /// What it writes around pictures, which must be tokens of the model's.
    var marks: [String] {
        switch self {
        case .idefics3:
            ["<fake_token_around_image>", "<global-img>", "\n\n"]
                + (1...4).flatMap { row in (1...4).map { "<row_\(row)_col_\($0)>" } }
        case .gemma3: ["<start_of_image>", "<end_of_image>"]
        case .gemma4v: ["<|image>", "<image|>"]
        case .qwen3vl: ["<|vision_start|>", "<|vision_end|>"]
        case .ultravox: []
        }
    }

    static let seeing = allCases.filter { $0 != .ultravox }

    /// - Parameter width: of the embeddings it gives; the tiny models take 64.
    func bytes(width: Int = 64) -> [UInt8] { builder(width: width).bytes() }

    func builder(width: Int = 64, seed: UInt64 = 11) -> GGUFBuilder {
        var writer = Writer(dice: SeededGenerator(seed: seed), output: width)
        switch self {
        case .idefics3: writer.idefics3()
        case .gemma3: writer.gemma3()
        case .gemma4v: writer.gemma4v()
        case .qwen3vl: writer.qwen3vl()
        case .ultravox: writer.ultravox()
        }
        return writer.builder
    }

    private struct Writer {
        var dice: SeededGenerator
        let output: Int
        var builder = GGUFBuilder()
        private let width = 32, hidden = 64, heads = 2, layers = 2, patch = 16

        init(dice: SeededGenerator, output: Int) {
            self.dice = dice
            self.output = output
        }

        private mutating func tensor(_ name: String, _ shape: [Int], value: Float? = nil, half: Bool = false) {
            let count = shape.reduce(1, *)
            let numbers = (0..<count).map { _ -> Float in
                if let value { return value }
                return Float.random(in: -0.15...0.15, using: &dice)
            }
            var tensor = GGUFBuilder.Tensor(name, shape.map { UInt64($0) }, type: half ? 1 : 0)
            tensor.data =
                half
                ? numbers.flatMap { littleEndian(Float16($0).bitPattern) }
                : numbers.flatMap { littleEndian($0.bitPattern) }
            builder.tensors.append(tensor)
        }

        private mutating func head(_ kind: String, _ type: String, layers: Int? = nil, _ numbers: [String: Int]) {
            builder.add("general.architecture", .string("clip"))
            builder.add("general.type", .string("mmproj"))
            builder.add("general.name", .string("Tiny \(type)"))
            builder.add("clip.has_\(kind)_encoder", .bool(1))
            builder.add("clip.projector_type", .string(type))
            builder.add("clip.use_gelu", .bool(1))
            let common = [
                "embedding_length": width, "feed_forward_length": hidden, "block_count": layers ?? self.layers,
                "attention.head_count": heads, "projection_dim": output,
            ]
            for (key, number) in common.merging(numbers, uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
                builder.add("clip.\(kind).\(key)", .uint32(UInt32(number)))
            }
            builder.add("clip.\(kind).attention.layer_norm_epsilon", .float(1e-6))
            guard kind == "vision" else { return }
            builder.add("clip.vision.image_mean", .floats([0.5, 0.5, 0.5]))
            builder.add("clip.vision.image_std", .floats([0.5, 0.5, 0.5]))
        }

        private mutating func blocks(
            _ prefix: String, layers: Int? = nil, together: Bool = false, bias: Bool = true, gated: Bool = false
        ) {
            for layer in 0..<(layers ?? self.layers) {
                let block = "\(prefix).blk.\(layer)."
                for name in ["ln1", "ln2"] {
                    tensor(block + name + ".weight", [width], value: 1)
                    if bias { tensor(block + name + ".bias", [width], value: 0) }
                }
                let inputs = together ? [("attn_qkv", 3 * width)] : ["q", "k", "v"].map { ("attn_" + $0, width) }
                for (name, size) in inputs + [("attn_out", width)] {
                    tensor(block + name + ".weight", [width, size])
                    if bias, prefix != "a" || name != "attn_k" { tensor(block + name + ".bias", [size], value: 0) }
                }
                if gated {
                    for name in ["attn_q_norm", "attn_k_norm"] {
                        tensor(block + name + ".weight", [width / heads], value: 1)
                    }
                    tensor(block + "ffn_gate.weight", [width, hidden])
                    for name in ["attn_post_norm", "ffn_post_norm"] {
                        tensor(block + name + ".weight", [width], value: 1)
                    }
                }
                tensor(block + "ffn_up.weight", [width, hidden])
                tensor(block + "ffn_down.weight", [hidden, width])
                if bias {
                    tensor(block + "ffn_up.bias", [hidden], value: 0)
                    tensor(block + "ffn_down.bias", [width], value: 0)
                }
            }
        }

        private mutating func patches(bias: Bool = true, places: [Int], norm: Bool = true) {
            tensor("v.patch_embd.weight", [patch, patch, 3, width])
            if bias { tensor("v.patch_embd.bias", [width], value: 0) }
            tensor("v.position_embd.weight", places)
            if norm {
                tensor("v.post_ln.weight", [width], value: 1)
                tensor("v.post_ln.bias", [width], value: 0)
            }
        }

        mutating func idefics3() {
            head("vision", "idefics3", ["image_size": 64, "patch_size": patch, "preproc_image_size": 128])
            builder.add("clip.vision.projector.scale_factor", .uint32(2))
            patches(places: [width, 16])
            blocks("v")
            tensor("mm.model.fc.weight", [width * 4, output])
        }

        mutating func gemma3() {
            head("vision", "gemma3", ["image_size": 128, "patch_size": patch])
            builder.add("clip.vision.projector.scale_factor", .uint32(2))
            patches(places: [width, 64])
            blocks("v")
            tensor("mm.soft_emb_norm.weight", [width], value: 1)
            tensor("mm.input_projection.weight", [output, width])
        }

        mutating func gemma4v() {
            head("vision", "gemma4v", ["image_size": 96, "patch_size": patch])
            patches(bias: false, places: [width, 256, 2], norm: false)
            blocks("v", bias: false, gated: true)
            tensor("mm.input_projection.weight", [width, output])
        }

        mutating func qwen3vl() {
            head("vision", "qwen3vl_merger", ["image_size": 128, "patch_size": patch, "spatial_merge_size": 2])
            patches(places: [width, 64])
            tensor("v.patch_embd.weight.1", [patch, patch, 3, width])
            blocks("v", together: true)
            tensor("mm.0.weight", [width * 4, width * 4])
            tensor("mm.0.bias", [width * 4], value: 0)
            tensor("mm.2.weight", [width * 4, output])
            tensor("mm.2.bias", [output], value: 0)
        }

        mutating func ultravox() {
            let bins = 80, stack = 4
            head("audio", "ultravox", layers: 1, ["num_mel_bins": bins])
            builder.add("clip.audio.projector.stack_factor", .uint32(UInt32(stack)))
            tensor("a.conv1d.1.weight", [3, bins, width], half: true)
            tensor("a.conv1d.1.bias", [1, width], value: 0)
            tensor("a.conv1d.2.weight", [3, width, width], half: true)
            tensor("a.conv1d.2.bias", [1, width], value: 0)
            tensor("a.position_embd.weight", [width, 1500])
            tensor("a.post_ln.weight", [width], value: 1)
            tensor("a.post_ln.bias", [width], value: 0)
            blocks("a", layers: 1)
            tensor("mm.a.norm_pre.weight", [width * stack], value: 1)
            tensor("mm.a.mlp.1.weight", [width * stack, 128])
            tensor("mm.a.norm_mid.weight", [64], value: 1)
            tensor("mm.a.mlp.2.weight", [64, output])
        }
    }
}

extension MediaInput {
    /// A picture nobody has seen before; another one for another number.
    static func pattern(_ number: Int, width: Int = 96, height: Int = 64) -> MediaInput {
        MediaInput(.picture(.pattern(number, width: width, height: height)))
    }

    /// A second of a tone.
    static func tone(_ number: Int, seconds: Double = 1) -> MediaInput {
        let count = Int(16_000 * seconds)
        let samples = (0..<count).map { place -> Float in
            // A triangle: no need of a sine.
            let phase = Float(place * number % 200) / 100
            return 0.5 * (phase < 1 ? phase : 2 - phase) - 0.25
        }
        return MediaInput(.sound(SoundSamples(rate: 16_000, samples: samples)))
    }
}

extension RGBPicture {
    static func pattern(_ number: Int, width: Int = 96, height: Int = 64) -> RGBPicture {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                bytes += [x * 2 + number * 91, y * 3 + number * 7, (x ^ y) &* number].map {
                    UInt8(truncatingIfNeeded: $0)
                }
            }
        }
        return RGBPicture(width: width, height: height, bytes: bytes)!  // the sizes are those of the bytes
    }
}

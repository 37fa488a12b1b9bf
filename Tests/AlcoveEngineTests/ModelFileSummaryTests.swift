internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

struct ModelFileSummaryTests {
    private let folder = GGUFFolder()

    private func summary(
        _ change: (inout GGUFBuilder) -> Void = { _ in }
    ) throws -> (summary: ModelFileSummary, header: GGUFHeader) {
        var builder = GGUFBuilder.tiny()
        change(&builder)
        let header = try GGUFHeader(path: folder.file(builder.bytes()))
        return (try ModelFileSummary(header), header)
    }

    @Test func tellsWhatAModelIs() throws {
        let (summary, header) = try summary()

        try summary.checkLoadable(header)
        #expect(summary.kind == .model)
        #expect(summary.architecture == "llama")
        #expect(summary.name == "Tiny")
        #expect(summary.parameterCount == 64 * 5 + 64 + 64 * 64)
        #expect(summary.weightBytes == 340 + 256 + 4352)
        #expect(summary.fileType == "Q8_0")
        #expect(summary.dominantType?.name == "Q8_0")
        #expect(summary.contextLength == 4096)
        #expect(summary.layerCount == 2)
        #expect(summary.keyLength == 16)
        #expect(summary.cacheBytesPerToken() == 256)
        #expect(summary.chatTemplate == .text("{{ messages }}"))
        #expect(summary.tokenizer.model == "gpt2")
        #expect(summary.tokenizer.pre == "smollm")
        #expect(summary.tokenizer.vocabularySize == 5)
        #expect(summary.tokenizer.bos == 0)
        #expect(summary.tokenizer.eos == 1)
        #expect(summary.tokenizer.eot == nil)
    }

    @Test func whatIsNotSaidIsNotFalse() throws {
        let (summary, _) = try summary()

        #expect(summary.tokenizer.addBOS == false)
        #expect(summary.tokenizer.addEOS == nil)
    }

    @Test func oddFilesAreModelsStill() throws {
        let (summary, header) = try summary {
            $0.remove("tokenizer.chat_template")
            $0.remove("tokenizer.ggml.eos_token_id")
            $0.remove("tokenizer.ggml.bos_token_id")
            $0.add("tokenizer.ggml.padding_token_id", .uint32(.max))
            $0.set("llama.attention.head_count_kv", .int32s([2, 1]))
            $0.set("general.file_type", .uint32(999))
        }

        try summary.checkLoadable(header)
        #expect(summary.chatTemplate == .none)
        #expect(summary.tokenizer.eos == nil)
        #expect(summary.fileType == nil)
        #expect(summary.cacheBytesPerToken() == Double((2 + 1) * (16 + 16) * 2))
    }

    @Test func templateIsRepairedAndBounded() throws {
        let repaired = try summary {
            $0.set("tokenizer.chat_template", .init(type: .string, bytes: lengthAndBytes([0x61, 0xFF, 0x62])))
        }
        #expect(repaired.summary.chatTemplate == .text("a\u{FFFD}b"))

        let long = try summary {
            $0.set("tokenizer.chat_template", .string(String(repeating: "x", count: (1 << 20) + 1)))
        }
        #expect(long.summary.chatTemplate == .tooLong(bytes: 1_048_577))
    }

    @Test func projectorMustFitTheModel() throws {
        func projector(length: UInt32, type: String?) throws -> (summary: ModelFileSummary, header: GGUFHeader) {
            try summary {
                $0.set("general.architecture", .string("clip"))
                $0.set("general.name", .string("Other"))
                if let type { $0.set("general.type", .string(type)) }
                $0.set("clip.has_vision_encoder", .bool(1))
                $0.set("clip.vision.projection_dim", .uint32(length))
            }
        }
        let model = try summary().summary

        let fitting = try projector(length: 64, type: "mmproj")
        #expect(fitting.summary.kind == .projector)
        #expect(fitting.summary.modalities == ["vision"])
        try ModelFileSummary.check(projector: fitting.summary, header: fitting.header, fits: model)
        let old = try projector(length: 768, type: nil)
        try ModelFileSummary.check(projector: old.summary, header: old.header, fits: model)
        let foreign = try projector(length: 960, type: "mmproj")
        let error = #expect(throws: GGUFError.self) {
            try ModelFileSummary.check(projector: foreign.summary, header: foreign.header, fits: model)
        }
        #expect(error?.code == "gguf_wrong_projector")
        #expect(
            error?.message == "tiny.gguf for Other does not fit tiny.gguf: it gives embeddings of length 960, and the "
                + "model takes 64.")
    }

    @Test func inspectionIsJSON() throws {
        var builder = GGUFBuilder()
        builder.add("general.name", .string("a\"b"))
        builder.add("x.float", .float(1e-5))
        builder.add("x.huge", .uint64(.max))
        builder.add("x.short", .strings(["a", "b"]))
        builder.add("x.long", .int32s([Int32](repeating: 1, count: 65)))
        builder.tensors = [.init("t", [32, 2], type: 8), .init("u", [1])]

        let json = try ModelInspection.json(path: folder.file(builder.bytes()))

        #expect(
            json.text() == #"{"version":3,"metadata":{"general.name":"a\"b","x.float":9.999999747378752e-06,"#
                + #""x.huge":1.8446744073709552e+19,"x.short":["a","b"],"x.long":{"count":65}},"#
                + #""tensors":[{"name":"t","shape":[32,2],"type":8,"offset":0},"#
                + #"{"name":"u","shape":[1],"type":0,"offset":96}]}"#)
    }

    @Test func inspectionIsATableForPeople() throws {
        let text = try ModelInspection.text(path: folder.file(GGUFBuilder.tiny().bytes()))

        #expect(
            text == """
                file           tiny.gguf, 5.9 kB, GGUF version 3
                kind           language model
                name           Tiny
                architecture   llama
                parameters     4480
                quantisation   Q8_0
                context        4096 tokens
                embedding      64
                layers         2
                heads          4, 2 for keys and values
                cache          256 bytes a token at most, in F16
                tokenizer      5 tokens; gpt2, smollm
                               bos 0, eos 1
                adds BOS       no
                adds EOS       not said: the tokenizer's kind decides
                chat template  yes, 14 bytes
                weights        Q8_0: 2 tensors, 4.6 kB
                               F32: 1 tensor, 256 bytes
                loadable       yes

                """)
    }
}

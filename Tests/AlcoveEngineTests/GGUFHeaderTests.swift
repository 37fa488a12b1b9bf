internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

/// What a sound file says comes out as it stands.
struct GGUFHeaderTests {
    private let folder = GGUFFolder()

    private func header(_ builder: GGUFBuilder) throws -> GGUFHeader {
        try GGUFHeader(path: folder.file(builder.bytes()))
    }

    @Test func readsKeysAndTensorsInOrder() throws {
        let header = try header(.tiny())

        #expect(header.version == 3)
        #expect(header.alignment == 32)
        #expect(header.entries.map(\.key).prefix(3) == ["general.architecture", "general.name", "general.file_type"])
        #expect(header["llama.block_count"]?.value == .unsigned(2))
        #expect(header["llama.attention.layer_norm_rms_epsilon"]?.value == .float(1e-5))
        #expect(header["tokenizer.ggml.add_bos_token"]?.value == .bool(false))
        #expect(header.tensors.map(\.name) == ["token_embd.weight", "output_norm.weight", "blk.0.attn_q.weight"])
        #expect(header.tensors.map(\.shape) == [[64, 5], [64], [64, 64]])
        #expect(header.tensors.map(\.offset) == [0, 352, 608])
        #expect(header.tensors.map(\.type.name) == ["Q8_0", "F32", "Q8_0"])
        #expect(header.dataOffset % 32 == 0)
    }

    @Test func readsEveryType() throws {
        var builder = GGUFBuilder()
        builder.add("u8", .uint8(.max))
        builder.add("i8", .init(type: .int8, bytes: [0x80]))
        builder.add("u16", .uint16(.max))
        builder.add("i16", .init(type: .int16, bytes: littleEndian(Int16.min)))
        builder.add("u32", .uint32(.max))
        builder.add("i32", .int32(.min))
        builder.add("u64", .uint64(.max))
        builder.add("i64", .int64(.min))
        builder.add("f32", .float(1.5))
        builder.add("f64", .double(-2.25))
        builder.add("bool", .bool(1))
        builder.add("empty", .string(""))
        builder.add("none", .strings([]))

        let header = try header(builder)

        #expect(
            header.entries.prefix(11).map(\.value) == [
                .unsigned(255), .signed(-128), .unsigned(65535), .signed(-32768), .unsigned(4_294_967_295),
                .signed(-2_147_483_648), .unsigned(.max), .signed(.min), .float(1.5), .double(-2.25), .bool(true),
            ])
        guard case .string(let empty)? = header["empty"]?.value, case .array(let none)? = header["none"]?.value else {
            throw InputError(code: "types", message: "The types are wrong.")
        }
        #expect(empty.text == "")
        #expect(none.elements == [])
    }

    @Test(arguments: [UInt32(2), 3]) func acceptsVersion(_ version: UInt32) throws {
        var builder = GGUFBuilder.tiny()
        builder.version = version

        #expect(try header(builder).version == version)
    }

    @Test func toleratesTrailingBytesAndMissingLastPadding() throws {
        var builder = GGUFBuilder.tiny()
        builder.tail = Array("rubbish".utf8)
        #expect(try header(builder).tensors.count == 3)

        builder = GGUFBuilder.tiny()
        builder.tensors = [.init("odd", [3])]
        let path = folder.file(Array(builder.bytes().dropLast(20)))
        #expect(try GGUFHeader(path: path).tensors.count == 1)
    }

    @Test func longArraysStayInTheFileAndAreWalked() throws {
        var builder = GGUFBuilder.tiny()
        let words = (0..<5000).map { "word \($0) é" }
        builder.set("tokenizer.ggml.tokens", .strings(words))

        let header = try header(builder)

        guard case .array(let array)? = header["tokenizer.ggml.tokens"]?.value else {
            throw InputError(code: "types", message: "The types are wrong.")
        }
        #expect(array.count == 5000)
        #expect(array.elements == nil)
        var walked: [String] = []
        try header.forEachString(in: array) { position, bytes in
            #expect(position == walked.count)
            walked.append(String(decoding: bytes, as: UTF8.self))
            return position < 4000
        }
        #expect(walked == Array(words.prefix(4001)))
    }

    @Test func tellsWhereTheFileIsMissing() throws {
        let missing = #expect(throws: GGUFError.self) { try GGUFHeader(path: "/nowhere/a\u{202E}b.gguf") }
        #expect(missing?.code == "gguf_missing")
        #expect(missing?.message == "There is no model file at /nowhere/a?b.gguf.")

        let directory = #expect(throws: GGUFError.self) { try GGUFHeader(path: folder.path) }
        #expect(directory?.code == "gguf_not_a_file")
        #expect(directory?.message == "\(folder.path) is not a file but a folder or a device.")

        let pipe = folder.file("pipe.gguf", [])
        unlink(pipe)
        mkfifo(pipe, 0o600)
        let fifo = #expect(throws: GGUFError.self) { try GGUFHeader(path: pipe) }
        #expect(fifo?.code == "gguf_not_a_file")
    }

    @Test func refusesTruncationAtEveryByte() throws {
        var builder = GGUFBuilder.tiny()
        builder.tensors.removeLast()
        let bytes = builder.bytes()
        // The last tensor's bytes are a multiple of the alignment, so that every byte counts.
        for count in 0..<bytes.count {
            let path = folder.file(Array(bytes.prefix(count)))
            let error = #expect(throws: GGUFError.self) { try GGUFHeader(path: path) }
            let expected: GGUFError.Reason = count == 0 ? .empty : .truncated
            #expect(error?.reason == expected, "cut to \(count) bytes: \(error?.sentence ?? "accepted")")
        }
        #expect(try GGUFHeader(path: folder.file(bytes)).tensors.count == 2)
    }
}

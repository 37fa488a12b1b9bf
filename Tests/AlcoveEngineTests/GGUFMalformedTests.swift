internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

/// Every way we know to spoil a header, with the words a person then reads.
struct GGUFMalformedTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable () -> [UInt8]
        let code: String
        let sentence: String
        var file = "tiny.gguf"
        var testDescription: String { name }

        init(
            _ name: String, file: String = "tiny.gguf", bytes: @escaping @Sendable () -> [UInt8], _ code: String,
            _ sentence: String
        ) {
            self.name = name
            self.file = file
            make = bytes
            self.code = code
            self.sentence = sentence
        }

        /// A sound file with one thing changed.
        init(
            _ name: String, file: String = "tiny.gguf", _ change: @escaping @Sendable (inout GGUFBuilder) -> Void,
            _ code: String, _ sentence: String
        ) {
            self.init(
                name, file: file,
                bytes: {
                    var builder = GGUFBuilder.tiny()
                    change(&builder)
                    return builder.bytes()
                }, code, sentence)
        }
    }

    static func text(_ text: String) -> @Sendable () -> [UInt8] { { Array(text.utf8) } }

    @Test(arguments: kinds + counts + values + tensors + facts) func isRefusedByName(_ c: Case) throws {
        let folder = GGUFFolder()
        let path = folder.file(c.file, c.make())

        let error = #expect(throws: GGUFError.self) {
            let header = try GGUFHeader(path: path)
            try ModelFileSummary(header).checkLoadable(header)
        }

        #expect(error?.code == c.code)
        #expect(error?.sentence == c.sentence)
    }

    static let kinds = [
        Case(
            "empty", bytes: { [] }, "gguf_empty",
            "tiny.gguf is empty. Download it again."),
        Case(
            "web page", bytes: text("\n<!DOCTYPE html><html>Sign in</html>"), "gguf_web_page",
            "tiny.gguf is a web page and not a model. The download was answered by a page, perhaps a sign-in: open the address in a browser."
        ),
        Case(
            "JSON error", bytes: text(#"{"error":"Repository not found"}"#), "gguf_web_page",
            "tiny.gguf is a JSON text and not a model, perhaps a server's error message. The download was answered by a page, perhaps a sign-in: open the address in a browser."
        ),
        Case(
            "LFS pointer", bytes: text("version https://git-lfs.github.com/spec/v1\noid sha256:00"), "gguf_lfs_pointer",
            "tiny.gguf is a Git LFS pointer that stands for a model, not the model. Fetch the real file with: git lfs pull"
        ),
        Case(
            "ZIP", bytes: { [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 60) }, "gguf_archive",
            "tiny.gguf is a ZIP archive (PyTorch's .bin and .pt are such, too) and not a model. Unpack it and choose the .gguf file inside."
        ),
        Case(
            "safetensors", bytes: { littleEndian(UInt64(200)) + Array(#"{"__metadata__":{}}"#.utf8) },
            "gguf_safetensors",
            "tiny.gguf is a safetensors file, which llama.cpp cannot load. Look for the same model as GGUF, or convert it with llama.cpp's convert_hf_to_gguf.py."
        ),
        Case(
            "old format", bytes: text("tjgg0000"), "gguf_old_format",
            #"tiny.gguf is a model in the old "ggjt" format that came before GGUF. Look for a newer GGUF file of the same model."#
        ),
        Case(
            "other bytes", bytes: { [0, 1, 2, 0xFF, 4] }, "gguf_bad_magic",
            #"tiny.gguf is not a GGUF file: it begins with 00 01 02 ff, not with "GGUF". Choose a file that ends in .gguf; if this one should be a model, download it again."#
        ),
        Case(
            "magic backwards", { $0.magic = Array("FUGG".utf8) }, "gguf_big_endian",
            #"tiny.gguf was written for a big-endian machine: its first bytes are "FUGG". Look for the usual little-endian file of the same model."#
        ),
        Case(
            "version backwards", { $0.version = UInt32(3).byteSwapped }, "gguf_big_endian",
            "tiny.gguf cannot be used: it was written for a big-endian machine (version 3 backwards). Look for the usual little-endian file of the same model."
        ),
        Case(
            "unfinished", file: "tiny.gguf.part", { _ in }, "gguf_unfinished_download",
            "tiny.gguf.part is a download that has not finished. Let the download finish, or start it again to resume."),
        Case(
            "version 0", { $0.version = 0 }, "gguf_unsupported_version",
            "tiny.gguf cannot be used: it has GGUF version 0, and only 2 and 3 can be read. Look for another file of the same model, or a newer version of this program."
        ),
        Case(
            "version 1", { $0.version = 1 }, "gguf_unsupported_version",
            "tiny.gguf cannot be used: it has GGUF version 1, and only 2 and 3 can be read. Look for another file of the same model, or a newer version of this program."
        ),
        Case(
            "version 4", { $0.version = 4 }, "gguf_unsupported_version",
            "tiny.gguf cannot be used: it has GGUF version 4, and only 2 and 3 can be read. Look for another file of the same model, or a newer version of this program."
        ),
    ]

    static let counts = [
        Case(
            "2^63 keys", { $0.keyCount = 1 << 63 }, "gguf_bad_count",
            "tiny.gguf cannot be used: it says that it has 9223372036854775808 keys, and at most 16384 are plausible. The file is damaged: download it again."
        ),
        Case(
            "2^64-1 tensors", { $0.tensorCount = .max }, "gguf_bad_count",
            "tiny.gguf cannot be used: it says that it has 18446744073709551615 tensors, and at most 16384 are plausible. The file is damaged: download it again."
        ),
        Case(
            "16,000 keys in a small file", { $0.keyCount = 16_000 }, "gguf_truncated",
            "tiny.gguf is cut short: it ends at byte 5952, and from byte 24 on 16000 keys and 3 tensors need at least 224099 bytes. Perhaps its download did not finish: download it again."
        ),
        Case(
            "one tensor too many", { $0.tensorCount = 4 }, "gguf_bad_tensor_name",
            "tiny.gguf cannot be used: the name of tensor 3 at byte 989 is 289077004400066560 bytes long, and a name has at most 63. The file is damaged: download it again."
        ),
        Case(
            "raw part of a split file", file: "big-00001-of-00002.gguf",
            bytes: { Array(GGUFBuilder.tiny().bytes().prefix(600)) }, "gguf_truncated",
            "big-00001-of-00002.gguf is cut short: it ends at byte 600, inside the 25 bytes of the name of key 12. By its name it is part 1 of 2: big-00001-of-00002.gguf and big-00002-of-00002.gguf belong together."
        ),
        Case(
            "raw second part", file: "big-00002-of-00002.gguf", bytes: { [1, 2, 3, 4, 5] }, "gguf_bad_magic",
            #"big-00002-of-00002.gguf is not a GGUF file: it begins with 01 02 03 04, not with "GGUF". By its name it is part 2 of 2: big-00001-of-00002.gguf and big-00002-of-00002.gguf belong together."#
        ),
        Case(
            "cut in the weights", bytes: { Array(GGUFBuilder.tiny().bytes().dropLast(200)) }, "gguf_truncated",
            #"tiny.gguf is cut short: it ends at byte 5752, inside the weights "blk.0.attn_q.weight", and all its weights need 4960 bytes from byte 992 on. Perhaps its download did not finish: download it again."#
        ),
    ]

    static let values = [
        Case(
            "key without a name", { $0.add("", .uint8(1)) }, "gguf_bad_key",
            "tiny.gguf cannot be used: key 17 at byte 823 has no name. The file is damaged: download it again."),
        Case(
            "key of 2^63 bytes",
            bytes: {
                var bytes = GGUFBuilder.tiny().bytes()
                bytes.replaceSubrange(24..<32, with: littleEndian(UInt64(1) << 63))
                return bytes
            }, "gguf_bad_length",
            "tiny.gguf cannot be used: the name of key 0 at byte 24 is 9223372036854775808 bytes long, and a name has at most 65535. The file is damaged: download it again."
        ),
        Case(
            "key longer than the file",
            bytes: {
                var bytes = GGUFBuilder.tiny().bytes()
                bytes.replaceSubrange(24..<32, with: littleEndian(UInt64(60_000)))
                return bytes
            }, "gguf_truncated",
            "tiny.gguf is cut short: it ends at byte 5952, inside the 60000 bytes of the name of key 0. Perhaps its download did not finish: download it again."
        ),
        Case(
            "key with a zero byte", { $0.add("a\0b", .uint8(1)) }, "gguf_bad_key",
            "tiny.gguf cannot be used: the name of key 17 at byte 823 is not plain ASCII. The file is damaged: download it again."
        ),
        Case(
            "key twice", { $0.add("general.name", .string("again")) }, "gguf_duplicate_key",
            #"tiny.gguf cannot be used: the key "general.name" is there twice, the second time as key 17. The file is damaged: download it again."#
        ),
        Case(
            "value type 13",
            bytes: {
                var bytes = GGUFBuilder.tiny().bytes()
                bytes.replaceSubrange(52..<56, with: littleEndian(UInt32(13)))
                return bytes
            }, "gguf_bad_value_type",
            #"tiny.gguf cannot be used: "general.architecture" has value type 13 at byte 52, and there are only types 0 to 12. The file is damaged: download it again."#
        ),
        Case(
            "string of 2^63 bytes", { $0.add("s", .init(type: .string, bytes: littleEndian(UInt64(1) << 63))) },
            "gguf_bad_length",
            #"tiny.gguf cannot be used: a string of "s" at byte 836 is 9223372036854775808 bytes long, and at most 1073741824 are plausible. The file is damaged: download it again."#
        ),
        Case(
            "string longer than the file", { $0.add("s", .init(type: .string, bytes: littleEndian(UInt64(1) << 20))) },
            "gguf_truncated",
            #"tiny.gguf is cut short: it ends at byte 5984, inside the 1048576 bytes of the value of "s". Perhaps its download did not finish: download it again."#
        ),
        Case(
            "nested array", { $0.add("a", .array(9, count: 1, bytes: [0, 0, 0, 0] + littleEndian(UInt64(0)))) },
            "gguf_nested_array",
            #"tiny.gguf cannot be used: "a" is an array of arrays, which GGUF readers do not know. The file is damaged: download it again."#
        ),
        Case(
            "array of type 99", { $0.add("a", .array(99, count: 1, bytes: [0])) }, "gguf_bad_value_type",
            #"tiny.gguf cannot be used: "a" has value type 99 at byte 836, and there are only types 0 to 12. The file is damaged: download it again."#
        ),
        Case(
            "array of 2^64-1 strings", { $0.add("a", .array(8, count: .max, bytes: [])) }, "gguf_bad_count",
            #"tiny.gguf cannot be used: "a" says that it has 18446744073709551615 elements, and at most 4194304 are plausible. The file is damaged: download it again."#
        ),
        Case(
            "array of 2^31 numbers", { $0.add("a", .array(10, count: 1 << 31, bytes: [])) }, "gguf_bad_count",
            #"tiny.gguf cannot be used: "a" says that it has 2147483648 elements, and at most 1073741824 are plausible. The file is damaged: download it again."#
        ),
        Case(
            "array past the end", { $0.add("a", .array(4, count: 1_000_000, bytes: [])) }, "gguf_truncated",
            #"tiny.gguf is cut short: it ends at byte 5984, and from byte 848 on the 1000000 elements of "a" need at least 4000000 bytes. Perhaps its download did not finish: download it again."#
        ),
        Case(
            "string in an array past the end",
            { $0.add("a", .array(8, count: 100, bytes: [UInt8](repeating: 1, count: 8))) }, "gguf_bad_length",
            #"tiny.gguf cannot be used: a string of "a" at byte 848 is 72340172838076673 bytes long, and at most 1073741824 are plausible. The file is damaged: download it again."#
        ),
        Case(
            "yes or no that is 2", { $0.add("b", .bool(2)) }, "gguf_bad_bool",
            #"tiny.gguf cannot be used: "b" has 2 for a yes or no at byte 836, and must have 0 or 1. The file is damaged: download it again."#
        ),
        Case(
            "yes or no that is 255 in a short array", { $0.add("b", .array(7, count: 2, bytes: [1, 255])) },
            "gguf_bad_bool",
            #"tiny.gguf cannot be used: "b" has 255 for a yes or no at byte 849, and must have 0 or 1. The file is damaged: download it again."#
        ),
        Case(
            "yes or no that is 3 in a long array",
            {
                $0.add("b", .array(7, count: 2000, bytes: [UInt8](repeating: 1, count: 1999) + [3]))
            }, "gguf_bad_bool",
            #"tiny.gguf cannot be used: "b" has 3 for a yes or no at byte 2847, and must have 0 or 1. The file is damaged: download it again."#
        ),
        Case(
            "alignment 0", { $0.add("general.alignment", .uint32(0)) }, "gguf_bad_alignment",
            #"tiny.gguf cannot be used: "general.alignment" is 0 and must be a power of two. The file is damaged: download it again."#
        ),
        Case(
            "alignment 3", { $0.add("general.alignment", .uint32(3)) }, "gguf_bad_alignment",
            #"tiny.gguf cannot be used: "general.alignment" is 3 and must be a power of two. The file is damaged: download it again."#
        ),
        Case(
            "alignment 2^63", { $0.add("general.alignment", .uint64(1 << 63)) }, "gguf_bad_alignment",
            #"tiny.gguf cannot be used: "general.alignment" has type uint64 and must have type uint32. The file is damaged: download it again."#
        ),
        Case(
            "alignment as text", { $0.add("general.alignment", .string("32")) }, "gguf_bad_alignment",
            #"tiny.gguf cannot be used: "general.alignment" has type string and must have type uint32. The file is damaged: download it again."#
        ),
        Case(
            "alignment 2^31",
            {
                $0.add("general.alignment", .uint32(1 << 31)); $0.tensors.removeLast(2)
            }, "gguf_truncated",
            #"tiny.gguf is cut short: it ends at byte 1280, inside the weights "token_embd.weight", and all its weights need 340 bytes from byte 2147483648 on. Perhaps its download did not finish: download it again."#
        ),
    ]

    static let tensors = [
        Case(
            "tensor without a name", { $0.tensors[1].name = [] }, "gguf_bad_tensor_name",
            "tiny.gguf cannot be used: tensor 1 at byte 880 has no name. The file is damaged: download it again."),
        Case(
            "tensor name of 64 bytes", { $0.tensors[1].name = [UInt8](repeating: 0x61, count: 64) },
            "gguf_bad_tensor_name",
            "tiny.gguf cannot be used: the name of tensor 1 at byte 880 is 64 bytes long, and a name has at most 63. The file is damaged: download it again."
        ),
        Case(
            "tensor name with a zero byte", { $0.tensors[1].name = Array("a\0b".utf8) }, "gguf_bad_tensor_name",
            #"tiny.gguf cannot be used: the name of tensor 1 at byte 880 has bytes that no name has: "a?b". The file is damaged: download it again."#
        ),
        Case(
            "tensor name not UTF-8", { $0.tensors[1].name = [0x61, 0xFF] }, "gguf_bad_tensor_name",
            #"tiny.gguf cannot be used: the name of tensor 1 at byte 880 has bytes that no name has: "a?". The file is damaged: download it again."#
        ),
        Case(
            "tensor twice", { $0.tensors[1].name = $0.tensors[0].name }, "gguf_duplicate_tensor",
            #"tiny.gguf cannot be used: the tensor "token_embd.weight" is there twice, the second time as tensor 1. The file is damaged: download it again."#
        ),
        Case(
            "no dimensions", { $0.tensors[1].dimensionCount = 0 }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has 0 dimensions, and 1 to 4 are possible. The file is damaged: download it again."#
        ),
        Case(
            "5 dimensions", { $0.tensors[1] = .init("five", [1, 1, 1, 1, 1]) }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "five" has 5 dimensions, and 1 to 4 are possible. The file is damaged: download it again."#
        ),
        Case(
            "2^32-1 dimensions", { $0.tensors[1].dimensionCount = .max }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has 4294967295 dimensions, and 1 to 4 are possible. The file is damaged: download it again."#
        ),
        Case(
            "dimension 0", { $0.tensors[1].shape = [0] }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: dimension 0 of the tensor "output_norm.weight" is 0, and must be at least 1. The file is damaged: download it again."#
        ),
        Case(
            "dimension -1", { $0.tensors[1].shape = [.max] }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: dimension 0 of the tensor "output_norm.weight" is -1, and must be at least 1. The file is damaged: download it again."#
        ),
        Case(
            "product over 2^63", { $0.tensors[1].shape = [1 << 32, 1 << 31] }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has more numbers than 63 bits can count. The file is damaged: download it again."#
        ),
        Case(
            "bytes over 2^64", { $0.tensors[1].shape = [1 << 62] }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has more bytes than 64 bits can count. The file is damaged: download it again."#
        ),
        Case(
            "end over 2^64",
            {
                $0.tensors[1].shape = [(1 << 62) - 1]; $0.tensors[1].offset = 352
            }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" would end past what 64 bits can count. The file is damaged: download it again."#
        ),
        Case(
            "tensor type 43", { $0.tensors[1].type = 43 }, "gguf_bad_tensor_type",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has type 43, which is not known. Look for another quantisation, or a newer version of this program."#
        ),
        Case(
            "tensor type 2^32-1", { $0.tensors[1].type = .max }, "gguf_bad_tensor_type",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has type 4294967295, which is not known. Look for another quantisation, or a newer version of this program."#
        ),
        Case(
            "dropped type 31", { $0.tensors[1].type = 31 }, "gguf_needs_conversion",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has type 31 (Q4_0_4_4), which llama.cpp dropped for plain Q4_0. Look for another quantisation of the same model, such as Q4_0 or Q4_K_M."#
        ),
        Case(
            "PrismML's type 142", { $0.tensors[1].type = 142 }, "gguf_needs_conversion",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has type 142 (PQ2_0), which only PrismML's own llama.cpp reads. Take it in with `alcove models import FILE`, which writes it anew as Q2_0 without loss."#
        ),
        Case(
            "PrismML's type 143", { $0.tensors[1].type = 143 }, "gguf_needs_conversion",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has type 143 (PTQ1_0), which only PrismML's own llama.cpp reads. Take it in with `alcove models import FILE`, which writes it anew as Q2_0 without loss."#
        ),
        Case(
            "row that is no multiple of the block", { $0.tensors[0].shape = [63, 5] }, "gguf_bad_dimensions",
            #"tiny.gguf cannot be used: the tensor "token_embd.weight" has 63 numbers a row, and Q8_0 stores them 32 at a time. The file is damaged: download it again."#
        ),
        Case(
            "offset misaligned", { $0.tensors[1].offset = 353 }, "gguf_bad_offset",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has offset 353, which is not a multiple of the alignment 32; 352 is expected. The file is damaged: download it again."#
        ),
        Case(
            "offsets overlap", { $0.tensors[1].offset = 320 }, "gguf_bad_offset",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has offset 320, which overlaps the tensor before; 352 is expected. The file is damaged: download it again."#
        ),
        Case(
            "offset after a gap", { $0.tensors[1].offset = 384 }, "gguf_bad_offset",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has offset 384, which leaves a gap after the tensor before; 352 is expected. The file is damaged: download it again."#
        ),
        Case(
            "offset past the end", { $0.tensors[2].offset = 1 << 40 }, "gguf_bad_offset",
            #"tiny.gguf cannot be used: the tensor "blk.0.attn_q.weight" has offset 1099511627776, which lies past the end of the file; 608 is expected. The file is damaged: download it again."#
        ),
        Case(
            "offsets out of order",
            {
                $0.tensors.swapAt(0, 1); $0.tensors[0].offset = 352; $0.tensors[1].offset = 0
            }, "gguf_bad_offset",
            #"tiny.gguf cannot be used: the tensor "output_norm.weight" has offset 352, which leaves a gap after the tensor before; 0 is expected. The file is damaged: download it again."#
        ),
    ]

    static let facts = [
        Case(
            "no architecture", { $0.remove("general.architecture") }, "gguf_no_architecture",
            #"tiny.gguf does not say what it is: "general.architecture" is missing. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "architecture that is a number", { $0.set("general.architecture", .uint32(1)) }, "gguf_wrong_key_type",
            #"tiny.gguf cannot be used: "general.architecture" has type uint32 and must be a text. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "context length that is a text", { $0.set("llama.context_length", .string("4096")) }, "gguf_wrong_key_type",
            #"tiny.gguf cannot be used: "llama.context_length" has type string and must be a whole number. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "context length below 0", { $0.set("llama.context_length", .int32(-1)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.context_length" is -1, and 0 to 4294967295 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "context length 2^64-1", { $0.set("llama.context_length", .uint64(.max)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.context_length" is 18446744073709551615, and 0 to 4294967295 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "context length 0", { $0.set("llama.context_length", .uint32(0)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.context_length" is 0, and 1 to 2147483647 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "no layer count", { $0.remove("llama.block_count") }, "gguf_bad_number",
            #"tiny.gguf does not say how many layers it has: "llama.block_count" is missing. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "no layers", { $0.set("llama.block_count", .uint32(0)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.block_count" is 0, and 1 to 512 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "513 layers", { $0.set("llama.block_count", .uint32(513)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.block_count" is 513, and 1 to 512 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "heads of too few layers",
            {
                $0.set("llama.block_count", .uint32(3)); $0.set("llama.attention.head_count", .int32s([4, 4]))
            }, "gguf_bad_number",
            "tiny.gguf cannot be used: it has 3 layers and tells the heads of 2. The file was made wrong: look for another one of the same model."
        ),
        Case(
            "heads that are fractions", { $0.set("llama.attention.head_count", .floats([4, 4])) },
            "gguf_wrong_key_type",
            #"tiny.gguf cannot be used: "llama.attention.head_count" has type array of float32 and must be a whole number. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "experts, and none used", { $0.set("llama.expert_count", .uint32(8)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.expert_used_count" is 0, and 1 to 8 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "more experts used than there are",
            {
                $0.set("llama.expert_count", .uint32(8)); $0.set("llama.expert_used_count", .uint32(9))
            }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.expert_used_count" is 9, and 1 to 8 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "experts in odd groups",
            {
                $0.set("llama.expert_count", .uint32(8))
                $0.set("llama.expert_used_count", .uint32(2))
                $0.set("llama.expert_group_count", .uint32(3))
                $0.set("llama.expert_group_used_count", .uint32(1))
            }, "gguf_bad_number",
            "tiny.gguf cannot be used: its 8 experts do not part into 3 groups. The file was made wrong: look for another one of the same model."
        ),
        Case(
            "negative epsilon", { $0.set("llama.attention.layer_norm_rms_epsilon", .float(-1)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.attention.layer_norm_rms_epsilon" is -1.0, and must be a number that is not negative. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "epsilon that is no number", { $0.set("llama.attention.layer_norm_rms_epsilon", .float(.nan)) },
            "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.attention.layer_norm_rms_epsilon" is nan, and must be a number that is not negative. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "odd rope", { $0.set("llama.rope.dimension_count", .uint32(7)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.rope.dimension_count" is 7, and must be even. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "rope wider than a head",
            {
                $0.set("llama.rope.dimension_count", .uint32(18)); $0.set("llama.attention.key_length", .uint32(16))
            }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.rope.dimension_count" is 18, and 0 to 16 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "more layers shared than there are", { $0.set("llama.attention.shared_kv_layers", .uint32(2)) },
            "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.attention.shared_kv_layers" is 2, and 0 to 0 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "full attention never", { $0.set("llama.full_attention_interval", .uint32(0)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "llama.full_attention_interval" is 0, and 1 to 2147483647 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "state of two widths",
            {
                $0.set("general.architecture", .string("qwen35"))
                $0.set("qwen35.block_count", .uint32(2))
                $0.set("qwen35.ssm.inner_size", .uint32(63))
                $0.set("qwen35.ssm.state_size", .uint32(32))
                $0.set("qwen35.ssm.time_step_rank", .uint32(2))
            }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "qwen35.ssm.inner_size" is 63, and its state of 32 times 2 must be the same. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "no rope where there must be one",
            {
                $0.set("general.architecture", .string("qwen35"))
                $0.set("qwen35.block_count", .uint32(2))
                $0.set("qwen35.rope.dimension_count", .uint32(0))
            }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "qwen35.rope.dimension_count" is 0, and 2 to 2147483647 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "unknown rope scaling", { $0.set("llama.rope.scaling.type", .string("spiral\u{202E}")) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: its rope scaling "spiral?" is not known. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "template that is a number", { $0.set("tokenizer.chat_template", .uint8(1)) }, "gguf_wrong_key_type",
            #"tiny.gguf cannot be used: "tokenizer.chat_template" has type uint8 and must be a text. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "tokens that are numbers", { $0.set("tokenizer.ggml.tokens", .int32s([1])) }, "gguf_wrong_key_type",
            #"tiny.gguf cannot be used: "tokenizer.ggml.tokens" has type array of int32 and must be a list of texts. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "two tokens of one spelling",
            { $0.set("tokenizer.ggml.tokens", .strings(["<s>", "</s>", "a", "b", "a"])) }, "gguf_bad_vocabulary",
            #"tiny.gguf cannot be used: token 4 is spelled "a" like one before it. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "two tokens alike up to a zero byte",
            { $0.set("tokenizer.ggml.tokens", .strings(["<s>", "</s>", "a\0b", "b", "a"])) }, "gguf_bad_vocabulary",
            #"tiny.gguf cannot be used: token 4 is spelled "a" like one before it. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "token types of too few tokens", { $0.set("tokenizer.ggml.token_type", .int32s([1, 1])) },
            "gguf_bad_vocabulary",
            #"tiny.gguf cannot be used: it has 5 tokens, and "tokenizer.ggml.token_type" tells about 2. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "bos out of range", { $0.set("tokenizer.ggml.bos_token_id", .uint32(5)) }, "gguf_bad_token_id",
            #"tiny.gguf cannot be used: "tokenizer.ggml.bos_token_id" is 5, and its vocabulary has 5 tokens. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "eos out of range", { $0.set("tokenizer.ggml.eos_token_id", .uint32(.max)) }, "gguf_bad_token_id",
            #"tiny.gguf cannot be used: "tokenizer.ggml.eos_token_id" is 4294967295, and its vocabulary has 5 tokens. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "eot below 0", { $0.set("tokenizer.ggml.eot_token_id", .int32(-1)) }, "gguf_bad_number",
            #"tiny.gguf cannot be used: "tokenizer.ggml.eot_token_id" is -1, and 0 to 4294967295 are possible. The file was made wrong: look for another one of the same model."#
        ),
        Case(
            "part of a split model", file: "big-00002-of-00003.gguf",
            {
                $0.add("split.no", .uint16(1))
                $0.add("split.count", .uint16(3))
            }, "gguf_split",
            "big-00002-of-00003.gguf is part 2 of 3 of a split model: big-00001-of-00003.gguf, big-00002-of-00003.gguf and big-00003-of-00003.gguf belong together. Merge the parts with llama-gguf-split --merge, or get the model as one file."
        ),
        Case(
            "part of a big split model", file: "big-00002-of-00012.gguf",
            {
                $0.add("split.no", .uint16(1))
                $0.add("split.count", .uint16(12))
            }, "gguf_split",
            "big-00002-of-00012.gguf is part 2 of 12 of a split model: big-00001-of-00012.gguf to big-00012-of-00012.gguf belong together. Merge the parts with llama-gguf-split --merge, or get the model as one file."
        ),
        Case(
            "part of a split model with another name", { $0.add("split.count", .uint16(2)) }, "gguf_split",
            "tiny.gguf is part 1 of 2 of a model that was split into several files. Merge the parts with llama-gguf-split --merge, or get the model as one file."
        ),
        Case(
            "adapter",
            {
                $0.add("general.type", .string("adapter")); $0.add("general.base_model.0.name", .string("Qwen3 4B"))
            }, "gguf_adapter",
            "tiny.gguf is an adapter (LoRA) for Qwen3 4B: it changes a model and is none itself. Choose the model it was made for."
        ),
        Case(
            "projector",
            {
                $0.set("general.architecture", .string("clip"))
                $0.set("general.name", .string("SmolVLM 256M"))
                $0.add("general.type", .string("mmproj"))
                $0.add("clip.has_vision_encoder", .bool(1))
            }, "gguf_projector",
            "tiny.gguf is a projector (vision) for SmolVLM 256M: it goes beside a model and cannot answer itself. Choose the language model; the projector is given beside it."
        ),
        Case(
            "importance matrix", { $0.add("general.type", .string("imatrix")) }, "gguf_not_a_model",
            "tiny.gguf holds statistics for quantising (imatrix) and no model. Choose a file with the model's weights."),
        Case(
            "vocabulary", { $0.tensors = [] }, "gguf_vocabulary_only",
            "tiny.gguf holds a vocabulary and no weights. Choose a file of the same model that has its weights."),
        Case(
            "weights at an odd place",
            {
                $0.add("general.alignment", .uint32(1))
                $0.alignment = 1
                $0.add("x", .uint8(1))
            }, "gguf_bad_alignment",
            "tiny.gguf cannot be used: its weights begin at byte 1036, which is not a multiple of 32. The file is damaged: download it again."
        ),
    ]
}

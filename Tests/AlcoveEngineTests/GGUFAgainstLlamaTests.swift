internal import AlcoveCore
internal import AlcoveEngine
internal import Foundation
internal import Testing
internal import llama

/// The linked llama.cpp is the judge: what it says of a file, we say, and what we accept, it accepts.
struct GGUFAgainstLlamaTests {
    /// Real files: the vocabularies in llama.cpp's source, and the starter model where it has been fetched.
    static let realFiles: [String] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path()
        let folders = [root + ".deps/src/llama.cpp/models/", root + ".deps/models/"]
        return folders.flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
                .filter { $0.hasSuffix(".gguf") }.map { folder + $0 }
        }
    }()

    @Test(.enabled(if: !realFiles.isEmpty, "There are no real files: run Scripts/bootstrap."), arguments: realFiles)
    func saysWhatLlamaSays(_ path: String) throws {
        let ours = try GGUFHeader(path: path)
        let theirs = try #require(LlamaHeader(path: path))

        #expect(ours.version == gguf_get_version(theirs.raw))
        #expect(ours.alignment == UInt64(gguf_get_alignment(theirs.raw)))
        #expect(ours.dataOffset == UInt64(gguf_get_data_offset(theirs.raw)))
        #expect(ours.entries.count == Int(gguf_get_n_kv(theirs.raw)))
        for (position, entry) in ours.entries.enumerated() { try compare(entry, Int64(position), ours, theirs.raw) }
        #expect(ours.tensors.count == Int(gguf_get_n_tensors(theirs.raw)))
        for (position, tensor) in ours.tensors.enumerated() {
            let id = Int64(position)
            #expect(tensor.name == String(cString: gguf_get_tensor_name(theirs.raw, id)))
            #expect(tensor.type.id == gguf_get_tensor_type(theirs.raw, id).rawValue)
            #expect(tensor.offset == UInt64(gguf_get_tensor_offset(theirs.raw, id)))
            #expect(tensor.byteCount == UInt64(gguf_get_tensor_size(theirs.raw, id)))
            let shape = gguf_get_tensor_ne(theirs.raw, id)!  // an array inside the tensor, never null
            #expect((0..<4).allSatisfy { tensor.dimensions[$0] == UInt64(shape[$0]) })
        }
    }

    private func compare(_ entry: GGUFEntry, _ id: Int64, _ ours: GGUFHeader, _ theirs: OpaquePointer) throws {
        #expect(entry.key == String(cString: gguf_get_key(theirs, id)))
        #expect(entry.type.rawValue == gguf_get_kv_type(theirs, id).rawValue)
        switch entry.value {
        case .string(let text): #expect(text.text == String(cString: gguf_get_val_str(theirs, id)))
        case .array(let array):
            #expect(array.elementType.rawValue == gguf_get_arr_type(theirs, id).rawValue)
            #expect(array.count == UInt64(gguf_get_arr_n(theirs, id)))
            var differences = 0
            try ours.forEachString(in: array) { position, bytes in
                // Bytes, not String: Swift takes differently composed accents for equal.
                let same = gguf_get_arr_str(theirs, id, position).map {
                    bytes.count == strlen($0) && memcmp(bytes, $0, bytes.count) == 0
                }
                if same != true { differences += 1 }
                return true
            }
            #expect(differences == 0, "strings of \(entry.key)")
        default: #expect(entry.value == scalar(entry.type, id, theirs), "\(entry.key)")
        }
    }

    private func scalar(_ type: GGUFValueType, _ id: Int64, _ theirs: OpaquePointer) -> GGUFValue? {
        switch type {
        case .uint8: .unsigned(UInt64(gguf_get_val_u8(theirs, id)))
        case .int8: .signed(Int64(gguf_get_val_i8(theirs, id)))
        case .uint16: .unsigned(UInt64(gguf_get_val_u16(theirs, id)))
        case .int16: .signed(Int64(gguf_get_val_i16(theirs, id)))
        case .uint32: .unsigned(UInt64(gguf_get_val_u32(theirs, id)))
        case .int32: .signed(Int64(gguf_get_val_i32(theirs, id)))
        case .uint64: .unsigned(gguf_get_val_u64(theirs, id))
        case .int64: .signed(gguf_get_val_i64(theirs, id))
        case .float32: .float(gguf_get_val_f32(theirs, id))
        case .float64: .double(gguf_get_val_f64(theirs, id))
        case .bool: .bool(gguf_get_val_bool(theirs, id))
        case .string, .array: nil
        }
    }

    @Test func knowsEveryTensorTypeOfTheLinkedLibrary() {
        for id in 0..<UInt32(GGML_TYPE_COUNT.rawValue) {
            let type = ggml_type(rawValue: id)
            let ours = GGUFTensorType(id: id)

            let blockElements = ggml_blck_size(type)
            #expect((ours != nil) == (blockElements > 0), "type \(id)")
            if let ours {
                #expect(ours.name.lowercased() == String(cString: ggml_type_name(type)).lowercased())
                #expect(ours.blockElements == UInt64(blockElements))
                #expect(ours.blockBytes == UInt64(ggml_type_size(type)))
            }
        }
        #expect(GGUFTensorType(id: UInt32(GGML_TYPE_COUNT.rawValue)) == nil)
    }
}

/// Owns one `gguf_context` that knows the header only.
final class LlamaHeader {
    let raw: OpaquePointer

    init?(path: String) {
        ggml_log_set({ _, _, _ in }, nil)
        var tensors: OpaquePointer?
        let raw = withUnsafeMutablePointer(to: &tensors) { pointer in
            gguf_init_from_file(path, gguf_init_params(no_alloc: true, ctx: pointer))
        }
        ggml_free(tensors)
        guard let raw else { return nil }
        self.raw = raw
    }

    deinit { gguf_free(raw) }
}

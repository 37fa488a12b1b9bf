import AlcoveCore
import Testing
import llama

@testable import AlcoveEngine

/// PrismML's ternary weights as Q2_0: number by number, against a plain reading of the layout and against ggml.
struct TernaryRepackTests {
    /// Numbers of -1, 0 and 1 as a PTQ1_0 block, the way its quantiser packs them: digits most significant first, as a
    /// fraction of 256 rounded up.
    private func ptq1(_ numbers: [Int], scale: UInt16) -> [UInt8] {
        func byte(_ indices: [Int]) -> UInt8 {
            var digits = indices.reduce(0) { $0 * 3 + numbers[$1] + 1 }
            for _ in indices.count..<5 { digits *= 3 }
            return UInt8((digits * 256 + 242) / 243)
        }
        var block = (0..<16).map { m in byte((0..<5).map { $0 * 16 + m }) }
        block += (0..<8).map { m in byte((0..<5).map { 80 + $0 * 8 + m }) }
        block += (0..<2).map { m in byte((0..<4).map { 120 + $0 * 2 + m }) }
        return block + [UInt8(scale & 255), UInt8(scale >> 8)]
    }

    private func pq2(_ codes: [Int], scale: UInt16) -> [UInt8] {
        var block = [UInt8(scale & 255), UInt8(scale >> 8)]
        for byte in 0..<32 {
            var packed = 0
            for lane in 0..<4 { packed |= codes[byte * 4 + lane] << (lane * 2) }
            block.append(UInt8(packed))
        }
        return block
    }

    /// What ggml reads of Q2_0.
    private func floats(_ bytes: [UInt8]) throws -> [Float] {
        let count = bytes.count / 18 * 64
        let read = try #require(ggml_get_type_traits(GGML_TYPE_Q2_0)?.pointee.to_float)
        return [Float](unsafeUninitializedCapacity: count) { buffer, initialized in
            bytes.withUnsafeBytes { read($0.baseAddress, buffer.baseAddress, Int64(count)) }
            initialized = count
        }
    }

    @Test func everyNumberOfABlockIsWhereItWas() throws {
        var dice = SeededGenerator(seed: 3)
        let type = try #require(GGUFTensorType.repackable[143])
        var blocks: [UInt8] = [], expected: [Float] = []
        for number in 0..<200 {
            let numbers = (0..<128).map { _ in Int.random(in: -1...1, using: &dice) }
            let scale = Float16(Float(number) * 0.37 - 20)
            blocks += ptq1(numbers, scale: scale.bitPattern)
            expected += numbers.map { Float($0) * Float(scale) }
        }

        let repacked = TernaryRepack.repacked(blocks, type)

        #expect(repacked.count == 200 * 36)
        #expect(try floats(repacked) == expected)
        #expect(blocks.withUnsafeBytes { old in repacked.withUnsafeBytes { TernaryBlocks.holdTheSame(143, old, $0) } })
    }

    @Test func twoBitCodesKeepTheirOrderAndAllFourValues() throws {
        let codes = (0..<128).map { ($0 * 7 + $0 / 5) % 4 }
        let type = try #require(GGUFTensorType.repackable[142])
        let scale = Float16(0.25)

        let repacked = TernaryRepack.repacked(pq2(codes, scale: scale.bitPattern), type)

        #expect(try floats(repacked) == codes.map { Float($0 - 1) * 0.25 })
    }

    /// Bytes that no quantiser writes are read as the published decoder reads them: multiply, wrap, take the top digit.
    @Test func everyByteIsReadAsTheDecoderReadsIt() throws {
        let type = try #require(GGUFTensorType.repackable[143])
        for value in UInt8.min...UInt8.max {
            let block = [UInt8](repeating: value, count: 26) + [0x00, 0x3C]  // a scale of 1
            let repacked = TernaryRepack.repacked(block, type)
            let found = try floats(repacked)
            for number in 0..<128 {
                let place = number < 80 ? number / 16 : number < 120 ? (number - 80) / 8 : (number - 120) / 2
                let power: UInt8 = [1, 3, 9, 27, 81][place]
                let digit = Int((UInt16(value &* power) * 3) >> 8)
                #expect(found[number] == Float(digit - 1), "byte \(value), number \(number)")
            }
            #expect(
                block.withUnsafeBytes { old in repacked.withUnsafeBytes { TernaryBlocks.holdTheSame(143, old, $0) } })
        }
    }

    /// Scales are copied bit for bit, whatever they are.
    @Test(arguments: [0x0000, 0x8000, 0x0001, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0xFFFF] as [UInt16])
    func scalesAreCopiedBitForBit(scale: UInt16) throws {
        let type = try #require(GGUFTensorType.repackable[143])
        let repacked = TernaryRepack.repacked(ptq1([Int](repeating: 1, count: 128), scale: scale), type)
        for start in [0, 18] { #expect(Array(repacked[start..<start + 2]) == [UInt8(scale & 255), UInt8(scale >> 8)]) }
    }

    @Test func oneWrongNumberIsNoticed() {
        let block = ptq1((0..<128).map { $0 % 3 - 1 }, scale: 0x3C00)
        let good = TernaryRepack.repacked(block, GGUFTensorType(foreign: 143, "PTQ1_0", 128, 28))
        for byte in good.indices {
            var bad = good
            bad[byte] ^= 1
            #expect(!block.withUnsafeBytes { old in bad.withUnsafeBytes { TernaryBlocks.holdTheSame(143, old, $0) } })
        }
    }

    // MARK: Files

    /// A file with a tensor of each type among others.
    private func builder() -> GGUFBuilder {
        var builder = GGUFBuilder.tiny()
        var dice = SeededGenerator(seed: 9)
        builder.tensors = []
        func add(_ name: String, _ shape: [UInt64], type: UInt32, _ data: [UInt8]) {
            var tensor = GGUFBuilder.Tensor(name, shape, type: type)
            tensor.byteCount = data.count
            tensor.data = data
            builder.tensors.append(tensor)
        }
        func blocks(_ count: Int) -> [UInt8] {
            (0..<count).flatMap { _ in
                ptq1((0..<128).map { _ in Int.random(in: -1...1, using: &dice) }, scale: 0x3800)
            }
        }
        add("token_embd.weight", [384, 5], type: 143, blocks(15))
        add("output_norm.weight", [3], type: 0, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
        add(
            "output.weight", [128, 3], type: 142, (0..<3).flatMap { _ in pq2((0..<128).map { $0 % 4 }, scale: 0x3C00) })
        add("blk.0.attn_q.weight", [128, 9000], type: 143, blocks(9000))
        return builder
    }

    @Test func aFileIsRepackedWhole() throws {
        let folder = GGUFFolder()
        let path = folder.file(builder().bytes())
        let target = folder.file("out.gguf", [])
        #expect(TernaryRepack.isNeeded(path))
        let repack = try TernaryRepack(path: path)

        var told: [Double] = []
        try repack.write(to: target, stop: StopSignal()) { told.append($0) }

        let header = try GGUFHeader(path: target)
        let old = try GGUFHeader(path: path, readsRepackable: true)
        #expect(header.tensors.map(\.type.name) == ["Q2_0", "F32", "Q2_0", "Q2_0"])
        #expect(header.tensors.map(\.shape) == old.tensors.map(\.shape))
        #expect(header.entries.map(\.key) == old.entries.map(\.key))
        #expect(try ModelFileSummary(header).fileType == "Q2_0")
        #expect(header.fileBytes == repack.targetBytes)
        #expect(!TernaryRepack.isNeeded(target))
        #expect(told.last == 1 && told == told.sorted())
        let input = try RepackInput(target)
        let norm = try input.read(12, at: header.dataOffset + header.tensors[1].offset)
        #expect(norm == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    }

    @Test func stoppingLeavesTheLoop() throws {
        let folder = GGUFFolder()
        let repack = try TernaryRepack(path: folder.file(builder().bytes()))
        let stop = StopSignal()
        stop.set()
        #expect(throws: CancellationError.self) { try repack.write(to: folder.file("out.gguf", []), stop: stop) }
    }

    /// llama.cpp would compute with them as they are, and write noise.
    @Test func rotatedWeightsAreRefusedBeforeAnythingIsWritten() throws {
        let folder = GGUFFolder()
        var builder = builder()
        builder.add("prism.hadamard.block_size", .uint32(1024))
        let path = folder.file(builder.bytes())
        #expect {
            _ = try TernaryRepack(path: path)
        } throws: { error in
            (error as? GGUFError)?.code == "gguf_rotated_weights"
        }
        var plain = GGUFBuilder.tiny()
        plain.add("prism.hadamard.version", .uint32(1))
        let header = try GGUFHeader(path: folder.file("plain.gguf", plain.bytes()))
        #expect {
            try ModelFileSummary(header).checkLoadable(header)
        } throws: { error in
            (error as? GGUFError)?.code == "gguf_rotated_weights"
        }
    }

    @Test func aFileThatNeedsNoneIsRefused() {
        let folder = GGUFFolder()
        let path = folder.file(GGUFBuilder.tiny().bytes())
        #expect(!TernaryRepack.isNeeded(path))
        #expect(throws: GGUFError.self) { _ = try TernaryRepack(path: path) }
    }
}

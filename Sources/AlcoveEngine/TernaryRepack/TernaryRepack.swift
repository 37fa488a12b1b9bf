package import AlcoveCore

/// Writes a model whose weights are in PrismML's ternary types anew, as Q2_0: nothing of it is lost, and llama.cpp reads it.
///
/// One piece at a time, so that its memory does not grow with the file.
package struct TernaryRepack {
    private let header: GGUFHeader
    /// Bytes of a piece before and after: whole blocks of every type.
    private static let pieceBlocks = 4096

    /// - Throws: `GGUFError` when the file has no such weights, is damaged, or could not be computed with even as Q2_0.
    package init(path: String) throws(GGUFError) {
        header = try GGUFHeader(path: path, readsRepackable: true)
        try header.refuseRotatedWeights()
        guard header.tensors.contains(where: { $0.type.isRepackable }) else {
            throw GGUFError(
                .badTensorType, "\(header.fileName) has no weights that would have to be repacked.", hint: "")
        }
    }

    /// Whether a file has to be repacked before it can be loaded.
    package static func isNeeded(_ path: String) -> Bool {
        guard let header = try? GGUFHeader(path: path, readsRepackable: true) else { return false }
        return header.tensors.contains { $0.type.isRepackable }
    }

    /// Bytes of the file that will be written.
    package var targetBytes: UInt64 {
        header.dataOffset + tensors.reduce(0) { $0 + padded($1.bytes) }
    }

    /// Writes the file and reads it back.
    ///
    /// - Parameters:
    ///   - path: of a file that is not there yet, or may be written over; on failure what was written is left to the caller.
    ///   - progress: 0 to 1, from this thread.
    /// - Throws: `CancellationError`, `GGUFError`, or `InputError` when it cannot be written.
    package func write(to path: String, stop: StopSignal, progress: (Double) -> Void = { _ in }) throws {
        let source = try RepackInput(header.path)
        let target = try RepackOutput(path)
        try writeHeader(source, target)
        let all = Double(max(1, tensors.reduce(0) { $0 + $1.bytes }))
        var done = 0.0
        for tensor in tensors {
            try pieces(of: tensor, source) { old, new in
                if stop.isSet { throw CancellationError() }
                try target.write(new)
                done += Double(new.count)
                progress(done / all * 0.7)
            }
            try target.pad(to: header.alignment)
        }
        try target.finish()
        try check(path, source, stop) { progress(0.7 + 0.3 * $0) }
    }

    // MARK: What is written

    private struct Target {
        var tensor: GGUFTensor
        var type: UInt32
        var bytes: UInt64
    }

    private var tensors: [Target] {
        header.tensors.map { tensor in
            guard tensor.type.isRepackable else {
                return Target(tensor: tensor, type: tensor.type.id, bytes: tensor.byteCount)
            }
            let blocks = tensor.byteCount / tensor.type.blockBytes
            return Target(tensor: tensor, type: 42, bytes: blocks * UInt64(TernaryBlocks.outputBytes))
        }
    }

    private func padded(_ bytes: UInt64) -> UInt64 {
        (bytes + header.alignment - 1) / header.alignment * header.alignment
    }

    /// Keys as they are but for the type of the file, then the list of tensors with their new types and places.
    private func writeHeader(_ source: RepackInput, _ target: RepackOutput) throws {
        var from: UInt64 = 0
        if let place = try header.valueOffset(of: "general.file_type"), header["general.file_type"]?.type == .uint32 {
            try copy(source, from..<place, to: target)
            try target.write(littleEndian(UInt32(41)))  // LLAMA_FTYPE_MOSTLY_Q2_0
            from = place + 4
        }
        try copy(source, from..<header.tensorsOffset, to: target)
        var offset: UInt64 = 0
        for item in tensors {
            let name = Array(item.tensor.name.utf8)
            var line = littleEndian(UInt64(name.count)) + name + littleEndian(UInt32(item.tensor.dimensionCount))
            for size in item.tensor.shape { line += littleEndian(size) }
            line += littleEndian(item.type) + littleEndian(offset)
            try target.write(line)
            offset += padded(item.bytes)
        }
        try target.pad(to: header.alignment)
    }

    private func copy(_ source: RepackInput, _ range: Range<UInt64>, to target: RepackOutput) throws {
        var position = range.lowerBound
        while position < range.upperBound {
            let piece = try source.read(Int(min(1 << 18, range.upperBound - position)), at: position)
            try target.write(piece)
            position += UInt64(piece.count)
        }
    }

    /// Hands out a tensor in pieces: as it was, and as it is to be.
    private func pieces(of item: Target, _ source: RepackInput, _ body: ([UInt8], [UInt8]) throws -> Void) throws {
        let tensor = item.tensor, type = tensor.type
        let step = type.isRepackable ? UInt64(TernaryRepack.pieceBlocks) * type.blockBytes : 1 << 17
        var position: UInt64 = 0
        while position < tensor.byteCount {
            let count = min(step, tensor.byteCount - position)
            let old = try source.read(Int(count), at: header.dataOffset + tensor.offset + position)
            try body(old, type.isRepackable ? TernaryRepack.repacked(old, type) : old)
            position += count
        }
    }

    static func repacked(_ old: [UInt8], _ type: GGUFTensorType) -> [UInt8] {
        let blocks = old.count / Int(type.blockBytes)
        return [UInt8](unsafeUninitializedCapacity: blocks * TernaryBlocks.outputBytes) { output, count in
            count = blocks * TernaryBlocks.outputBytes
            let target = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[..<count])
            old.withUnsafeBytes { input in
                if type.id == 143 {
                    TernaryBlocks.repackPTQ1(input, into: target)
                } else {
                    TernaryBlocks.repackPQ2(input, into: target)
                }
            }
        }
    }

    // MARK: The check

    /// Whether what stands in the file now is what was read: every tensor, every number.
    private func check(_ path: String, _ source: RepackInput, _ stop: StopSignal, _ progress: (Double) -> Void) throws {
        let written = try GGUFHeader(path: path), input = try RepackInput(path)
        let wrong = GGUFError(
            .truncated, "The repacked copy of \(header.fileName) is not what was written: the disk may be failing.",
            hint: "Check the disk, and try again.")
        guard written.tensors.count == header.tensors.count else { throw wrong }
        for (index, item) in tensors.enumerated() {
            let new = written.tensors[index]
            guard new.name == item.tensor.name, new.shape == item.tensor.shape, new.type.id == item.type else {
                throw wrong
            }
            var position = written.dataOffset + new.offset
            try pieces(of: item, source) { old, repacked in
                if stop.isSet { throw CancellationError() }
                let found = try input.read(repacked.count, at: position)
                position += UInt64(found.count)
                let isSame =
                    item.tensor.type.isRepackable
                    ? old.withUnsafeBytes { old in
                        found.withUnsafeBytes { TernaryBlocks.holdTheSame(item.tensor.type.id, old, $0) }
                    } : old == found
                guard isSame else { throw wrong }
            }
            progress(Double(index + 1) / Double(tensors.count))
        }
    }
}

private func littleEndian<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

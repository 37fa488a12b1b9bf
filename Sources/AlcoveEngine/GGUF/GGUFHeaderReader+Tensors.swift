extension GGUFHeaderReader {
    /// The list of tensors and where their data begins, each tensor directly after the one before.
    func readTensors(
        _ count: UInt64, alignment: UInt64
    ) throws(GGUFError) -> (tensors: [GGUFTensor], dataOffset: UInt64) {
        var tensors: [GGUFTensor] = []
        tensors.reserveCapacity(Int(count))
        var names: Set<String> = []
        var expectedOffset: UInt64 = 0
        var dataBytes: UInt64 = 0
        for number in 0..<count {
            let tensor = try readTensor(number: number, alignment: alignment, expectedOffset: expectedOffset)
            guard names.insert(tensor.name).inserted else {
                throw fault(
                    .duplicateTensor,
                    "the tensor \"\(tensor.name)\" is there twice, the second time as tensor \(number)")
            }
            let (end, overflow) = tensor.offset.addingReportingOverflow(tensor.byteCount)
            guard !overflow, let padded = padded(end, to: alignment) else {
                throw fault(.badDimensions, "the tensor \"\(tensor.name)\" would end past what 64 bits can count")
            }
            dataBytes = end
            expectedOffset = padded
            tensors.append(tensor)
        }
        try checkHeaderSize()
        guard count > 0 else { return (tensors, source.position) }
        guard let dataOffset = padded(source.position, to: alignment), dataOffset <= source.size,
            dataBytes <= source.size - dataOffset
        else { throw dataCutShort(tensors, alignment: alignment) }
        return (tensors, dataOffset)
    }

    private func readTensor(
        number: UInt64, alignment: UInt64, expectedOffset: UInt64
    ) throws(GGUFError) -> GGUFTensor {
        let name = try readTensorName(number: number)
        let (dimensionCount, dimensions) = try readShape(of: name)
        let type = try readTensorType(of: name)
        guard dimensions[0] % type.blockElements == 0 else {
            throw fault(
                .badDimensions,
                "the tensor \"\(name)\" has \(dimensions[0]) numbers a row, and \(type.name) stores them "
                    + "\(type.blockElements) at a time")
        }
        let blocks = dimensions[0] / type.blockElements * dimensions[1] * dimensions[2] * dimensions[3]
        let (byteCount, overflow) = blocks.multipliedReportingOverflow(by: type.blockBytes)
        guard !overflow else {
            throw fault(.badDimensions, "the tensor \"\(name)\" has more bytes than 64 bits can count")
        }
        let offset = try integer(UInt64.self, "the offset of the tensor \"\(name)\"")
        try check(offset: offset, of: name, alignment: alignment, expected: expectedOffset)
        return GGUFTensor(
            name: name, type: type, dimensionCount: dimensionCount, dimensions: dimensions, offset: offset,
            byteCount: byteCount)
    }

    private func readTensorName(number: UInt64) throws(GGUFError) -> String {
        let start = source.position
        let length = try integer(UInt64.self, "the length of the name of tensor \(number)")
        guard length > 0 else { throw fault(.badTensorName, "tensor \(number) at byte \(start) has no name") }
        guard length <= Self.longestTensorName else {
            throw fault(
                .badTensorName,
                "the name of tensor \(number) at byte \(start) is \(length) bytes long, and a name has at "
                    + "most \(Self.longestTensorName)")
        }
        let bytes = try bytes(length, "the name of tensor \(number)")
        // llama.cpp would end the name at a zero byte and then find two tensors of one name.
        guard let name = String(validating: bytes, as: UTF8.self), name.unicodeScalars.allSatisfy(GGUFName.isHarmless)
        else {
            throw fault(
                .badTensorName,
                "the name of tensor \(number) at byte \(start) has bytes that no name has: "
                    + "\"\(GGUFName.shown(bytes: bytes))\"")
        }
        return name
    }

    private func readShape(of name: String) throws(GGUFError) -> (count: UInt8, dimensions: SIMD4<UInt64>) {
        let count = try integer(UInt32.self, "the number of dimensions of the tensor \"\(name)\"")
        guard (1...4).contains(count) else {
            throw fault(.badDimensions, "the tensor \"\(name)\" has \(count) dimensions, and 1 to 4 are possible")
        }
        var dimensions = SIMD4<UInt64>(repeating: 1)
        var elements: UInt64 = 1
        for position in 0..<Int(count) {
            let size = try integer(UInt64.self, "dimension \(position) of the tensor \"\(name)\"")
            guard size > 0, size <= UInt64(Int64.max) else {
                throw fault(
                    .badDimensions,
                    "dimension \(position) of the tensor \"\(name)\" is \(Int64(bitPattern: size)), and "
                        + "must be at least 1")
            }
            dimensions[position] = size
            let (product, overflow) = elements.multipliedReportingOverflow(by: size)
            guard !overflow, product <= UInt64(Int64.max) else {
                throw fault(.badDimensions, "the tensor \"\(name)\" has more numbers than 63 bits can count")
            }
            elements = product
        }
        return (UInt8(count), dimensions)
    }

    private func readTensorType(of name: String) throws(GGUFError) -> GGUFTensorType {
        let id = try integer(UInt32.self, "the type of the tensor \"\(name)\"")
        if let type = GGUFTensorType(id: id) { return type }
        if readsRepackable, let type = GGUFTensorType.repackable[id] { return type }
        if let (foreign, why) = GGUFTensorType.foreign(id: id) {
            let hint = GGUFTensorType.repackable[id].map { _ in
                "Take it in with `alcove models import FILE`, which writes it anew as Q2_0 without loss."
            }
            throw fault(.needsConversion, "the tensor \"\(name)\" has type \(id) (\(foreign)), \(why)", hint: hint)
        }
        throw fault(.badTensorType, "the tensor \"\(name)\" has type \(id), which is not known")
    }

    /// llama.cpp wants tensors without gaps and in order, so any other offset is a fault; the sentence says which.
    private func check(
        offset: UInt64, of name: String, alignment: UInt64, expected: UInt64
    ) throws(GGUFError) {
        guard offset != expected else { return }
        let how =
            if offset > source.size {
                "lies past the end of the file"
            } else if offset % alignment != 0 {
                "is not a multiple of the alignment \(alignment)"
            } else if offset < expected {
                "overlaps the tensor before"
            } else {
                "leaves a gap after the tensor before"
            }
        throw fault(.badOffset, "the tensor \"\(name)\" has offset \(offset), which \(how); \(expected) is expected")
    }

    private func padded(_ offset: UInt64, to alignment: UInt64) -> UInt64? {
        let (sum, overflow) = offset.addingReportingOverflow(alignment - 1)
        return overflow ? nil : sum & ~(alignment - 1)
    }

    /// Names the first tensor that is not all there.
    private func dataCutShort(_ tensors: [GGUFTensor], alignment: UInt64) -> GGUFError {
        let start = padded(source.position, to: alignment) ?? source.position
        let left = start <= source.size ? source.size - start : 0
        // Offsets and sizes were added without overflow when they were read.
        let last = tensors[tensors.count - 1]
        let lost = tensors.first { $0.offset + $0.byteCount > left } ?? last
        return GGUFError(
            .truncated,
            "\(source.name) is cut short: it ends at byte \(source.size), inside the weights "
                + "\"\(lost.name)\", and all its weights need \(last.offset + last.byteCount) bytes from byte \(start) on."
        )
    }
}

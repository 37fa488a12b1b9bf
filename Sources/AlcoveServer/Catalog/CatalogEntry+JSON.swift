package import AlcoveCore
internal import AlcoveDownloads

extension CatalogEntry {
    /// Reads an entry of the person's own catalogue. Members nobody knows are left alone.
    package init(json: JSONValue) throws(InputError) {
        guard json.object != nil else { throw CatalogFault.wrong("It", "a JSON object") }
        let reader = MemberReader(json)
        id = try reader.text("id")
        guard CatalogEntry.isID(id) else {
            throw CatalogFault.wrong(
                "\"id\"", "1 to 64 of a-z, 0-9, point, hyphen and underscore, beginning with a letter or digit")
        }
        name = try reader.text("name")
        family = try reader.text("family", default: "")
        parameters = try reader.text("parameters", default: "")
        quantization = try reader.text("quantization", default: "")
        notes = try reader.text("notes", default: "")
        license = try reader.text("license", default: "")
        kind = try reader.choice("kind", default: .dense)
        modalities = try reader.modalities()
        minDeviceMemoryGB = try reader.number("minDeviceMemoryGB", in: 1...1_048_576, default: 4)
        contextLength = try reader.number("contextLength", in: 0...4_194_304, default: 0)
        cacheBytesPerToken = try reader.number("cacheBytesPerToken", in: 0...1 << 30, default: -1)
        if cacheBytesPerToken == -1 { cacheBytesPerToken = nil }
        cacheType = try reader.text("kvCacheDtype", default: "f16")
        guard MemoryEstimate.cacheBits[cacheType] != nil else {
            throw CatalogFault.wrong("\"kvCacheDtype\"", MemoryEstimate.cacheBits.keys.sorted().joined(separator: ", "))
        }
        sampling = try reader.sampling()
        lora = try reader.paths("lora")
        thinks = try reader.flag("supportsThinking")
        sideloadOnly = try reader.flag("sideloadOnly")
        experimental = try reader.flag("experimental")
        origin = .own
        guard let list = json["files"]?.array, (1...16).contains(list.count) else {
            throw CatalogFault.wrong("\"files\"", "a list of 1 to 16 files")
        }
        files = []
        for item in list {
            let file = try CatalogFile(json: item, mayLackURL: sideloadOnly)
            guard !files.contains(where: { $0.name.lowercased() == file.name.lowercased() }) else {
                throw InputError(code: "catalog_bad_file", message: "The file \"\(file.name)\" is listed twice.")
            }
            files.append(file)
        }
        guard files.filter({ $0.role == .weights && !$0.isOptional }).count == 1,
            files.filter({ $0.role == .weights }).count == 1
        else { throw CatalogFault.wrong("\"files\"", "a list with exactly one file of role Weights, not optional") }
    }

    /// A folder of that name is made, so it must be a plain one on every disk.
    static func isID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...64).contains(bytes.count), isLetterOrDigit(bytes[0]), bytes.last != UInt8(ascii: ".") else {
            return false
        }
        return bytes.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension CatalogFile {
    init(json: JSONValue, mayLackURL: Bool) throws(InputError) {
        guard json.object != nil else { throw CatalogFault.wrong("Each of \"files\"", "a JSON object") }
        let reader = MemberReader(json)
        role = try reader.choice("role", default: .weights)
        name = try reader.text("name")
        guard CatalogFile.isName(name) else {
            throw InputError(
                code: "catalog_bad_file",
                message:
                    "\"\(name.prefix(80))\" cannot be the name of a file here: a plain name that ends in .gguf is needed."
            )
        }
        let text = try reader.text("url", default: "")
        url = text.isEmpty ? nil : text
        if url == nil, !mayLackURL { throw CatalogFault.wrong("\"url\" of \(name)", "an https address") }
        if let url {
            do {
                let address = try WebAddress(url)
                guard address.credentials == nil else {
                    throw CatalogFault.wrong("\"url\" of \(name)", "an address without a password")
                }
            } catch let error as InputError {
                throw error
            } catch {
                throw CatalogFault.wrong("\"url\" of \(name)", "an http or https address")
            }
        }
        bytes = UInt64(try reader.number("bytes", in: 1...1 << 50))
        let hash = try reader.text("sha256").lowercased()
        guard hash.utf8.count == 64, hash.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            throw CatalogFault.wrong("\"sha256\" of \(name)", "64 hexadecimal digits")
        }
        sha256 = hash
        isOptional = try reader.flag("optional")
        ownPath = nil
    }

    static func isName(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return (6...200).contains(bytes.count) && bytes[0] != UInt8(ascii: ".") && name.lowercased().hasSuffix(".gguf")
            && name.unicodeScalars.allSatisfy { scalar in
                !"/\\:*?\"<>|".unicodeScalars.contains(scalar) && scalar.properties.generalCategory != .control
                    && scalar.properties.generalCategory != .format
            }
    }
}

private enum CatalogFault {
    static func wrong(_ what: String, _ expected: String) -> InputError {
        InputError(code: "catalog_bad_entry", message: "\(what) should be \(expected).")
    }
}

/// Reads members of an object with the types they must have.
private struct MemberReader {
    let json: JSONValue

    init(_ json: JSONValue) { self.json = json }

    private func member(_ key: String) -> JSONValue? { json[key].flatMap { $0.isNull ? nil : $0 } }

    func text(_ key: String, default usual: String? = nil) throws(InputError) -> String {
        guard let value = member(key) else {
            if let usual { return usual }
            throw CatalogFault.wrong("\"\(key)\"", "there")
        }
        guard let text = value.string, text.utf8.count <= 2_000, usual != nil || !text.isEmpty else {
            throw CatalogFault.wrong("\"\(key)\"", "a text of at most 2000 bytes")
        }
        return text
    }

    func flag(_ key: String) throws(InputError) -> Bool {
        guard let value = member(key) else { return false }
        guard let flag = value.bool else { throw CatalogFault.wrong("\"\(key)\"", "true or false") }
        return flag
    }

    func number(_ key: String, in range: ClosedRange<Int>, default usual: Int? = nil) throws(InputError) -> Int {
        guard let value = member(key) else {
            if let usual { return usual }
            throw CatalogFault.wrong("\"\(key)\"", "there")
        }
        guard let number = value.int, range.contains(number) else {
            throw CatalogFault.wrong("\"\(key)\"", "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default usual: Choice
    ) throws(InputError) -> Choice where Choice.RawValue == String {
        guard let value = member(key) else { return usual }
        guard let choice = Choice.allCases.first(where: { $0.rawValue.lowercased() == value.string?.lowercased() })
        else {
            throw CatalogFault.wrong("\"\(key)\"", Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// A list, or the comma-separated text that entries are shown with.
    func modalities() throws(InputError) -> [CatalogEntry.Modality] {
        guard let value = member("modalities") else { return [] }
        let names = value.array?.map { $0.string ?? "" } ?? value.string?.split(separator: ",").map(String.init)
        var found: [CatalogEntry.Modality] = []
        for name in names ?? ["?"] {
            let name = name.filter { !$0.isWhitespace }.lowercased()
            if name == "text" { continue }
            guard let modality = CatalogEntry.Modality.allCases.first(where: { $0.rawValue.lowercased() == name })
            else { throw CatalogFault.wrong("\"modalities\"", "a list of Image, Audio, Video") }
            found.append(modality)
        }
        return found
    }

    /// Whole paths of this device; one may stand alone.
    func paths(_ key: String) throws(InputError) -> [String] {
        guard let value = member(key) else { return [] }
        let found = value.string.map { [$0] } ?? value.array?.compactMap(\.string) ?? []
        guard (1...16).contains(found.count), value.array.map({ $0.count == found.count }) ?? true,
            found.allSatisfy({ $0.hasPrefix("/") && !$0.utf8.contains(0) })
        else { throw CatalogFault.wrong("\"\(key)\"", "a whole path, beginning with /, or a list of 1 to 16 such") }
        return found
    }

    func sampling() throws(InputError) -> SamplingOptions? {
        guard let value = member("sampling") else { return nil }
        guard value.object != nil else { throw CatalogFault.wrong("\"sampling\"", "a JSON object") }
        let reader = MemberReader(value)
        var options = SamplingOptions()
        options.temperature = try reader.fraction("temperature", in: 0...5, default: options.temperature)
        options.topK = try reader.number("topK", in: 0...1_000_000, default: options.topK)
        options.topP = try reader.fraction("topP", in: 0...1, default: options.topP)
        options.minP = try reader.fraction("minP", in: 0...1, default: options.minP)
        return options
    }

    private func fraction(_ key: String, in range: ClosedRange<Float>, default usual: Float) throws(InputError) -> Float
    {
        guard let value = member(key) else { return usual }
        let number: Double? =
            switch value {
            case .integer(let whole): Double(whole)
            case .double(let double): double
            default: nil
            }
        guard let number, range.contains(Float(number)) else {
            throw CatalogFault.wrong("\"\(key)\"", "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return Float(number)
    }
}

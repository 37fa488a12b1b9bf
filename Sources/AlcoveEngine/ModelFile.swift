public import AlcoveCore

/// A look at a file before llama.cpp sees it.
public enum ModelFile {
    /// Refuses by name what is malformed or no language model.
    ///
    /// - Throws: `EngineError` when there is no such file, `GGUFError` for what is in it.
    public static func check(_ path: String) throws {
        let header = try header(path)
        try ModelFileSummary(header).checkLoadable(header)
    }

    /// Refuses what would not fit even once everything this process holds was given back.
    ///
    /// - Throws: `EngineError.tooLittleMemory` with both numbers.
    public static func checkMemory(_ path: String, cacheType: CacheType = .f16) throws {
        let reading = MemoryReading.current
        let admission = MemoryAdmission(need: try MemoryNeed(header(path), cacheType: cacheType)) { reading.spareBytes }
        try admission.checkLoad(path, returning: reading.residentBytes)
    }

    /// One line: architecture, parameters, quantisation, context.
    public static func about(_ path: String) throws -> String {
        let header = try header(path)
        let summary = try ModelFileSummary(header)
        try summary.checkLoadable(header)
        var words = [summary.architecture ?? "unknown"]
        words.append("\(summary.parameterCount / 1_000_000) M parameters")
        if let context = summary.contextLength { words.append("\(context) tokens") }
        return words.joined(separator: ", ")
    }

    /// The header as JSON (`alcove inspect --json`).
    public static func inspection(_ path: String) throws -> JSONValue {
        _ = try header(path)
        return try ModelInspection.json(path: path)
    }

    /// The header as a table for people.
    public static func inspectionText(_ path: String) throws -> String {
        _ = try header(path)
        return try ModelInspection.text(path: path)
    }

    private static func header(_ path: String) throws -> GGUFHeader {
        guard access(path, F_OK) == 0 else { throw EngineError.modelMissing(path: path) }
        return try GGUFHeader(path: path)
    }
}

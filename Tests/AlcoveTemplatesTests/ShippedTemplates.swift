import AlcoveCore

/// The chat templates that ship with llama.cpp, as the bootstrap puts them.
enum ShippedTemplates {
    struct Missing: Error { let path: String }

    static var folder: String {
        let file = #filePath
        return file.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/.deps/llama-testdata/templates"
    }

    static func source(_ name: String) throws -> String {
        let path = "\(folder)/\(name).jinja"
        guard let file = fopen(path, "rb") else { throw Missing(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}

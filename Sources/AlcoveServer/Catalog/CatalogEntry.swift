package import AlcoveCore

/// A model that can be had: what it is, which files it is made of, what it asks of a device.
package struct CatalogEntry: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case dense = "Dense"
        case mixtureOfExperts = "MixtureOfExperts"
        case diffusion = "Diffusion"
    }

    package enum Modality: String, Sendable, CaseIterable {
        case image = "Image"
        case audio = "Audio"
        case video = "Video"
    }

    package enum Origin: String, Sendable {
        case builtIn, own
        /// Came with the program; there is nothing to download and nothing to delete.
        case embedded
    }

    package var id: String
    package var name: String
    package var family = ""
    package var parameters = ""
    package var quantization = ""
    package var kind = Kind.dense
    package var modalities: [Modality] = []
    package var files: [CatalogFile]
    package var minDeviceMemoryGB = 4
    /// Tokens of one chat; 0 leaves it to the file.
    package var contextLength = 0
    /// The storage of keys and values the entry is meant for: `f16`, `q8_0`, `q4_0`.
    package var cacheType = "f16"
    /// Bytes of keys and values of one token at 16 bits; nil while nobody knows.
    package var cacheBytesPerToken: Int?
    package var sampling: SamplingOptions?
    /// LoRA adapters of this device that are loaded with it: whole paths, each with `:SCALE` behind it where that is not 1.
    package var lora: [String] = []
    package var thinks = false
    package var sideloadOnly = false
    package var experimental = false
    package var notes = ""
    package var license = ""
    package var origin = Origin.builtIn

    /// The file that is loaded; every entry has exactly one.
    package var weights: CatalogFile { files.first { $0.role == .weights }! }  // checked where entries are made
    package var requiredFiles: [CatalogFile] { files.filter { !$0.isOptional } }
    package var requiredBytes: UInt64 { requiredFiles.reduce(0) { $0 + $1.bytes } }
    package var canBeDownloaded: Bool { origin != .embedded && !sideloadOnly }

    /// The required files and those optional ones of the roles that are wanted.
    package func files(with roles: Set<CatalogFile.Role>) -> [CatalogFile] {
        files.filter { !$0.isOptional || roles.contains($0.role) }
    }
}

/// One file of a model.
package struct CatalogFile: Sendable, Hashable {
    package enum Role: String, Sendable, CaseIterable {
        case weights = "Weights"
        /// Makes embeddings of pictures or sound (mmproj).
        case projector = "Projector"
        /// A small model that guesses ahead.
        case draft = "Draft"
    }

    package var role: Role
    /// Its name in the entry's folder.
    package var name: String
    /// Nil for what cannot be downloaded.
    package var url: String?
    package var bytes: UInt64
    /// In lower-case hexadecimal; nil for what came with the program.
    package var sha256: String?
    package var isOptional = false
    /// Where it lies when that is not the entry's folder.
    package var ownPath: String?
}

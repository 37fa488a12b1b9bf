package import AlcoveCore

/// Why a model file is refused before the engine sees it.
package struct GGUFError: UserFacingError, Hashable {
    /// What is wrong, for programs; the raw value is the code on every surface and never changes its meaning.
    package enum Reason: String, CaseIterable, Sendable {
        // The file as such.
        case missing = "gguf_missing"
        case unreadable = "gguf_unreadable"
        case notAFile = "gguf_not_a_file"
        case unfinishedDownload = "gguf_unfinished_download"
        // Files of another kind.
        case empty = "gguf_empty"
        case webPage = "gguf_web_page"
        case archive = "gguf_archive"
        case safetensors = "gguf_safetensors"
        case lfsPointer = "gguf_lfs_pointer"
        case oldFormat = "gguf_old_format"
        case badMagic = "gguf_bad_magic"
        case bigEndian = "gguf_big_endian"
        case unsupportedVersion = "gguf_unsupported_version"
        // Damage.
        case truncated = "gguf_truncated"
        case badCount = "gguf_bad_count"
        case badLength = "gguf_bad_length"
        case headerTooLarge = "gguf_header_too_large"
        case badKey = "gguf_bad_key"
        case duplicateKey = "gguf_duplicate_key"
        case badValueType = "gguf_bad_value_type"
        case nestedArray = "gguf_nested_array"
        case badBool = "gguf_bad_bool"
        case badAlignment = "gguf_bad_alignment"
        case badTensorName = "gguf_bad_tensor_name"
        case duplicateTensor = "gguf_duplicate_tensor"
        case badDimensions = "gguf_bad_dimensions"
        case badTensorType = "gguf_bad_tensor_type"
        case needsConversion = "gguf_needs_conversion"
        case rotatedWeights = "gguf_rotated_weights"
        case badOffset = "gguf_bad_offset"
        case trailingBytes = "gguf_trailing_bytes"
        // Sound files that say something impossible, or are no model to talk to.
        case wrongKeyType = "gguf_wrong_key_type"
        case badNumber = "gguf_bad_number"
        case badTokenID = "gguf_bad_token_id"
        case badVocabulary = "gguf_bad_vocabulary"
        case noArchitecture = "gguf_no_architecture"
        case split = "gguf_split"
        case adapter = "gguf_adapter"
        case projector = "gguf_projector"
        case wrongProjector = "gguf_wrong_projector"
        case notAModel = "gguf_not_a_model"
        case vocabularyOnly = "gguf_vocabulary_only"
    }

    package let reason: Reason
    package let message: String
    package let hint: String?

    package var code: String { reason.rawValue }
    package var place: ErrorPlace { .data }

    /// - Parameter hint: what to try; nil takes the usual advice for the reason.
    package init(_ reason: Reason, _ message: String, hint: String? = nil) {
        self.reason = reason
        self.message = message
        self.hint = hint ?? reason.hint
    }
}

extension GGUFError.Reason {
    /// What to try, where the file at hand does not suggest something better.
    package var hint: String? {
        switch self {
        case .missing: "Check the path, or list the models with: alcove models"
        case .unreadable: "Check that you may read it."
        case .notAFile: "Name the .gguf file itself."
        case .unfinishedDownload: "Let the download finish, or start it again to resume."
        case .empty: "Download it again."
        case .truncated: "Perhaps its download did not finish: download it again."
        case .webPage: "The download was answered by a page, perhaps a sign-in: open the address in a browser."
        case .archive: "Unpack it and choose the .gguf file inside."
        case .safetensors: "Look for the same model as GGUF, or convert it with llama.cpp's convert_hf_to_gguf.py."
        case .lfsPointer: "Fetch the real file with: git lfs pull"
        case .oldFormat: "Look for a newer GGUF file of the same model."
        case .badMagic: "Choose a file that ends in .gguf; if this one should be a model, download it again."
        case .bigEndian: "Look for the usual little-endian file of the same model."
        case .unsupportedVersion: "Look for another file of the same model, or a newer version of this program."
        case .badTensorType: "Look for another quantisation, or a newer version of this program."
        case .needsConversion: "Look for another quantisation of the same model, such as Q4_0 or Q4_K_M."
        case .rotatedWeights: "Look for a copy of the model that is not rotated, or another model."
        case .noArchitecture, .badVocabulary, .badTokenID, .wrongKeyType, .badNumber:
            "The file was made wrong: look for another one of the same model."
        case .split: "Merge the parts with llama-gguf-split --merge, or get the model as one file."
        case .adapter: "Choose the model it was made for."
        case .projector: "Choose the language model; the projector is given beside it."
        case .wrongProjector: "Get the projector that was published with this model."
        case .notAModel: "Choose a file with the model's weights."
        case .vocabularyOnly: "Choose a file of the same model that has its weights."
        default: "The file is damaged: download it again."
        }
    }
}

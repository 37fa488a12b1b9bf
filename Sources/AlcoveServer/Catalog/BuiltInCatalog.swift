internal import AlcoveCore

/// The models Alcove knows by itself, with the very files: a changed one at the source is refused, not loaded.
enum BuiltInCatalog {
    static let entries: [CatalogEntry] = [
        CatalogEntry(
            id: "gemma-4-e2b-q8", name: "Gemma 4 E2B", family: "Gemma 4", parameters: "E2B", quantization: "Q8_0",
            modalities: [.image, .audio, .video],
            files: [
                hub(
                    .weights, "ggml-org/gemma-4-E2B-it-GGUF", "gemma-4-E2B-it-Q8_0.gguf", 4_967_497_152,
                    "996d08777aadc6bfd3c7375ef70ba25a0f55240075860754fdb18d6d860aa63a"),
                hub(
                    .projector, "ggml-org/gemma-4-E2B-it-GGUF", "mmproj-gemma-4-E2B-it-Q8_0.gguf", 557_368_064,
                    "9406f99c16d68cda4f1f0552192dcc99021ea1fc6d2fd50b1dc3ccf30d04b292"),
            ],
            minDeviceMemoryGB: 12, contextLength: 8_192, sampling: sampling(1, 64, 0.95, 0), thinks: true,
            license: "Gemma"),
        CatalogEntry(
            id: "gemma-4-e4b-iq4xs", name: "Gemma 4 E4B", family: "Gemma 4", parameters: "E4B",
            quantization: "IQ4_XS", modalities: [.image, .audio, .video],
            files: [
                hub(
                    .weights, "unsloth/gemma-4-E4B-it-GGUF", "gemma-4-E4B-it-IQ4_XS.gguf", 4_715_416_704,
                    "0847f7300471e9a61abaeb46b45b3d61e393af8fa6d6aa70c563623773670dd9"),
                hub(
                    .projector, "ggml-org/gemma-4-E4B-it-GGUF", "mmproj-gemma-4-E4B-it-Q8_0.gguf", 559_874_816,
                    "197f49a93027f9843772bd24a6a9e0be2a32a788de5a3def330e9c585d86edd1"),
                hub(
                    .draft, "ggml-org/gemma-4-E4B-it-GGUF", "mtp-gemma-4-E4B-it-Q8_0.gguf", 98_653_280,
                    "f38ae62962657c7a6303c49bbb147e9ae23634e911cfa532fac0818c2e18b665", isOptional: true),
            ],
            minDeviceMemoryGB: 12, contextLength: 8_192, sampling: sampling(1, 64, 0.95, 0), thinks: true,
            license: "Gemma"),
        CatalogEntry(
            id: "gemma-4-12b-iq2m", name: "Gemma 4 12B", family: "Gemma 4", parameters: "12B",
            quantization: "UD-IQ2_M", modalities: [.image, .video],
            files: [
                hub(
                    .weights, "unsloth/gemma-4-12b-it-GGUF", "gemma-4-12b-it-UD-IQ2_M.gguf", 4_213_353_280,
                    "4bd2461d35398dbcf5f3d5f0c9ad91cac78ae35b556e3a81f315a0cc0815ae8c"),
                hub(
                    .projector, "unsloth/gemma-4-12b-it-GGUF", "mmproj-F16.gguf", 175_115_840,
                    "91f086971e56d7a7d8d39e271873fccdb49541bd259d6e02c401a4f1cb7a219e", isOptional: true),
                hub(
                    .draft, "unsloth/gemma-4-12b-it-GGUF", "mtp-gemma-4-12b-it.gguf", 465_109_248,
                    "145db9094bc0f85f1701e255a2ed216dcc9800fc8bc8631ad00905b456bd451b", isOptional: true),
            ],
            minDeviceMemoryGB: 12, contextLength: 32_768, sampling: sampling(1, 64, 0.95, 0), thinks: true,
            license: "Gemma"),
        CatalogEntry(
            id: "bonsai-2-27b-ptq1-0", name: "Bonsai 2 27B", family: "Bonsai", parameters: "27B",
            quantization: "PTQ1_0", modalities: [.image],
            files: [
                hub(
                    .weights, "prism-ml/Ternary-Bonsai-2-27B-gguf", "Ternary-Bonsai-2-27B-PTQ1_0.gguf", 5_946_648_928,
                    "53107f530aa52eb00912263ab1ee29bd199261c87cd7b4ad4ca1318c1fe33ee3"),
                hub(
                    .projector, "prism-ml/Ternary-Bonsai-2-27B-gguf", "Ternary-Bonsai-2-27B-mmproj-Q8_0.gguf",
                    629_246_976, "6807ede61d570bb86ba34b756a0fa109edc33668604de867c6ea6d8f1d631903",
                    isOptional: true),
            ],
            minDeviceMemoryGB: 16, contextLength: 32_768, cacheType: "q8_0", sampling: sampling(1, 20, 0.95, 0.05),
            thinks: true, experimental: true,
            notes:
                "Its weights are rotated, which the engine of this version does not turn back: it can be downloaded, not loaded.",
            license: "Apache-2.0"),
        CatalogEntry(
            id: "qwen3.5-9b-iq4xs", name: "Qwen3.5 9B", family: "Qwen 3.5", parameters: "9B", quantization: "IQ4_XS",
            modalities: [.image, .video],
            files: [
                hub(
                    .weights, "unsloth/Qwen3.5-9B-GGUF", "Qwen3.5-9B-IQ4_XS.gguf", 5_168_653_536,
                    "7e918aeca06c52bcb528ea6b04b4ec957e75ee8c0a73138854c0dfcf371ea429"),
                hub(
                    .projector, "unsloth/Qwen3.5-9B-GGUF", "mmproj-F16.gguf", 918_166_080,
                    "f70dc3509053962b0d0d3ee8a7eacebf5d60aa560cad78254ae8698516ae029f", isOptional: true),
            ],
            minDeviceMemoryGB: 12, contextLength: 32_768, cacheType: "q8_0", sampling: sampling(0.7, 20, 0.8, 0),
            thinks: true, license: "Apache-2.0"),
    ]

    /// The model that came with the program, so that the first answer needs no network.
    static func starter(path: String) -> CatalogEntry {
        var status = stat()
        let bytes = stat(path, &status) == 0 ? UInt64(status.st_size) : 0
        return CatalogEntry(
            id: starterID, name: "SmolLM2 135M Instruct", family: "SmolLM2", parameters: "135M",
            quantization: "Q8_0",
            files: [
                CatalogFile(role: .weights, name: fileName(path), url: nil, bytes: bytes, sha256: nil, ownPath: path)
            ],
            minDeviceMemoryGB: 4, sampling: sampling(0.2, 0, 0.9, 0),
            notes: "Very small: for a first answer and for trying things, not for work.", license: "Apache-2.0",
            origin: .embedded)
    }

    static let starterID = "smollm2-135m-q8"

    private static func hub(
        _ role: CatalogFile.Role, _ repository: String, _ name: String, _ bytes: UInt64, _ sha256: String,
        isOptional: Bool = false
    ) -> CatalogFile {
        CatalogFile(
            role: role, name: name, url: "https://huggingface.co/\(repository)/resolve/main/\(name)", bytes: bytes,
            sha256: sha256, isOptional: isOptional)
    }

    private static func sampling(_ temperature: Float, _ topK: Int, _ topP: Float, _ minP: Float) -> SamplingOptions {
        var options = SamplingOptions()
        options.temperature = temperature
        options.topK = topK
        options.topP = topP
        options.minP = minP
        return options
    }
}

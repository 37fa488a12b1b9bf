internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

/// A model file without a chat template, and one whose template is not to be used.
struct TemplateFallbackTests {
    @Test func aFileWithoutATemplateGetsChatMLAndSaysSo() async throws {
        let engine = try await LlamaEngine.loadVocabulary(path: VocabularyFile.llamaBPE.path)
        let reference = try ReferenceVocabulary(VocabularyFile.llamaBPE.path)

        let tokens = try engine.tokenize([Message(role: .user, content: "Hi")]).tokens

        #expect(engine.notices.count == 1)
        #expect(engine.notices.first?.contains("no chat template") == true)
        #expect(reference.text(of: tokens).hasSuffix("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"))
    }
}

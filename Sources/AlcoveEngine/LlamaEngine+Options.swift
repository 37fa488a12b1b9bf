public import AlcoveCore

extension LlamaEngine {
    /// How a model is loaded and used.
    public struct Options: Sendable {
        /// Most tokens of one chat, prompt and answer together; nil is the model's own length, at most 8,192.
        public var contextLength: Int?
        /// Threads that compute; nil is one a core, and more are not used: ggml's threads spin while they wait for each
        /// other, so that more of them than cores hardly get anywhere.
        public var threads: Int?
        /// How keys and values are kept; a model that cannot keep them so gets 16 bits, and a notice.
        public var cacheType = CacheType.f16
        /// Where beginnings of prompts are kept for the next start; nil keeps them in memory only.
        public var checkpointFolder: String?
        /// How the model should be sampled, where a request does not say; nil is what the file says.
        public var sampling: SamplingOptions?
        /// Most answers computed at once; each has room for a whole chat.
        public var sequences = EngineLoop.Options.usualSequences
        /// Guesses tokens ahead whatever it costs; for tests and for measuring.
        package var alwaysSpeculates = false
        /// Bytes of states kept beside the context; nil is by the machine.
        package var keptBytes: Int?
        /// Memory for tokens grows in steps of this many; nil is the usual step.
        package var cellStep: Int?
        /// What may still be taken of memory; nil is what the system says.
        package var spareBytes: (@Sendable () -> UInt64?)?
        /// What this process may have, for how much is kept; nil is what the system says.
        package var ownBytes: UInt64?
        /// The program that serves `TemplateWorker`: a template is tried and rendered there. nil trusts every template.
        public var templateWorker: [String]?
        /// Nothing is computed while it is closed.
        public var gate: ComputeGate?
        /// A smaller model with the same tokens, whose guesses are computed in one go; nil guesses from the chat alone.
        public var draft: String?
        /// Whether a draft model that cannot guess for this one is an error; otherwise it is told and not used.
        public var needsDraft = false
        /// What changes the model, in this order.
        public var adapters: [Adapter] = []
        /// What turns pictures and sounds into what the model takes in; nil reads words alone.
        public var projector: String?
        /// What computes the layers in place of this device's processor, in this order; none computes them here. Text leaves
        /// the device with them.
        package var workers: [WorkerAddress] = []

        public init() {}
    }
}

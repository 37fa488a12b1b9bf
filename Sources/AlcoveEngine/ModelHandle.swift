internal import AlcoveCore
internal import Synchronization
internal import llama

/// Owns one `llama_model *`.
///
/// Unchecked: a model does not change after it is loaded, and llama.h lets several contexts share it.
final class ModelHandle: @unchecked Sendable {
    let raw: OpaquePointer
    /// What computes its layers in place of this device; nil computes them here.
    let workers: WorkerDevices?
    /// Freed with the model; written once, before anything computes.
    private var adapters: [(raw: OpaquePointer?, scale: Float)] = []

    /// Loads a file; blocks until it is in memory.
    ///
    /// - Parameter progress: Called on the loading thread with 0 to 1; false stops the loading.
    init(
        path: String, vocabularyOnly: Bool = false, workers: WorkerDevices? = nil,
        progress: @escaping @Sendable (Double) -> Bool
    ) throws(EngineError) {
        LlamaLibrary.start()
        _ = LlamaLibrary.takeLastError()
        let reporter = ProgressReporter(report: progress)
        var parameters = llama_model_default_params()
        parameters.vocab_only = vocabularyOnly
        parameters.progress_callback_user_data = Unmanaged.passUnretained(reporter).toOpaque()
        parameters.progress_callback = { value, reporter in
            guard let reporter else { return true }
            return Unmanaged<ProgressReporter>.fromOpaque(reporter).takeUnretainedValue().pass(value)
        }
        let loaded = withExtendedLifetime(reporter) {
            // Never here in place of there: it may not fit, and the page would tell something else.
            if let workers {
                workers.load(parameters) { llama_model_load_from_file(path, $0) }
            } else {
                llama_model_load_from_file(path, parameters)
            }
        }
        guard let loaded else {
            if reporter.stopped.load(ordering: .relaxed) { throw .loadCancelled(path: path) }
            if let loss = workers?.loss { throw loss }
            if let workers {
                throw .workersRefused(
                    names: workers.names, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
            }
            throw .loadFailed(path: path, reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
        }
        raw = loaded
        self.workers = workers
        if let loss = workers?.loss {
            llama_model_free(raw)
            throw loss
        }
    }

    deinit { llama_model_free(raw) }

    /// Loads adapters whose headers were found good; to be called before any context is made.
    func load(_ wanted: [Adapter]) throws(AdapterError) {
        for adapter in wanted {
            _ = LlamaLibrary.takeLastError()
            guard let loaded = llama_adapter_lora_init(raw, adapter.path) else {
                throw .failed(
                    name: GGUFName.ofFile(adapter.path),
                    reason: LlamaLibrary.takeLastError() ?? "the library does not say why")
            }
            adapters.append((loaded, adapter.scale))
        }
    }

    /// Lets the adapters act in a new context of this model.
    func applyAdapters(to context: OpaquePointer) {
        if adapters.isEmpty { return }
        var pointers = adapters.map(\.raw), scales = adapters.map(\.scale)
        _ = llama_set_adapters_lora(context, &pointers, pointers.count, &scales)
    }

    private final class ProgressReporter: Sendable {
        let report: @Sendable (Double) -> Bool
        let stopped = Atomic<Bool>(false)
        init(report: @escaping @Sendable (Double) -> Bool) { self.report = report }

        func pass(_ value: Float) -> Bool {
            if report(Double(value)) { return true }
            stopped.store(true, ordering: .relaxed)
            return false
        }
    }

    /// A value of the file's header as text; nil when the key is absent.
    func metadata(_ key: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 512)
        let length = llama_model_meta_val_str(raw, key, &buffer, buffer.count)
        guard length >= 0 else { return nil }
        return String(decoding: buffer.prefix(min(Int(length), 511)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// How the file says that the vectors of a text's tokens become one (`llama_pooling_type`); nil when it does not say, or
    /// says something that the library aborts on.
    var pooling: llama_pooling_type? {
        guard let architecture = metadata("general.architecture"),
            let type = metadata("\(architecture).pooling_type").flatMap({ Int32($0) })
        else { return nil }
        let known = [
            LLAMA_POOLING_TYPE_MEAN, LLAMA_POOLING_TYPE_CLS, LLAMA_POOLING_TYPE_LAST, LLAMA_POOLING_TYPE_RANK,
        ]
        return known.first { $0.rawValue == type }
    }

    /// nil when the file brings none; an empty one is none.
    var chatTemplate: String? {
        let source = llama_model_chat_template(raw, nil).map { String(cString: $0) } ?? ""
        return source.allSatisfy(\.isWhitespace) ? nil : source
    }

    /// Whether a layer keeps a state instead of what it read. A computation that is given up leaves it half changed, and the
    /// library cannot take that back.
    var isRecurrent: Bool { llama_model_is_recurrent(raw) || llama_model_is_hybrid(raw) }

    /// Whether any tail of a sequence may be cut off exactly. Sliding windows and recurrent states forget what would be
    /// needed for that, and the library does not always say so.
    var cutsExactly: Bool {
        llama_model_n_swa(raw) == 0 && !isRecurrent
    }
}

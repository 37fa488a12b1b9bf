internal import llama

/// The threads that compute, kept from step to step. Left to itself the library makes them anew for every token.
///
/// After a step they look for the next one for about a tenth of a second before they sleep. One set serves every context of an
/// engine, because the engine's thread uses one at a time; each context holds it for as long as it lives.
final class ComputeThreads {
    /// The engine's own thread counted.
    let count: Int
    private let pool: OpaquePointer?

    init(count: Int) {
        self.count = count
        var parameters = ggml_threadpool_params_default(Int32(count))
        // Alone the engine's thread needs no pool; where none can be had the library makes threads for each step.
        pool = count > 1 ? ggml_threadpool_new(&parameters) : nil
    }

    deinit { ggml_threadpool_free(pool) }

    func attach(to context: OpaquePointer) {
        if let pool { llama_attach_threadpool(context, pool, pool) }
    }
}

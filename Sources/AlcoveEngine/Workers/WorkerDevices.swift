internal import AlcoveCore
internal import llama

/// The processors of workers, as the library takes them.
struct WorkerDevices {
    let workers: [WorkerAddress]
    /// Ended by nil, as the library wants it.
    private var devices: [ggml_backend_dev_t?] = []
    /// How many layers each gets, as shares.
    private var shares: [Float] = []
    /// Connections lost before these were made.
    private let lostBefore: UInt64

    /// Asks every worker, and connects to all.
    ///
    /// - Parameter needed: bytes that the model will take of them.
    init(_ workers: [WorkerAddress], needed: UInt64) throws(WorkerError) {
        LlamaLibrary.start()
        self.workers = workers
        var free: [UInt64] = []
        for worker in workers { free.append(try WorkerProbe.ask(worker)) }
        lostBefore = alcove_rpc_lost()
        let names = workers.map(\.name).joined(separator: ", "), sum = free.reduce(0, &+)
        if sum > 0, needed > sum { throw .tooLittleMemory(names: names, needed: needed, free: sum) }
        for (worker, bytes) in zip(workers, free) {
            guard let registry = ggml_backend_rpc_add_server(worker.endpoint) else {
                throw .unreachable(name: worker.name, reason: "it went away")
            }
            // One that has several processors says what the first has free; they count alike.
            let count = ggml_backend_reg_dev_count(registry)
            for index in 0..<count {
                devices.append(ggml_backend_reg_dev_get(registry, index))
                shares.append(Float(max(bytes, 1)) / Float(count))
            }
        }
        devices.append(nil)
    }

    /// Loads a model whose layers lie on the workers, in the order of the list.
    func load(_ parameters: llama_model_params, _ body: (llama_model_params) -> OpaquePointer?) -> OpaquePointer? {
        var parameters = parameters, devices = devices
        var shares = shares + [Float](repeating: 0, count: max(0, llama_max_devices() - shares.count))
        parameters.n_gpu_layers = Int32.max
        parameters.split_mode = LLAMA_SPLIT_MODE_LAYER
        return devices.withUnsafeMutableBufferPointer { devices in
            shares.withUnsafeMutableBufferPointer { shares in
                parameters.devices = devices.baseAddress
                parameters.tensor_split = UnsafePointer(shares.baseAddress)
                return body(parameters)
            }
        }
    }

    /// Why what was computed since is worth nothing; nil as long as every worker has answered.
    var loss: EngineError? {
        alcove_rpc_lost() == lostBefore ? nil : .workerLost(names: names)
    }

    var names: String { workers.map(\.name).joined(separator: ", ") }
}

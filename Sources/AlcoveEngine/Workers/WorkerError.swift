package import AlcoveCore

/// Why a worker cannot be used.
package enum WorkerError: UserFacingError, Hashable {
    case unreachable(name: String, reason: String)
    /// It takes the connection and says nothing.
    case silent(name: String)
    /// What listens there speaks something else.
    case foreign(name: String)
    /// It speaks another version of the protocol.
    case version(name: String, theirs: String, ours: String)
    /// The workers together have less memory than the model takes.
    case tooLittleMemory(names: String, needed: UInt64, free: UInt64)
    case noChild(reason: String)
    /// It ended again and again, right after it was started.
    case keepsEnding(signal: Int32)

    package var code: String {
        switch self {
        case .unreachable: "worker_unreachable"
        case .silent: "worker_silent"
        case .foreign: "worker_foreign"
        case .version: "worker_version"
        case .tooLittleMemory: "worker_memory"
        case .noChild, .keepsEnding: "worker_failed"
        }
    }

    package var message: String {
        switch self {
        case .unreachable(let name, let reason): "No worker answers at \(name): \(reason)."
        case .silent(let name): "The worker at \(name) takes the connection and does not answer."
        case .foreign(let name): "What listens at \(name) is no worker."
        case .version(let name, let theirs, let ours):
            "The worker at \(name) speaks version \(theirs) of the protocol, and this Alcove speaks \(ours)."
        case .tooLittleMemory(let names, let needed, let free):
            "The model needs \(ByteCount.text(needed)) of memory, and the workers \(names) have \(ByteCount.text(free)) free together."
        case .noChild(let reason): "The worker's process cannot be started: \(reason)."
        case .keepsEnding(let signal):
            signal == 0
                ? "The worker ends as soon as it is started: the address cannot be had."
                : "The worker ends again and again (signal \(signal))."
        }
    }

    package var hint: String? {
        switch self {
        case .unreachable(let name, _):
            "Start it there with `alcove worker --listen \(name)`, or leave it out of --rpc."
        case .silent: "A worker serves one host at a time: end the other host, or start a second worker."
        case .foreign(let name): "Check the address, and start a worker with `alcove worker --listen \(name)`."
        case .version: "Run the same version of Alcove on both machines."
        case .tooLittleMemory: "Add a worker, or choose a smaller model."
        case .keepsEnding(let signal) where signal != 0:
            "Run the same version of Alcove on both machines, and look at what else reaches this address."
        case .noChild, .keepsEnding: "Choose another address or port with --listen."
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .unreachable, .silent, .foreign, .version: .busy
        case .tooLittleMemory: .space
        case .noChild, .keepsEnding: .host
        }
    }
}

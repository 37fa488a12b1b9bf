package import AlcoveCore

/// Why no script could be run. There is no way to run one without the sandbox.
package enum SandboxError: UserFacingError, Equatable {
    /// The program that makes the sandbox is not there.
    case programMissing
    /// The system did not let it do its work; the cause is its own word for it.
    case refused(cause: String)
    case unsupported(system: String)
    case workspaceUnusable(path: String, cause: String)
    case invalid(String)
    case noResources(cause: String)
    /// The program that runs Python and JavaScript is not beside this one.
    case runtimeMissing(path: String)

    package var code: String {
        switch self {
        case .programMissing: "sandbox_missing"
        case .refused: "sandbox_refused"
        case .unsupported: "sandbox_unsupported"
        case .workspaceUnusable: "workspace_unusable"
        case .invalid: "command_invalid"
        case .noResources: "command_no_resources"
        case .runtimeMissing: "runtime_missing"
        }
    }

    package var message: String {
        switch self {
        case .programMissing:
            "Commands cannot be run: the sandbox program bwrap is missing, and without it nothing is run."
        case .refused(let cause): "Commands cannot be run: the system did not allow the sandbox (\(cause))."
        case .unsupported(let system): "Commands cannot be run: there is no sandbox for \(system)."
        case .workspaceUnusable(let path, let cause): "Commands cannot be run in \(path): \(cause)."
        case .invalid(let what): "The command was not run: \(what)."
        case .noResources(let cause): "The command was not run: \(cause)."
        case .runtimeMissing(let path): "Python and JavaScript cannot be run: there is no program \(path)."
        }
    }

    package var hint: String? {
        switch self {
        case .programMissing: "Install it with `sudo apt install bubblewrap`."
        case .refused: "Unprivileged user namespaces must be allowed on this machine: see docs/sandbox.md."
        case .runtimeMissing: "Build it with `swift build --product alcove-runtime`; it belongs beside alcove."
        default: nil
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .invalid: .request
        case .noResources: .busy
        default: .host
        }
    }
}

package import AlcoveCore

/// Why there is no fast copy.
package enum FastCopyError: UserFacingError, Equatable {
    case nothingToGain(name: String, types: [String])
    case isFastCopy(name: String, original: String)
    case exists(name: String, copy: String)
    case noRoom(needed: UInt64, free: UInt64, folder: String)
    case busy
    case noChild(reason: String)
    case crashed(name: String, signal: Int32)
    case worker(code: String, message: String)
    case stopped
    case differs(name: String, what: String)
    case tooLossy(name: String, type: String, original: Double, copy: Double)
    case unwritable(path: String, errno: Int32)
    case nothingToRemove(name: String)

    package var code: String {
        switch self {
        case .nothingToGain: "nothing_to_gain"
        case .isFastCopy: "is_fast_copy"
        case .exists: "fast_copy_exists"
        case .noRoom: "disk_full"
        case .busy: "optimize_busy"
        case .noChild: "optimize_failed"
        case .crashed: "optimize_crashed"
        case .worker(let code, _): code
        case .stopped: "optimize_stopped"
        case .differs: "fast_copy_differs"
        case .tooLossy: "fast_copy_too_lossy"
        case .unwritable(_, let code): code == ENOSPC || code == EDQUOT ? "disk_full" : "models_unwritable"
        case .nothingToRemove: "no_fast_copy"
        }
    }

    package var message: String {
        switch self {
        case .nothingToGain(let name, let types):
            "A copy of \(name) would not be quicker: its weights (\(types.joined(separator: ", "))) "
                + "have fast kernels on this processor already, or a copy would be larger and no quicker."
        case .isFastCopy(let name, let original): "\(name) is a fast copy itself, of \(original)."
        case .exists(let name, let copy): "\(name) has a fast copy already: \(copy)."
        case .noRoom(let needed, let free, let folder):
            "There is no room for a copy in \(folder): up to \(needed) bytes are needed and \(free) are free."
        case .busy: "Another fast copy is being made; one is made at a time."
        case .noChild(let reason): "The process that makes the copy could not be started: \(reason)."
        case .crashed(let name, let signal):
            "The process that made a copy of \(name) ended on a fault"
                + (signal == 0 ? "." : " (signal \(signal)).")
        case .worker(_, let message): message
        case .stopped: "Making the copy was stopped."
        case .differs(let name, let what): "The copy of \(name) was removed, because it is not the same model: \(what)."
        case .tooLossy(let name, let type, let original, let copy):
            "The copy of \(name) as \(type) was removed, because it is worse than the original: its perplexity is "
                + "\(FastCopyError.rounded(copy)) instead of \(FastCopyError.rounded(original)), "
                + "and \(Int(FastCopyMaker.mostLoss * 100)) % more is the most that is taken."
        case .unwritable(let path, let code): "\(path) cannot be written: \(Platform.describe(errno: code))."
        case .nothingToRemove(let name): "\(name) is no fast copy and has none."
        }
    }

    package var hint: String? {
        switch self {
        case .nothingToGain, .noChild, .worker, .stopped, .nothingToRemove: nil
        case .isFastCopy: "Name the original."
        case .exists: "Remove it with --remove to make another."
        case .noRoom: "Make room, and try again."
        case .busy: "Wait for it, or stop it."
        case .crashed: "The original is as it was; use that, or get the model in another quantisation."
        case .differs: "The original is as it was."
        case .tooLossy: "The original is as it was; q8_0 loses least."
        case .unwritable: "Check that there is room and that the folder may be written."
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .nothingToGain, .isFastCopy, .exists: .request
        case .nothingToRemove: .missing
        case .noRoom: .space
        case .unwritable(_, let code): code == ENOSPC || code == EDQUOT ? .space : .host
        case .busy, .stopped: .busy
        case .crashed, .differs, .tooLossy: .data
        case .noChild, .worker: .host
        }
    }

    private static func rounded(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
}

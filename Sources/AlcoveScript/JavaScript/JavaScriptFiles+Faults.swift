internal import AlcoveCore
internal import AlcoveSandbox

extension JavaScriptFiles {
    /// A refusal in the words programs written for Node look for, then in ours.
    static func fault(_ error: ConfinementError, _ call: String, _ path: String, _ other: String)
        -> JavaScriptMachine.Fault
    {
        let (code, number, words) = known(error)
        let name = names[call] ?? call
        var message = "\(code): \(words), \(name)"
        var properties = [("code", code), ("syscall", name)]
        // The folder was opened; what failed is the reading of it.
        if call == "read", case .isFolder = error {
            return .init(
                message: "\(code): \(words), read", properties: [("code", code), ("syscall", "read")], number: -number)
        }
        if !["close", "readAt", "writeAt", "statOpen", "truncateOpen"].contains(call) {
            message += " '\(path)'"
            properties.append(("path", path))
            if ["rename", "copy", "symlink", "link"].contains(call) {
                message += " -> '\(other)'"
                properties.append(("dest", other))
            }
        }
        switch error {
        case .missing, .exists, .isFolder, .notAFolder, .notEmpty: break
        default: message += ". " + error.sentence
        }
        return JavaScriptMachine.Fault(message: message, properties: properties, number: -number)
    }

    private static let names = [
        "read": "open", "text": "open", "write": "open", "list": "scandir", "realpath": "lstat", "rm": "lstat",
        "copy": "copyfile", "utimes": "utime", "truncate": "open", "readAt": "read", "writeAt": "write",
        "statOpen": "fstat", "truncateOpen": "ftruncate",
    ]

    private static func known(_ error: ConfinementError) -> (code: String, number: Int, words: String) {
        switch error {
        case .missing, .noPath: ("ENOENT", 2, "no such file or directory")
        case .exists, .nameClash: ("EEXIST", 17, "file already exists")
        case .isFolder: ("EISDIR", 21, "illegal operation on a directory")
        case .notAFolder: ("ENOTDIR", 20, "not a directory")
        case .notEmpty: ("ENOTEMPTY", 39, "directory not empty")
        case .tooManyLinks: ("ELOOP", 40, "too many symbolic links encountered")
        case .tooLong: ("ENAMETOOLONG", 36, "name too long")
        case .readOnly: ("EROFS", 30, "read-only file system")
        case .noSpace: ("ENOSPC", 28, "no space left on device")
        case .tooLarge: ("EFBIG", 27, "file too large")
        case .outside, .linkLeadsOut, .deniedName, .hardLinked, .rootMissing: ("EACCES", 13, "permission denied")
        case .zeroByte, .tooDeep, .specialFile: ("EINVAL", 22, "invalid argument")
        case .changedMeanwhile, .system: ("EIO", 5, "i/o error")
        }
    }
}

package import AlcoveCore

/// Why a file was not touched. The path is always as the person or the model wrote it.
package enum ConfinementError: UserFacingError, Equatable {
    case noPath
    case zeroByte(path: String)
    case tooLong(path: String)
    case tooDeep(path: String)
    case outside(path: String)
    /// A symbolic link on the way leads out of the folders that may be used.
    case linkLeadsOut(path: String, link: String)
    case tooManyLinks(path: String)
    case deniedName(path: String, name: String)
    case readOnly(path: String)
    case missing(path: String)
    case exists(path: String)
    case isFolder(path: String)
    case notAFolder(path: String, name: String)
    case notEmpty(path: String)
    /// A named pipe, a socket or a device.
    case specialFile(path: String)
    /// The file has names elsewhere, perhaps outside.
    case hardLinked(path: String)
    case tooLarge(path: String, limit: Int)
    /// A file is there whose name differs only in case or in the way its letters are coded.
    case nameClash(path: String, existing: String)
    /// Somebody exchanged what the path means while it was being used.
    case changedMeanwhile(path: String)
    case noSpace(path: String)
    case rootMissing(folder: String)
    case system(path: String, cause: String)

    package var code: String {
        switch self {
        case .noPath: "path_empty"
        case .zeroByte: "path_zero_byte"
        case .tooLong: "path_too_long"
        case .tooDeep: "path_too_deep"
        case .outside: "path_outside"
        case .linkLeadsOut: "path_link_leads_out"
        case .tooManyLinks: "path_too_many_links"
        case .deniedName: "path_denied"
        case .readOnly: "path_read_only"
        case .missing: "file_missing"
        case .exists: "file_exists"
        case .isFolder: "file_is_folder"
        case .notAFolder: "file_not_a_folder"
        case .notEmpty: "folder_not_empty"
        case .specialFile: "file_special"
        case .hardLinked: "file_hard_linked"
        case .tooLarge: "file_too_large"
        case .nameClash: "file_name_clash"
        case .changedMeanwhile: "file_changed_meanwhile"
        case .noSpace: "disk_full"
        case .rootMissing: "workspace_missing"
        case .system: "file_system_error"
        }
    }

    package var message: String {
        switch self {
        case .noPath: "The path is empty."
        case .zeroByte(let path): "The path \(shown(path)) contains a zero byte."
        case .tooLong(let path):
            "The path \(shown(path)) is too long: a name may have 255 bytes and a path 4,096."
        case .tooDeep(let path): "The path \(shown(path)) is more than \(ConfinedPaths.deepest) folders deep."
        case .outside(let path): "The path \(shown(path)) is outside the workspace."
        case .linkLeadsOut(let path, let link):
            "The path \(shown(path)) is outside the workspace: the symbolic link \(shown(link)) leads there."
        case .tooManyLinks(let path): "The path \(shown(path)) goes through too many symbolic links."
        case .deniedName(let path, let name): "The path \(shown(path)) is not available: \(shown(name)) is private."
        case .readOnly(let path): "The path \(shown(path)) can only be read."
        case .missing(let path): "There is no file or folder \(shown(path))."
        case .exists(let path): "There is already a file or folder \(shown(path))."
        case .isFolder(let path): "\(shown(path)) is a folder."
        case .notAFolder(let path, let name): "The path \(shown(path)) does not exist: \(shown(name)) is not a folder."
        case .notEmpty(let path): "The folder \(shown(path)) is not empty."
        case .specialFile(let path): "\(shown(path)) is a named pipe, socket or device, not a file."
        case .hardLinked(let path):
            "\(shown(path)) is also known under another name, which may be outside the workspace."
        case .tooLarge(let path, let limit): "The file \(shown(path)) is larger than \(limit) bytes."
        case .nameClash(let path, let existing):
            "The path \(shown(path)) would differ from the existing \(shown(existing)) only in case or in the coding of its letters."
        case .changedMeanwhile(let path): "\(shown(path)) was exchanged for something else while it was being used."
        case .noSpace(let path): "There is no room left on the disk for \(shown(path))."
        case .rootMissing(let folder): "The workspace folder \(shown(folder)) is missing."
        case .system(let path, let cause): "\(shown(path)) could not be used: \(cause)."
        }
    }

    package var hint: String? {
        switch self {
        case .outside, .linkLeadsOut: "Use a path within the workspace."
        case .readOnly: "Copy it into the workspace first."
        case .exists, .nameClash: "Choose another name."
        case .hardLinked: "Copy it to a new file."
        case .changedMeanwhile: "Try again when nothing else is changing it."
        case .noSpace: "Make room, then try again."
        default: nil
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .missing, .notAFolder: .missing
        case .changedMeanwhile: .busy
        case .noSpace: .space
        case .rootMissing, .system: .host
        default: .request
        }
    }

    /// From the errno value of a call on this path.
    init(_ code: Int32, _ path: String) {
        switch code {
        case ENOENT: self = .missing(path: path)
        case EEXIST: self = .exists(path: path)
        case EISDIR: self = .isFolder(path: path)
        case ENOTEMPTY: self = .notEmpty(path: path)
        case ENAMETOOLONG: self = .tooLong(path: path)
        case ENOSPC, EDQUOT: self = .noSpace(path: path)
        case EROFS: self = .readOnly(path: path)
        case ELOOP, ENOTDIR: self = .changedMeanwhile(path: path)
        case ENXIO: self = .specialFile(path: path)
        default: self = .system(path: path, cause: Platform.describe(errno: code))
        }
    }
}

/// A path fit for a sentence: what would move the cursor or turn the writing direction is spelt out.
private func shown(_ path: String) -> String {
    var text = ""
    for scalar in path.unicodeScalars.prefix(400) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            text += "\\u{\(String(scalar.value, radix: 16))}"
        default: text.unicodeScalars.append(scalar)
        }
    }
    return path.unicodeScalars.dropFirst(400).isEmpty ? text : text + "..."
}

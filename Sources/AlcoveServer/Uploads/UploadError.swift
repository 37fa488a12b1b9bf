package import AlcoveCore

/// Why a file was not taken. Nothing of it is kept.
package enum UploadError: HTTPStatusProviding, Equatable {
    case noFile
    case empty(name: String)
    case noEnding(name: String)
    case unsupported(name: String, ending: String)
    case notWhatItSays(name: String, ending: String)
    case unreadableVideo(name: String, fault: MediaFault)
    case tooManyFiles(limit: Int)
    case tooLarge(name: String, limit: Int)
    case overQuota(limit: Int)
    case noRoom(free: Int)
    case cannotWrite(cause: String)

    package var httpStatus: Int {
        switch self {
        case .tooLarge: 413
        case .overQuota, .noRoom: 507
        case .cannotWrite: 500
        default: 400
        }
    }

    package var code: String {
        switch self {
        case .noFile: "no_file"
        case .empty: "empty_file"
        case .noEnding: "no_extension"
        case .unsupported: "unsupported_file"
        case .notWhatItSays: "file_not_as_named"
        case .unreadableVideo: "video_unreadable"
        case .tooManyFiles: "too_many_files"
        case .tooLarge: "file_too_large"
        case .overQuota: "upload_quota"
        case .noRoom: "disk_full"
        case .cannotWrite: "upload_failed"
        }
    }

    package var message: String {
        switch self {
        case .noFile: "The form has no part \"file\" with a file."
        case .empty(let name): "\(name) is empty."
        case .noEnding(let name):
            "Files without an extension are not supported, and the bytes of \(name) are of no kind known here."
        case .unsupported(let name, let ending): "\(name): files with the extension .\(ending) are not supported."
        case .notWhatItSays(let name, let ending): "\(name) is named .\(ending), but its bytes are something else."
        case .unreadableVideo(let name, let fault): "\(name) is no video that can be read: \(fault.words)."
        case .tooManyFiles(let limit): "More than \(limit) files came in one request."
        case .tooLarge(let name, let limit): "\(name) is larger than the \(limit >> 20) MB a file may have."
        case .overQuota(let limit): "All uploads together may have \(limit >> 20) MB, and this would be more."
        case .noRoom(let free): "There is no room for this file: \(free >> 20) MB are free."
        case .cannotWrite(let cause): "The file could not be saved: \(cause)."
        }
    }

    package var hint: String? {
        switch self {
        case .noEnding: "Give its name an extension such as .txt."
        case .unsupported: "Pictures, videos, sound, PDF, office documents (docx, xlsx, pptx) and text files are."
        case .unreadableVideo(_, .cutOff): MediaFault.cutOff.hint
        case .notWhatItSays, .unreadableVideo: "Open it in a program that can read it and save it again."
        case .tooManyFiles: "Send them in several requests."
        case .overQuota: "Delete chats with large files, or raise the limit in the settings."
        case .noRoom: "Make room on the disk and send it again."
        default: nil
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .overQuota, .noRoom: .space
        case .cannotWrite: .host
        default: .request
        }
    }

    /// The sentence for an errno value.
    static func writing(_ code: Int32) -> UploadError {
        code == ENOSPC || code == EDQUOT ? .noRoom(free: 0) : .cannotWrite(cause: Platform.describe(errno: code))
    }
}

package import AlcoveCore

/// Why nothing was changed.
package enum PatchError: UserFacingError, Equatable {
    /// The text is not a patch; `line` is the line of it, from 1, when one line is to blame.
    case unreadable(line: Int?, reason: String)
    case badPath(path: String, reason: String)
    case exists(path: String)
    case missing(path: String)
    /// There is something at the path that cannot be patched, or it cannot be read.
    case unusable(path: String, reason: String)
    case missed(HunkMiss)
    /// The lines are there, but before what the patch has passed already.
    case outOfOrder(path: String, hunk: Int, line: Int, passed: Int)
    /// Somebody else wrote the file while the patch was being worked out.
    case changedMeanwhile(path: String)
    /// Everything is as it was before.
    case notWritten(path: String, reason: String, restored: [String])
    /// The worst case: writing failed, and putting files back failed too.
    case notRestored(path: String, reason: String, lost: [String])

    package var code: String {
        switch self {
        case .unreadable: "bad_patch"
        case .badPath: "bad_path"
        case .exists: "file_exists"
        case .missing: "no_such_file"
        case .unusable: "unusable_file"
        case .missed: "hunk_not_found"
        case .outOfOrder: "hunk_out_of_order"
        case .changedMeanwhile: "file_changed"
        case .notWritten: "not_written"
        case .notRestored: "not_restored"
        }
    }

    package var place: ErrorPlace {
        switch self {
        case .missing: .missing
        case .changedMeanwhile: .busy
        case .notWritten, .notRestored: .host
        default: .request
        }
    }

    package var message: String {
        switch self {
        case .unreadable(let line?, let reason): "Line \(line) of the patch cannot be read: \(reason)."
        case .unreadable(nil, let reason): "The patch cannot be read: \(reason)."
        case .badPath(let path, let reason): "The path \"\(path)\" cannot be used: \(reason)."
        case .exists(let path): "There is a file at \(path) already."
        case .missing(let path): "There is no file at \(path)."
        case .unusable(let path, let reason): "\(path) cannot be patched: \(reason)."
        case .missed(let miss): miss.message
        case .outOfOrder(let path, let hunk, let line, let passed):
            "Hunk \(hunk) of \(path) fits only at line \(line), but the patch has passed line \(passed) by then."
        case .changedMeanwhile(let path): "\(path) was changed by somebody else in the meantime."
        case .notWritten(let path, let reason, let restored):
            "Writing \(path) failed (\(reason))"
                + (restored.isEmpty ? "." : "; \(restored.joined(separator: ", ")) put back as before.")
        case .notRestored(let path, let reason, let lost):
            "Writing \(path) failed (\(reason)), and these files could not be put back: \(lost.joined(separator: ", "))."
        }
    }

    package var hint: String? {
        switch self {
        case .unreadable, .notWritten: nil
        case .badPath: "Paths are relative to the working folder, like src/main.c."
        case .exists: "Use *** Update File to change it."
        case .missing: "Use *** Add File for a new file, and check the spelling of the path."
        case .unusable: nil
        case .missed(let miss): miss.hint
        case .outOfOrder:
            "Put the hunks in the order of the file, without overlaps, and each @@ line before the lines it names."
        case .changedMeanwhile: "Read it again and send the patch again."
        case .notRestored: "The old contents are beside them in files named .alcove-patch-*."
        }
    }

    /// All that is worth saying, several lines long for a hunk that was missed.
    package var report: String {
        let isWhole = if case .notRestored = self { false } else { true }
        let details = if case .missed(let miss) = self { miss.details } else { [String]() }
        let first = (isWhole ? "Nothing was changed. " : "") + message
        return ([first] + details + (hint.map { [$0] } ?? [])).joined(separator: "\n")
    }
}

/// A hunk whose lines are not in the file, and the place most like it.
package struct HunkMiss: Sendable, Equatable {
    package var path: String
    /// From 1.
    package var hunk: Int
    package var lineCount: Int
    /// The first lines that were looked for, at most 8.
    package var searched: [String]
    package var searchedCount: Int
    /// Lines of the file, numbered, around the place most like it.
    package var nearest: [String]
    /// The lines would fit without the numbers before them.
    package var hasLineNumbers = false
    /// The hunk only inserts, and this is the @@ line that should have told where.
    package var anchor: String?

    var message: String {
        if let anchor {
            return "Hunk \(hunk) of \(path) has no lines to look for, and its @@ line \"\(anchor)\" is not in the file."
        }
        if hasLineNumbers {
            return "Hunk \(hunk) of \(path) was not found: its lines carry the line numbers of read_file."
        }
        let more = searchedCount > 1 ? " and what follows" : ""
        return "Hunk \(hunk) of \(path) was not found: no line reads \"\(searched.first ?? "")\"\(more)."
    }

    var hint: String {
        if anchor != nil {
            return "Copy the @@ line from the file, or give lines around the place, then send the whole patch again."
        }
        return hasLineNumbers
            ? "Leave out the number and the bar before each line, then send the whole patch again."
            : "Copy the lines as they stand in the file, then send the whole patch again."
    }

    var details: [String] {
        if anchor != nil { return [] }
        var out = ["It looked for:"] + searched.map { "  \($0)" }
        if searchedCount > searched.count { out.append("  ... and \(searchedCount - searched.count) more") }
        if nearest.isEmpty { return out + ["\(path) is empty."] }
        let lines = lineCount == 1 ? "1 line" : "\(lineCount) lines"
        return out + ["The nearest place in \(path) (\(lines)):"] + nearest
    }
}

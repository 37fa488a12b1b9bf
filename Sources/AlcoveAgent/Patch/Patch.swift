/// Changes to several files that are made together or not at all: what the `apply_patch` tool takes.
///
/// The grammar is line based. Text stays bytes throughout: a line nobody changes comes out as it went in, UTF-8 or not.
package struct Patch: Sendable, Equatable {
    /// What happens to one file.
    package struct Section: Sendable, Equatable {
        package enum Action: Sendable, Equatable {
            case add([[UInt8]])
            case delete
            case update(moveTo: String?, hunks: [Hunk])
        }

        package var path: String
        package var action: Action
    }

    /// One place in a file: what is there, and what shall be there.
    package struct Hunk: Sendable, Equatable {
        /// The texts after `@@`, outermost first; an empty one only separates hunks.
        package var anchors: [[UInt8]] = []
        package var lines: [Line] = []
        /// `*** End of File` followed.
        package var isAtEnd = false
    }

    package struct Line: Sendable, Equatable {
        package enum Kind: Sendable { case context, delete, add }

        package var kind: Kind
        package var text: [UInt8]
        /// An empty line of the patch, without even the space of a context line: often only a gap between sections.
        package var isBare = false
    }

    package var sections: [Section]
    /// Lines of the patch itself end with CR LF: so do those of new files.
    package var usesCRLF = false
}

/// What a patch did, for the model and for a receipt.
package struct PatchOutcome: Sendable, Equatable {
    package enum Kind: String, Sendable { case added, updated, deleted, moved }

    package struct File: Sendable, Equatable {
        package var kind: Kind
        package var path: String
        package var movedTo: String?
        package var linesAdded = 0
        package var linesRemoved = 0
        /// Whole sentences on what the model should know: other places that fit, lines that fitted only nearly.
        package var notes: [String] = []
    }

    package var files: [File] = []
    /// How far the places found are from exact: 0 exact, 1 trailing white space, 100 white space at both ends, 10000 an
    /// end-of-file hunk that was found elsewhere, 1 an anchor found by its trimmed text; summed.
    package var fuzz = 0

    /// A line a file, then the notes.
    package var text: String {
        let lines = files.map { file -> String in
            switch file.kind {
            case .added: "Added \(file.path) (+\(file.linesAdded))."
            case .deleted: "Deleted \(file.path)."
            case .updated: "Updated \(file.path) (+\(file.linesAdded) -\(file.linesRemoved))."
            case .moved:
                "Moved \(file.path) to \(file.movedTo ?? "") (+\(file.linesAdded) -\(file.linesRemoved))."
            }
        }
        return (lines + files.flatMap(\.notes)).joined(separator: "\n")
    }
}

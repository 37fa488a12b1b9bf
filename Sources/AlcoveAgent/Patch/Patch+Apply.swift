extension Patch {
    /// Works the whole patch out, then has the files written in one go.
    ///
    /// - Throws: `PatchError`, and then no file has changed.
    package func apply(to files: some PatchFiles) throws(PatchError) -> PatchOutcome {
        var application = PatchApplication(files: files, usesCRLF: usesCRLF)
        for section in sections { try application.apply(section) }
        let changes = application.changes
        if !changes.isEmpty { try files.commit(changes) }
        return application.outcome
    }
}

/// A patch on its way: later sections see what earlier ones have done, no file has.
private struct PatchApplication<Files: PatchFiles> {
    let files: Files
    let usesCRLF: Bool
    private(set) var outcome = PatchOutcome()
    private var staged: [String: PatchChange] = [:]
    private var order: [String] = []

    init(files: Files, usesCRLF: Bool) {
        self.files = files
        self.usesCRLF = usesCRLF
    }

    var changes: [PatchChange] {
        order.compactMap { staged[$0] }.filter { $0.before != $0.after }
    }

    mutating func apply(_ section: Patch.Section) throws(PatchError) {
        switch section.action {
        case .add(let lines): try add(section.path, lines)
        case .delete:
            let place = try files.place(of: section.path, for: .removal)
            guard try current(place) != nil else { throw .missing(path: section.path) }
            staged[place]?.after = nil
            outcome.files.append(PatchOutcome.File(kind: .deleted, path: section.path))
        case .update(let target, let hunks): try update(section.path, target, hunks)
        }
    }

    /// What the file at a place holds at this point of the patch.
    private mutating func current(_ place: String) throws(PatchError) -> [UInt8]? {
        if let change = staged[place] { return change.after }
        let bytes = try files.read(place)
        staged[place] = PatchChange(place: place, before: bytes, after: bytes)
        order.append(place)
        return bytes
    }

    private mutating func add(_ path: String, _ lines: [[UInt8]]) throws(PatchError) {
        let place = try files.place(of: path, for: .contents)
        guard try current(place) == nil else { throw .exists(path: path) }
        let end: [UInt8] = usesCRLF ? [0x0D, 0x0A] : [0x0A]
        staged[place]?.after = lines.flatMap { $0 + end }
        outcome.files.append(PatchOutcome.File(kind: .added, path: path, linesAdded: lines.count))
    }

    private mutating func update(_ path: String, _ target: String?, _ hunks: [Patch.Hunk]) throws(PatchError) {
        let place = try files.place(of: path, for: target == nil ? .contents : .removal)
        guard let old = try current(place) else { throw .missing(path: path) }
        var file = PatchOutcome.File(kind: .updated, path: path)
        let new = try edit(old, path, hunks, &file)
        if let target {
            let goal = try files.place(of: target, for: .contents)
            if goal != place {
                guard try current(goal) == nil else { throw .exists(path: target) }
                staged[place]?.after = nil
                staged[goal]?.after = new
                let source = staged[place]?.modeFrom ?? place
                staged[goal]?.modeFrom = source
                file.kind = .moved
                file.movedTo = target
                outcome.files.append(file)
                return
            }
        }
        staged[place]?.after = new
        if new == old { file.notes.append("\(path) is as it was: the patch changes no line of it.") }
        outcome.files.append(file)
    }

    private mutating func edit(
        _ old: [UInt8], _ path: String, _ hunks: [Patch.Hunk], _ file: inout PatchOutcome.File
    ) throws(PatchError) -> [UInt8] {
        if hunks.isEmpty { return old }
        guard let (encoding, bytes) = FileEncoding.decode(old) else {
            throw .unusable(path: path, reason: "it begins like UTF-16 and has an odd number of bytes")
        }
        let text = SearchedText(bytes)
        var placer = HunkPlacer(path: path, text: text)
        var result = PatchedText(text, usesCRLF: usesCRLF)
        for (index, hunk) in hunks.enumerated() {
            let placement = try placer.place(hunk)
            result.apply(hunk, at: placement)
            outcome.fuzz += placement.fuzz
            note(placement, hunk: index + 1, path, &file)
        }
        file.linesAdded = result.added
        file.linesRemoved = result.removed
        guard let new = encoding.encode(result.finish()) else {
            throw .unusable(path: path, reason: "it is UTF-16, and the new lines are not valid UTF-8")
        }
        return new
    }

    private func note(_ placement: HunkPlacement, hunk: Int, _ path: String, _ file: inout PatchOutcome.File) {
        let name = "Hunk \(hunk) of \(path)"
        if !placement.others.isEmpty {
            let lines = placement.others.map { String($0 + 1) }
            let list =
                lines.count == 1
                ? "line \(lines[0])" : "lines \(lines.dropLast().joined(separator: ", ")) and \(lines[lines.count - 1])"
            file.notes.append(
                "\(name) was applied at line \(placement.start + 1) and would fit at \(list) too; "
                    + "if that was meant, name the place with an @@ line.")
        }
        switch placement.fuzz {
        case 0: break
        case 10_000...:
            file.notes.append("\(name) was to be at the end of the file and was found at line \(placement.start + 1).")
        case 100...: file.notes.append("\(name) fitted only with the white space at both ends of its lines left aside.")
        default: file.notes.append("\(name) fitted only with white space at the ends of lines left aside.")
        }
    }
}

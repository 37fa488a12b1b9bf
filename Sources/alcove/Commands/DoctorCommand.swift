internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveSandbox
internal import AlcoveServer

/// What is there, what is missing, and what it costs to be without.
enum DoctorCommand {
    static let command = Command(
        name: "doctor", summary: "Tell what is there, what is missing and what that costs.",
        options: [CommonOptions.root, CommonOptions.json],
        run: { invocation in
            let findings = examine(Folders(root: invocation.text("--root")), Resources())
            if invocation.has("--json") {
                Terminal.line(JSONValue.array(findings.map(\.json)).text(.indented))
            } else {
                for finding in findings {
                    Terminal.line("\(finding.isGood ? "ok     " : "missing") \(finding.subject): \(finding.found)")
                    if let remedy = finding.remedy { Terminal.line("        \(remedy)") }
                }
            }
            return findings.allSatisfy { $0.isGood || !$0.isNeeded } ? .success : .unavailable
        })

    struct Finding {
        var subject: String
        var isGood: Bool
        /// Whether Alcove cannot work without it.
        var isNeeded: Bool
        var found: String
        var remedy: String?

        var json: JSONValue {
            [
                "subject": .string(subject), "ok": .bool(isGood), "needed": .bool(isNeeded), "found": .string(found),
                "remedy": JSONValue(remedy),
            ]
        }
    }

    static func examine(_ folders: Folders, _ resources: Resources) -> [Finding] {
        [
            root(folders), space(folders), page(resources), libraries(resources), model(folders, resources),
            memory(folders),
            sandbox(), documents(), processor(),
        ]
    }

    private static func root(_ folders: Folders) -> Finding {
        var folder = folders.root
        while access(folder, F_OK) != 0, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = String(folder[..<slash])
        }
        var status = stat()
        let isFolder = stat(folder, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        let isWritable = isFolder && access(folder, W_OK) == 0
        return Finding(
            subject: "root folder", isGood: isWritable, isNeeded: true,
            found: isWritable
                ? folders.root : isFolder ? "\(folders.root) cannot be written" : "\(folder) is no folder",
            remedy: isWritable ? nil : "Nothing can be kept. Choose another folder with --root.")
    }

    private static func space(_ folders: Folders) -> Finding {
        var status = statvfs()
        var folder = folders.root
        while statvfs(folder, &status) != 0, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = String(folder[..<slash])
        }
        // Where the root cannot be, there is nothing to measure; its own line has said so.
        if access(folder, W_OK) != 0 {
            return Finding(subject: "disk space", isGood: true, isNeeded: false, found: "not measured")
        }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let isGood = free > 1_000_000_000
        return Finding(
            subject: "disk space", isGood: isGood, isNeeded: false, found: "\(free / 1_000_000) MB free",
            remedy: isGood ? nil : "Models need gigabytes. Make room, or choose another disk with --root.")
    }

    private static func page(_ resources: Resources) -> Finding {
        let isGood = resources.web.map { access($0 + "/index.html", R_OK) == 0 } ?? false
        return Finding(
            subject: "page", isGood: isGood, isNeeded: false,
            found: isGood
                ? resources.web ?? ""
                : resources.web.map { "there is no page in \($0)" } ?? "its files are not beside the program",
            remedy: !isGood
                ? "Only programs can use the host. Start from the checkout, or set ALCOVE_WEB." : nil)
    }

    private static func libraries(_ resources: Resources) -> Finding {
        let isGood = resources.web.map { access($0 + "/vendor", R_OK) == 0 } ?? false
        return Finding(
            subject: "page libraries", isGood: isGood, isNeeded: false, found: isGood ? "staged" : "not staged",
            remedy: isGood ? nil : "Answers show as plain text. Run `make bootstrap` in the checkout.")
    }

    private static func model(_ folders: Folders, _ resources: Resources) -> Finding {
        let library = ModelLibrary(folders: folders, resources: resources)
        guard let starter = library.starter else {
            return Finding(
                subject: "model", isGood: false, isNeeded: false, found: "none",
                remedy:
                    "Nothing can be asked. Run `make bootstrap` in the checkout, or put a GGUF file into \(folders.models)."
            )
        }
        do {
            try ModelFile.check(starter.path)
            return Finding(subject: "model", isGood: true, isNeeded: false, found: starter.path)
        } catch {
            let text = (error as? any UserFacingError)?.sentence ?? "\(error)"
            return Finding(
                subject: "model", isGood: false, isNeeded: false, found: text,
                remedy: "Delete the file and run `make bootstrap`, or choose another model.")
        }
    }

    /// What programs may have here, and what the last host took at its last measurement.
    private static func memory(_ folders: Folders) -> Finding {
        let reading = MemoryReading.current
        let isGood = MemoryReading.ownBytes > 3_000_000_000
        var found = ["\(Platform.physicalBytes / 1_000_000) MB in this device"]
        if let limit = reading.limitBytes { found.append("limited to \(limit / 1_000_000) MB") }
        if let left = reading.leftBytes { found.append("\(left / 1_000_000) MB left") }
        if let line = LogFile.lastLine(in: folders.root + "/logs", beginning: MemoryWatch.word) {
            found.append("a host here \(line)")
        }
        return Finding(
            subject: "memory", isGood: isGood, isNeeded: false, found: found.joined(separator: ", "),
            remedy: isGood ? nil : "Only small models fit.")
    }

    private static func sandbox() -> Finding {
        #if os(Linux)
        switch BubblewrapRunner.probe() {
        case .ready(let version, let milliseconds):
            return Finding(
                subject: "sandbox", isGood: true, isNeeded: false,
                found: "\(version), \(Int(milliseconds)) ms to start", remedy: nil)
        case .unavailable(let error):
            return Finding(
                subject: "sandbox", isGood: false, isNeeded: false, found: error.message,
                remedy: "No command can run: Alcove never runs one unconfined. \(error.hint ?? "")")
        }
        #else
        return Finding(
            subject: "sandbox", isGood: true, isNeeded: false, found: "the system's own", remedy: nil)
        #endif
    }

    private static func documents() -> Finding {
        let missing = MediaParts.missing
        return Finding(
            subject: "documents and pictures", isGood: missing == nil, isNeeded: false,
            found: missing?.cause ?? "can be looked into",
            remedy: missing.map { "Uploads are kept but not read. \($0.hint ?? "")" })
    }

    private static func processor() -> Finding {
        // The library says "NAME = 1 | NAME = 1 | ...".
        let features = LlamaLibrary.systemDescription.split(separator: "|").compactMap { part -> String? in
            let sides = part.split(separator: "=").map { $0.filter { !$0.isWhitespace } }
            guard sides.count == 2, sides[1] == "1" else { return nil }
            return sides[0].split(separator: ":").last.map(String.init)
        }
        return Finding(
            subject: "processor", isGood: true, isNeeded: false,
            found: "\(Platform.processorCount) cores; \(features.joined(separator: ", "))")
    }
}

internal import AlcoveCore
internal import AlcoveDownloads
internal import AlcoveServer

/// Brings a model of the catalogue.
enum PullCommand {
    static let command = Command(
        name: "pull", summary: "Download a model of the catalogue.",
        discussion: """
            What has arrived is kept whenever it ends; the same command goes on from there. Each file is checked against
            the catalogue's length and SHA-256 before it is used.
            """,
        arguments: [Command.Argument(name: "ID", help: "The model's id, as `alcove models` shows it.")],
        options: [
            CommonOptions.root, DownloadOptions.allowHost, DownloadOptions.tokenFile,
            Command.Option(
                name: "--required-only", short: nil, value: nil,
                help: "Leave out what the model also works without: projector (pictures), draft (speed)."),
            Command.Option(
                name: "--anyway", short: nil, value: nil, help: "Also when the model is too big for this device."),
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let library = ModelLibrary(folders: Folders(root: invocation.text("--root")), resources: Resources())
        let services = library.catalogServices(retries: RetrySchedule(attempts: 5))
        let catalog = services.catalog()
        let id = invocation.arguments[0]
        guard let entry = catalog.entry(id) else {
            throw InputError(
                code: "unknown_model", message: "There is no model \"\(id)\" in the catalogue.",
                hint: didYouMean(id, among: catalog.entries.map(\.id)) ?? "`alcove models` lists them.",
                place: .missing)
        }
        let roles: Set<CatalogFile.Role> = invocation.has("--required-only") ? [] : [.projector, .draft]
        let status = services.store.status(of: entry)
        if status.state == .installed, entry.files(with: roles).allSatisfy({ services.store.isComplete($0, in: entry) })
        {
            Terminal.line("\(entry.name) is on this device (\(status.path ?? "")).")
            return .success
        }
        let fit = services.fit(entry, status, device: services.memory())
        if fit.verdict == .tooBig, !invocation.has("--anyway") {
            throw InputError(
                code: "model_too_big", message: "\(entry.name): \(fit.sentence)",
                hint: "Choose a smaller one, or say --anyway.")
        }
        announce(entry, roles, fit)
        try SmallFolder.make(library.folders.root)
        let hosts =
            catalog.allowedHosts + (invocation.text("--allow-host") ?? "").split(separator: ",").map(String.init)
        let job = try await services.downloads.start(
            entry, roles: roles, gate: AddressGate(hosts: hosts),
            authorization: try DownloadOptions.authorization(invocation))
        let downloads = services.downloads
        DownloadOptions.stopOnSignal().whenSet { Task { await downloads.cancel(entry.id) } }
        return try await follow(job, entry, services)
    }

    private static func follow(
        _ job: DownloadJob, _ entry: CatalogEntry, _ services: CatalogServices
    ) async throws -> ExitCode {
        let line = ProgressLine(name: entry.id)
        for await update in job.updates() {
            switch update {
            case .progress(let progress):
                if progress.phase == .waiting, progress.reason == nil { break }
                let phase = DownloadProgress.Phase(rawValue: progress.phase.rawValue) ?? .downloading
                line.show(
                    DownloadProgress(
                        phase: phase, received: progress.received, total: progress.total, reason: progress.reason),
                    name: progress.file)
            case .ended(.completed, _):
                line.end()
                Terminal.line("\(entry.name) is ready: \(services.store.status(of: entry).path ?? "")")
                Terminal.notice("Talk to it with: alcove chat --model \(entry.id)")
                return .success
            case .ended(.cancelled, _):
                line.end()
                throw DownloadError.cancelled(name: entry.name)
            case .ended(_, let error):
                line.end()
                if let error { throw error }
                return .failure
            }
        }
        return .failure
    }

    private static func announce(_ entry: CatalogEntry, _ roles: Set<CatalogFile.Role>, _ fit: Fit) {
        let bytes = entry.files(with: roles).reduce(0) { $0 + $1.bytes }
        let license = entry.license.isEmpty ? "" : ", licence \(entry.license)"
        let name = entry.quantization.isEmpty ? entry.name : "\(entry.name) \(entry.quantization)"
        Terminal.notice("\(name): \(TransferText.bytes(bytes))\(license). \(fit.sentence)")
        if entry.experimental { Terminal.notice("It is experimental.") }
        if !entry.notes.isEmpty { Terminal.notice(entry.notes) }
    }
}

/// The root folder, which a command may be the first to need.
enum SmallFolder {
    static func make(_ path: String) throws(InputError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try make(String(path[..<slash])) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw InputError(
                code: "folder_unusable", message: "\(path) cannot be made: \(Platform.describe(errno: errno)).",
                hint: "Choose another folder with --root.", place: .host)
        }
    }
}

internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveEngine
internal import AlcoveRemote
internal import AlcoveServer
internal import AlcoveStorage
internal import Synchronization

/// The host: the page and its routes on loopback.
enum ServeCommand {
    static let command = Command(
        name: "serve", summary: "Start the host and print the address of the page.",
        discussion: """
            The host listens on this machine only. The address holds a key that is new at every start; it is also
            written to connection.json in the root folder, readable by you alone, for programs. Ctrl-C ends the host.
            """,
        options: [
            Command.Option(
                name: "--port", short: "p", value: "N",
                help: "Port to listen on. Default: 8421, or a free one when that is taken."),
            CommonOptions.root,
        ] + CommonOptions.engine + [
            Command.Option(name: "--open", short: nil, value: nil, help: "Open the page in the browser."),
            Command.Option(name: "--no-model", short: nil, value: nil, help: "Start without loading a model."),
            Command.Option(
                name: "--script", short: nil, value: "FILE",
                help: "Play a scripted model (JSON) instead of a real one; for trying tools and surfaces."),
            AgentTools.Execution.option,
        ],
        run: { try await run($0) })

    static let usualPort: UInt16 = 8421

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        // From here on a signal waits for us instead of ending the process: the address may be read before we wait for it.
        let ending = Ending()
        let port = try invocation.int("--port", in: 0...65_535).map { UInt16($0) }
        let folders = Folders(root: invocation.text("--root")), resources = Resources()
        let library = ModelLibrary(folders: folders, resources: resources)
        let gate = ComputeGate()
        let loader = try CommonOptions.loader(invocation, folders: folders, resources: resources, gate: gate)
        let named = try invocation.text("--model").map { name in try library.path(named: name) }

        let reserve = DiskReserve(folder: folders.root)
        let database = try await Database.open(folder: folders.root, reserve: reserve)
        let board = SettingsBoard(SettingsStore(database))
        try await board.restore()
        mkdir(folders.models, 0o700)
        library.fastCopies.sweep()
        let log = LogFile(folder: folders.root + "/logs")
        log.write("alcove \(Alcove.version) starts")
        LlamaLibrary.setLogLater { level, line in if level >= .warning { log.write("llama.cpp: \(line)") } }
        let script = invocation.text("--script").map(Folders.absolute)
        let remote = loader.remote, workers = loader.workers
        let remoteHost = remote?.endpoint.host ?? (workers.isEmpty ? nil : workers.map(\.name).joined(separator: ", "))
        let check: ModelHost.Check = { path in
            if let remote { return try RemoteOptions.check(path, remote) }
            if script != nil { return }
            try ModelFile.check(path)
            if let projector = loader.projector { try ProjectorFile.check(projector, model: path) }
            // The workers' memory is asked for when the model is loaded.
            if !workers.isEmpty { return }
            try ModelFile.checkMemory(path, cacheType: CacheType(rawValue: board.current.cacheType) ?? .f16)
        }
        let model = ModelHost(
            check: check, remoteHost: script == nil ? remoteHost : nil, remoteEngine: remote == nil ? "rpc" : "openai",
            gate: gate
        ) {
            path, progress in
            if let script { return LoadedModel(model: try ScriptFile.model(script)) }
            return try await loader.load(
                path, context: loader.context ?? board.current.contextLength, cacheType: board.current.cacheType,
                progress: progress)
        }
        let warmUp = script == nil && remote == nil ? WarmUp() : nil
        let repair = EngineRepair(host: model, gate: gate, rebuild: { LlamaLibrary.rebuild() }) { warmUp?.cancel() }
        let host = HostServices(
            database: database, board: board, model: model,
            files: HostServices.ModelFiles(
                list: { library.entries.map(\.name) }, path: { try library.path(named: $0) }),
            tools: try AgentTools.registry(database, AgentTools.Execution(invocation)), root: folders.root,
            decoder: MediaParts.decoder, warmUp: warmUp, repair: remote == nil ? repair : nil,
            catalog: library.catalogServices { board.current.cacheType },
            fastCopies: library.fastCopyServices(threads: loader.threads), memoryLog: { log.write($0) })

        try await DiskReserve.spending { try await host.rewinds.recover() }
        do {
            _ = try await DiskReserve.spending { try await host.keepCutOffAnswers() }
        } catch {
            // They stay in the log, and the next start tries again.
            log.write("answers that were cut off: \(error)")
        }

        let access = AccessControl()
        let site = Site(
            access: access, router: host.router(),
            files: resources.web.map { StaticFiles(ConfinedFolder($0)) })
        let server = HTTPServer(site, log: Log { log.write($0) })
        let bound = try start(server, port: port)
        let keeper = LoopbackKeeper(server, log: Log { log.write($0) })
        do { try writeConnection(port: bound, access, to: folders) } catch {
            // A full disk: people can still come, by the address below.
            guard error.place == .space else { throw error }
            if !reserve.giveUp() || (try? writeConnection(port: bound, access, to: folders)) == nil {
                Terminal.notice("alcove: \(error.sentence)")
            }
        }
        if reserve.isGivenUp, !reserve.take() { Terminal.notice(DiskUse(root: folders.root).notice) }
        ending.whenContinued {
            Task {
                switch await keeper.check() {
                case .alive, .restarted: break
                case .moved(let port):
                    try? writeConnection(port: port, access, to: folders)
                    Terminal.line("Alcove has moved to \(access.entryURL(port: port))")
                case .failed(let message): Terminal.notice("alcove: The host cannot be reached: \(message)")
                }
            }
        }
        // What an app does when it leaves the foreground and comes back, for whoever runs the host on a terminal.
        ending.onGate { closes in
            if closes { return gate.close() }
            Task {
                let isQuiet = await host.turns.runningCount == 0
                if !isQuiet || remote != nil { return gate.open() }
                do { try await repair.returnToForeground() } catch { log.write("repair: \(error)") }
            }
        }
        let hasFirst = script == nil && remote == nil && !invocation.has("--no-model")
        if hasFirst, let path = firstModel(named, library: library, board: board) { await model.expect(path) }
        announce(access.entryURL(port: bound), database: database, resources: resources)
        if invocation.has("--open") { Browser.open(access.entryURL(port: bound)) }

        let loading = Task {
            if invocation.has("--no-model") { return }
            if let script {
                try? await model.load(script)
                return
            }
            if let remote { return await RemoteOptions.connect(remote, model) }
            await loadFirstModel(
                named, library: library, loader: loader, model: model, board: board)
            host.warmUpSoon()
        }
        let sweeping = Task {
            reserve.take()
            await host.sweepUploadsRegularly()
        }
        let signal = await ending.wait()
        loading.cancel()
        sweeping.cancel()
        Terminal.notice("\nStopping ...")
        unlink(folders.connectionFile)
        host.warmUp?.cancel()
        await host.catalog?.downloads.stopAll()
        await host.fastCopies?.jobs.cancel()
        await host.turns.stopAll()
        await server.stop(grace: .seconds(5))
        await model.unload()
        await database.close()
        log.write("alcove stops (signal \(signal))")
        return .success
    }

    /// Tells programs of this user where the host is.
    private static func writeConnection(port: UInt16, _ access: AccessControl, to folders: Folders) throws(InputError) {
        let connection: JSONValue = [
            "url": .string("http://127.0.0.1:\(port)"), "token": .string(access.token),
            "pid": JSONValue(Int(getpid())),
        ]
        try SmallFile.write(connection.bytes(.indented) + [0x0A], to: folders.connectionFile)
    }

    /// The chosen port, or the usual one, or any that is free.
    private static func start(_ server: HTTPServer, port: UInt16?) throws -> UInt16 {
        if let port { return try server.start(port: port) }
        do {
            return try server.start(port: usualPort)
        } catch {
            return try server.start(port: 0)
        }
    }

    private static func announce(_ url: String, database: Database, resources: Resources) {
        if let kept = database.opening.keptAside { Terminal.notice(kept.message) }
        if resources.web == nil {
            Terminal.notice(
                "The page's files are not beside the program, so only programs can use this host. Start it with `make run` "
                    + "in the checkout, or name the folder in ALCOVE_WEB.")
        }
        Terminal.line("Alcove is at \(url)")
    }

    /// The file to load first, if there is any. A model that was chosen and is gone is no reason to have none.
    private static func firstModel(_ named: String?, library: ModelLibrary, board: SettingsBoard) -> String? {
        let chosen = board.current.selectedModelID.flatMap { try? library.path(named: $0) }
        return named ?? chosen ?? library.starter?.path
    }

    private static func loadFirstModel(
        _ named: String?, library: ModelLibrary, loader: ModelLoader, model: ModelHost, board: SettingsBoard
    ) async {
        guard let path = firstModel(named, library: library, board: board) else {
            Terminal.notice(
                "There is no model yet. Put a GGUF file into \(library.folders.models), or run `make bootstrap` in the "
                    + "checkout for the starter model.")
            return
        }
        // A file whose loading ended the program is not tried again unless somebody asks for it.
        if named == nil, loader.marker?.crashedModel == path {
            let error = EngineError.crashedBefore(path: path)
            Terminal.notice(error.sentence)
            loader.marker?.clear()
            return await model.refuse(path, because: error)
        }
        if let fit = try? library.catalogServices().fit(ofFile: path), fit.verdict != .fits {
            Terminal.notice("\(path.split(separator: "/").last ?? ""): \(fit.sentence)")
        }
        do {
            let start = Platform.monotonicNanoseconds
            try await model.load(path)
            let seconds = Double(Platform.monotonicNanoseconds - start) / 1e9
            let description = await model.ready?.model.description
            Terminal.notice("\(description?.id ?? path) answers (loaded in \(Int(seconds * 1000)) ms).")
            for notice in await model.ready?.notices ?? [] { Terminal.notice(notice) }
            _ = try? await board.change { try $0.changing(["selectedModelId": .string(path)]) }
        } catch is CancellationError {
            return
        } catch {
            Terminal.notice("alcove: \((error as? any UserFacingError)?.sentence ?? "\(error)")")
        }
    }
}

/// The wish to end, by the first signal. A second one leaves at once.
private final class Ending: Sendable {
    private let state = Mutex((signal: Int32?.none, waiting: CheckedContinuation<Int32, Never>?.none))
    private let continued = Mutex<(@Sendable () -> Void)?>(nil)
    private let gate = Mutex<(@Sendable (_ closes: Bool) -> Void)?>(nil)

    /// What is done when the program goes on after it was stopped.
    func whenContinued(_ body: @escaping @Sendable () -> Void) { continued.withLock { $0 = body } }

    /// What is done at SIGUSR1 (close) and SIGUSR2 (open).
    func onGate(_ body: @escaping @Sendable (_ closes: Bool) -> Void) { gate.withLock { $0 = body } }

    init() {
        Signals.handle { [self] signal in
            if signal == SIGUSR1 || signal == SIGUSR2 {
                gate.withLock { $0 }?(signal == SIGUSR1)
                return
            }
            if signal == SIGCONT {
                continued.withLock { $0 }?()
                return
            }
            let (isSecond, waiting) = state.withLock { state in
                defer {
                    state.signal = signal
                    state.waiting = nil
                }
                return (state.signal != nil, state.waiting)
            }
            if isSecond { exit(ExitCode.interrupted.rawValue) }
            waiting?.resume(returning: signal)
        }
    }

    /// Returns the signal, once there is one.
    func wait() async -> Int32 {
        await withCheckedContinuation { continuation in
            let signal = state.withLock { state -> Int32? in
                if state.signal == nil { state.waiting = continuation }
                return state.signal
            }
            if let signal { continuation.resume(returning: signal) }
        }
    }
}

/// The system's browser.
enum Browser {
    static func open(_ url: String) {
        #if os(macOS)
        let words = ["/usr/bin/open", url]
        #else
        let words = ["/usr/bin/xdg-open", url]
        #endif
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        if posix_spawn(&process, words[0], nil, nil, &arguments, environ) != 0 {
            Terminal.notice("No browser could be opened; open the address by hand.")
        }
    }
}

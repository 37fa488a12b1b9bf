internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveRemote

/// A server elsewhere that answers in place of a model of this device: only when it was asked for in so many words.
enum RemoteOptions {
    static let all = [
        Command.Option(
            name: "--engine", short: nil, value: "NAME",
            help:
                "Who answers: llama (default), a model of this device; or openai, a server. Text then leaves this device."
        ),
        Command.Option(
            name: "--endpoint", short: nil, value: "URL",
            help: "With --engine openai: the server's address, such as https://example.org/v1."),
        Command.Option(
            name: "--key-file", short: nil, value: "FILE",
            help: "With --engine openai: a file with the server's key; it is sent to that server only."),
        Command.Option(
            name: "--remote-model", short: nil, value: "NAME",
            help: "With --engine openai: the server's model. Default: the first it names."),
    ]

    /// - Returns: nil for a model of this device.
    static func read(_ invocation: Invocation) throws -> RemoteEngine.Options? {
        switch invocation.text("--engine") ?? "llama" {
        case "llama":
            if let stray = ["--endpoint", "--key-file", "--remote-model"].first(where: { invocation.text($0) != nil }) {
                throw UsageError("\(stray) is for a server.", hint: "Write --engine openai with it.")
            }
            return nil
        case "openai": break
        case let other: throw UsageError("--engine is llama or openai, not \"\(other)\".")
        }
        guard let text = invocation.text("--endpoint") else {
            throw UsageError("--engine openai needs --endpoint.", hint: "Write --endpoint https://example.org/v1")
        }
        for name in ["--model", "--script"] where invocation.command.options.contains(where: { $0.name == name }) {
            guard invocation.text(name) == nil else {
                throw UsageError("\(name) and --engine openai name two models.", hint: "Leave one of them out.")
            }
        }
        let key = try invocation.text("--key-file").map { path in
            let path = Folders.absolute(path)
            return try RemoteEndpoint.key(in: try SmallFile.read(path), of: path)
        }
        return RemoteEngine.Options(
            endpoint: try RemoteEndpoint(text, key: key), model: invocation.text("--remote-model"),
            contextLength: try invocation.int("--context", in: 256...4_194_304))
    }

    /// A host that was started for a server loads nothing else: what its page says of leaving text must stay true.
    static func check(_ path: String, _ remote: RemoteEngine.Options) throws(InputError) {
        guard path != remote.endpoint.shown else { return }
        throw InputError(
            code: "engine_is_remote", message: "This host was started for the server \(remote.endpoint.host).",
            hint: "Start it without --engine openai to load models of this device.")
    }

    /// Finds the server, and goes on looking for one that is not there yet.
    static func connect(_ remote: RemoteEngine.Options, _ model: ModelHost) async {
        var pause = 1
        Terminal.notice(RemoteEngine.warning(host: remote.endpoint.host))
        while !Task.isCancelled {
            do {
                try await model.load(remote.endpoint.shown)
                Terminal.notice("\(await model.ready?.model.description.name ?? "") answers.")
                return
            } catch let error as RemoteError {
                if pause == 1 { Terminal.notice("alcove: \(error.sentence)") }
                guard case .unreachable = error else { return }
            } catch {
                return
            }
            try? await Task.sleep(for: .seconds(pause))
            pause = min(2 * pause, 30)
        }
    }
}

internal import AlcoveCore
internal import AlcoveDownloads
internal import Synchronization

extension PlumbingCommand {
    static let download = Command(
        name: "download", summary: "Bring one file; an unfinished FILE.part is resumed.",
        discussion: """
            Exit code 0 only when FILE is complete; 69 when the same command may succeed later, and it then goes on where
            it stopped. A literal address of this device or its network, typed here, is allowed; a name that leads to one,
            or a redirect to another host, is refused without --allow-host. Proxies are not used.
            """,
        arguments: [
            Command.Argument(name: "URL", help: "http:// or https://; a name and password in it go to that host only."),
            Command.Argument(name: "FILE", help: "Where it goes."),
        ],
        options: [
            Command.Option(name: "--bytes", short: nil, value: "N", help: "The length it must have."),
            Command.Option(name: "--sha256", short: nil, value: "HEX", help: "The hash it must have."),
            DownloadOptions.allowHost, DownloadOptions.tokenFile,
            Command.Option(
                name: "--attempts", short: nil, value: "N",
                help: "Attempts in a row that may bring nothing. Default: 4."),
        ],
        run: { invocation in
            let address = try WebAddress(invocation.arguments[0])
            var request = DownloadRequest(
                address: address, path: Folders.absolute(invocation.arguments[1]),
                gate: DownloadOptions.gate(invocation).adding(typed: address))
            request.expectedBytes = try invocation.int("--bytes", in: 0...1 << 50).map { UInt64($0) }
            request.expectedSHA256 = try invocation.text("--sha256").map(sha256)
            if let token = try DownloadOptions.authorization(invocation) { request.authorization = token }
            request.retries = RetrySchedule(
                attempts: try invocation.int("--attempts", in: 1...100) ?? 4, firstDelay: 0.25, longestDelay: 5)
            let line = ProgressLine(name: invocation.arguments[1])
            let length = try await DownloadThread.run(request, stop: DownloadOptions.stopOnSignal()) { line.show($0) }
            line.end()
            Terminal.line("\(request.path) is complete (\(length) bytes).")
            return .success
        })

    private static func sha256(_ text: String) throws -> String {
        let text = text.lowercased()
        guard text.utf8.count == 64, text.allSatisfy(\.isHexDigit) else {
            throw UsageError("--sha256 is 64 hexadecimal digits, not \"\(text)\".")
        }
        return text
    }
}

/// Options and habits that the commands that download share.
enum DownloadOptions {
    static let allowHost = Command.Option(
        name: "--allow-host", short: nil, value: "HOST[,HOST]",
        help: "Hosts of this device or its network that may be downloaded from.")
    static let tokenFile = Command.Option(
        name: "--token-file", short: nil, value: "FILE",
        help: "A file that holds an access token, sent to the address's own host only.")

    static func gate(_ invocation: Invocation) -> AddressGate {
        AddressGate(hosts: (invocation.text("--allow-host") ?? "").split(separator: ",").map(String.init))
    }

    static func authorization(_ invocation: Invocation) throws -> String? {
        guard let path = invocation.text("--token-file") else { return nil }
        let text = String(decoding: try SmallFile.read(Folders.absolute(path)).prefix(16 << 10), as: UTF8.self)
        let token = text.filter { !$0.isWhitespace }
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw UsageError("\(path) holds no access token.")
        }
        return "Bearer \(token)"
    }

    /// Set by Ctrl-C or the system's wish to end; a second one leaves at once.
    static func stopOnSignal() -> StopSignal {
        let stop = StopSignal()
        Signals.handle { _ in
            if stop.isSet { exit(ExitCode.interrupted.rawValue) }
            stop.set()
        }
        return stop
    }
}

/// One line of progress: rewritten on a terminal, a line for every tenth elsewhere.
final class ProgressLine: Sendable {
    private let name: String
    private let state = Mutex((shown: UInt64(0), tenth: -1, phase: DownloadProgress.Phase.downloading, isOpen: false))
    private let speed = Mutex(SpeedMeter())

    init(name: String) { self.name = name.split(separator: "/").last.map(String.init) ?? name }

    func show(_ progress: DownloadProgress, name: String? = nil) {
        let now = Platform.monotonicNanoseconds
        let rate = speed.withLock { $0.note(progress.received, phase: progress.phase, at: now) }
        let tenth = progress.total.map { $0 > 0 ? Int(progress.received * 10 / $0) : 10 } ?? -1
        let isDue = state.withLock { state -> Bool in
            if Terminal.errorIsTerminal {
                let isLast = progress.received == progress.total
                guard now - state.shown > 100_000_000 || isLast || progress.phase != state.phase else { return false }
            } else if tenth == state.tenth, progress.phase == state.phase {
                return false
            }
            state = (now, tenth, progress.phase, true)
            return true
        }
        guard isDue else { return }
        let text = "\(name ?? self.name)  \(TransferText.progress(progress, rate))"
        if Terminal.errorIsTerminal {
            Terminal.noticePart("\r\u{1B}[K" + Terminal.harmless(text))
        } else {
            Terminal.notice(text)
        }
    }

    /// Leaves the line, if one is open on a terminal.
    func end() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen, Terminal.errorIsTerminal { Terminal.noticePart("\r\u{1B}[K") }
    }
}

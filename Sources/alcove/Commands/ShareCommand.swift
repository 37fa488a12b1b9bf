internal import AlcoveCore
internal import AlcoveServer

/// Puts something into the inbox of the host, for the next chat.
enum ShareCommand {
    static let command = Command(
        name: "share", summary: "Give files, a text or an address to Alcove, to talk about.",
        discussion: """
            What is shared waits until the page is looked at, which offers it in a new chat. Nothing is sent by itself. It
            works whether the host runs or not. What is piped in is the text: `git diff | alcove share --title "My change"`
            """,
        arguments: [
            Command.Argument(name: "FILE", help: "Files, copied as they are now.", isOptional: true, repeats: true)
        ],
        options: [
            Command.Option(name: "--text", short: nil, value: "TEXT", help: "A text; goes into the message box."),
            Command.Option(name: "--url", short: nil, value: "ADDRESS", help: "A web address; it is not opened."),
            Command.Option(name: "--title", short: nil, value: "TEXT", help: "What it is called."), CommonOptions.root,
        ],
        run: { try run($0) })

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root"))
        var text = invocation.text("--text")
        if text == nil, invocation.arguments.isEmpty, invocation.text("--url") == nil, !Terminal.inputIsTerminal {
            guard let piped = Terminal.readAll(limit: ShareEnvelope.textLimit) else {
                throw UsageError(
                    "The input is longer than \(ShareEnvelope.textLimit >> 10) KB.", hint: "Share it as a file.")
            }
            text = String(decoding: piped, as: UTF8.self)
        }
        let id = try ShareWriter(folder: folders.share).write(
            files: invocation.arguments.map(Folders.absolute), text: text, url: invocation.text("--url"),
            title: invocation.text("--title"),
            source: "alcove share")
        Terminal.line("Shared (\(id)). The page offers it in a new chat.")
        return .success
    }
}

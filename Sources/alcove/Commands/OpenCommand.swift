internal import AlcoveCore
internal import AlcoveServer

/// Opens the page of the host that runs, with words in its box if there are any.
enum OpenCommand {
    static let command = Command(
        name: "open", summary: "Open the page, with words in its box to be read before they are sent.",
        discussion: """
            The words only stand in the box: nothing is sent, kept or run by itself. They wait when no host runs. \
            `alcove open --continue last --ask "And the second one?"` puts them into the chat that was changed last.
            """,
        options: [
            Command.Option(name: "--ask", short: nil, value: "TEXT", help: "A question, in a new chat."),
            Command.Option(
                name: "--continue", short: nil, value: "CHAT",
                help: "Go on with a chat: its id, the first six digits of it or more, or last."),
            Command.Option(
                name: "--capture", short: nil, value: "TEXT", help: "Something to keep as knowledge, as a command."),
            Command.Option(
                name: "--no-browser", short: nil, value: nil, help: "Only leave the words; the page takes them."),
            CommonOptions.root,
        ],
        run: { try run($0) })

    private static func run(_ invocation: Invocation) throws -> ExitCode {
        let folders = Folders(root: invocation.text("--root"))
        let hasWords = try leaveWords(invocation, in: folders)
        let address = RunningHost(folders)?.page
        if hasWords {
            let longest = ["--ask", "--capture"].compactMap { invocation.text($0)?.count }.max() ?? 0
            if longest > EntryPoint.lengthLimit {
                Terminal.notice(
                    "Only the first \(EntryPoint.lengthLimit) characters wait there; give the rest as a file.")
            }
            Terminal.line("It waits for the page's box. Nothing is sent by itself.")
        } else if address == nil {
            throw InputError(
                code: "no_host", message: "No Alcove is running in \(folders.root).",
                hint: "Start it: alcove serve --open", place: .busy)
        }
        if invocation.has("--no-browser") { return .success }
        if let address { Browser.open(address) } else { Terminal.notice("No Alcove is running: alcove serve --open") }
        return .success
    }

    private static func leaveWords(_ invocation: Invocation, in folders: Folders) throws -> Bool {
        let ask = invocation.text("--ask"), chat = invocation.text("--continue")
        let capture = invocation.text("--capture")
        if capture != nil, ask != nil || chat != nil {
            throw UsageError("--capture goes with neither --ask nor --continue.", hint: "Leave one of them out.")
        }
        let writer = ShareWriter(folder: folders.share)
        if let capture {
            _ = try writer.write(.capture, text: capture)
        } else if let chat {
            _ = try writer.write(.continue, text: ask ?? "", chat: chat)
        } else if let ask {
            _ = try writer.write(.ask, text: ask)
        }
        return capture != nil || ask != nil || chat != nil
    }
}

internal import AlcoveCore
internal import AlcoveEngine

/// What is in a model file.
enum InspectCommand {
    static let command = Command(
        name: "inspect", summary: "Tell what is in a GGUF file.",
        discussion: "Reads the header only, with our own reader: safe on any file.",
        arguments: [Command.Argument(name: "FILE", help: "The file.")],
        options: [CommonOptions.json],
        run: { invocation in
            let path = Folders.absolute(invocation.arguments[0])
            if invocation.has("--json") {
                Terminal.line(try ModelFile.inspection(path).text())
            } else {
                Terminal.write(try ModelFile.inspectionText(path))
            }
            return .success
        })
}

internal import AlcoveCore
internal import AlcoveServer

/// `alcove models import`: takes a model file of this device into the models' folder.
enum ImportCommand {
    static let command = Command(
        name: "import", summary: "Take a model file of this device in.",
        discussion: """
            The file is looked at first and refused by name when it cannot be used. Weights in PrismML's ternary types
            (PTQ1_0, PQ2_0) are written anew as Q2_0, without loss and checked number by number: the copy is a third larger.
            """,
        arguments: [Command.Argument(name: "FILE", help: "A GGUF file.")],
        options: [
            CommonOptions.root, CommonOptions.json,
            Command.Option(
                name: "--in-place", short: nil, value: nil, help: "Make a link to where it lies instead of a copy."),
        ],
        run: { try await run($0) })

    private static func run(_ invocation: Invocation) async throws -> ExitCode {
        let library = ModelLibrary(folders: Folders(root: invocation.text("--root")), resources: Resources())
        Folder.make(library.folders.models)
        let imports = library.catalogServices().imports
        let path = Folders.absolute(invocation.arguments[0])
        let stop = DownloadOptions.stopOnSignal()
        let work = Task { try await imports.run(path, copies: !invocation.has("--in-place")) }
        stop.whenSet { work.cancel() }
        let imported = try await work.value
        if invocation.has("--json") {
            Terminal.line(
                JSONValue.object([
                    "model": .string(imported.name), "path": .string(imported.path), "copied": .bool(imported.isCopy),
                    "bytes": .integer(Int64(imported.bytes)),
                ]).text(.indented))
        } else {
            let how = imported.isCopy ? "copied, \(imported.bytes / 1_000_000) MB" : "used where it lies"
            Terminal.line("\(imported.name) is here (\(how)).")
        }
        return .success
    }
}

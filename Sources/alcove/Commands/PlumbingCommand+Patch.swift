internal import AlcoveAgent
internal import AlcoveCore

extension PlumbingCommand {
    /// Longest patch that is read from a file or a pipe.
    private static let patchLimit = 64 << 20

    static let patch = Command(
        name: "patch", summary: "Apply a patch in the current folder, all of it or nothing.",
        discussion: "PATCH is a file with *** Begin Patch ... *** End Patch; without it, standard input is read.",
        arguments: [Command.Argument(name: "PATCH", help: "The file; - is standard input.", isOptional: true)],
        run: { invocation in
            let path = invocation.arguments.first ?? "-"
            let bytes = try path == "-" ? standardInput() : file(path)
            do throws(PatchError) {
                let outcome = try Patch(parsing: bytes).apply(to: PatchFolder("."))
                Terminal.line(outcome.text)
                return .success
            } catch {
                Terminal.notice(error.report)
                return .failure
            }
        })

    private static func standardInput() throws -> [UInt8] {
        guard let bytes = Terminal.readAll(limit: patchLimit) else {
            throw InputError(code: "long_patch", message: "The patch is longer than \(patchLimit) bytes.")
        }
        return bytes
    }

    private static func file(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw InputError(
                code: "no_patch", message: "The patch \(path) cannot be opened: \(Platform.describe(errno: errno)).")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count <= patchLimit else {
                throw InputError(code: "no_patch", message: "The patch \(path) cannot be read.")
            }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
    }
}

internal import AlcoveCore
package import AlcoveSandbox
internal import CPython
internal import Synchronization

/// Runs Python programs in the interpreter of this process, one after another.
package enum PythonProgram {
    /// Runs one to its end, on the interpreter's own thread.
    ///
    /// - Parameters:
    ///   - place: What it may touch. Paths are those of the process: in the sandbox the workspace is `/workspace`, elsewhere
    ///     its real folder.
    ///   - streams: Descriptors of its standard input, output and error.
    ///   - isAlone: Whether the process ends with it, so that nothing has to be put back.
    /// - Returns: The exit status; 70 for a fault of ours.
    package static func run(
        _ request: ScriptRequest, in place: ScriptPlace, packages: [String] = [], streams: [Int32], isAlone: Bool
    ) -> Int32 {
        var folder = request.folder
        if folder == ConfinedPaths.workspaceName || folder.hasPrefix(ConfinedPaths.workspaceName + "/") {
            folder = place.workspace + folder.dropFirst(ConfinedPaths.workspaceName.count)
        }
        PythonPolicy.current.withLock {
            $0 = PythonPolicy(place: place, packages: packages, allowsNetwork: request.allowsNetwork)
        }
        defer { PythonPolicy.current.withLock { $0 = nil } }
        var environment = JSONObject()
        for (name, value) in request.environment.sorted(by: { $0.key < $1.key }) {
            // The workspace by the name that this process knows it by.
            let isPlace = value == ConfinedPaths.workspaceName && ["HOME", "PWD", "TMPDIR"].contains(name)
            environment[name] = .string(isPlace ? place.workspace : value)
        }
        let wish: JSONValue = [
            "arguments": .array(request.arguments.map { .string($0) }), "folder": .string(folder),
            "environment": .object(environment), "streams": .array(streams.map { .integer(Int64($0)) }),
            "isAlone": .bool(isAlone), "workspace": .string(place.workspace),
        ]
        let status = alcove_py_call("_alcove", "run", wish.text())
        return status < 0 ? 70 : status
    }
}

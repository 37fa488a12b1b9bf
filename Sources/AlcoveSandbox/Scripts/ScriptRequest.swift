package import AlcoveCore

/// One run of a program in a language whose interpreter is part of Alcove.
package struct ScriptRequest: Sendable, Hashable {
    package enum Language: String, Sendable, Hashable, CaseIterable {
        case python
        case javascript
    }

    package var language: Language
    /// What stands after `python3` or `node` on a command line.
    package var arguments: [String]
    /// Where it runs: a path as scripts see it, below `/workspace`.
    package var folder = ConfinedPaths.workspaceName
    package var environment: [String: String] = [:]
    package var limits = CommandLimits()
    package var allowsNetwork = false

    /// Bytes of memory it may hold at most: less than a command's address space.
    package var residentBytes: UInt64 { min(limits.memoryBytes, 2 << 30, Platform.physicalBytes / 2) }

    package init(language: Language, arguments: [String]) {
        self.language = language
        self.arguments = arguments
    }
}

/// Where a program runs, and what it may touch.
package struct ScriptPlace: Sendable, Hashable {
    package var workspace: String
    package var readOnly: [ConfinedPaths.Mount]

    package init(workspace: String, readOnly: [ConfinedPaths.Mount] = []) {
        self.workspace = workspace
        self.readOnly = readOnly
    }
}

/// The interpreters of Python and JavaScript, wherever they live.
package protocol ScriptRunner: Sendable {
    /// Starts a program.
    ///
    /// - Parameter streams: Three descriptors that become its standard input, output and error. They stay the caller's.
    func start(
        _ request: ScriptRequest, in place: ScriptPlace, streams: [Int32]
    ) throws(SandboxError) -> any RunningScript
}

/// A program that runs.
package protocol RunningScript: Sendable {
    /// Becomes readable when the program has ended.
    var endDescriptor: Int32 { get }

    /// Waits for the end. An exit status as shells have it: 128 and the number for a signal.
    func wait() throws(SandboxError) -> Int32

    /// Ends it for certain, soon.
    func kill()
}

extension ScriptRequest {
    /// For the way to the interpreter.
    package var json: JSONValue {
        [
            "language": .string(language.rawValue), "arguments": .array(arguments.map { .string($0) }),
            "folder": .string(folder), "environment": .object(JSONObject(environment)),
            "seconds": .double(limits.seconds), "memory": JSONValue(Int(clamping: limits.memoryBytes)),
            "file": JSONValue(Int(clamping: limits.fileBytes)), "network": .bool(allowsNetwork),
        ]
    }

    package init?(_ json: JSONValue) {
        guard let language = json["language"]?.string.flatMap(Language.init),
            let arguments = json["arguments"]?.array, let folder = json["folder"]?.string,
            let seconds = json["seconds"]?.double, let memory = json["memory"]?.int, let file = json["file"]?.int
        else { return nil }
        self.init(language: language, arguments: arguments.compactMap(\.string))
        self.folder = folder
        for (name, value) in json["environment"]?.object?.members ?? [] { environment[name] = value.string }
        limits.seconds = seconds
        limits.memoryBytes = UInt64(clamping: memory)
        limits.fileBytes = UInt64(clamping: file)
        allowsNetwork = json["network"]?.bool ?? false
    }
}

extension JSONObject {
    fileprivate init(_ texts: [String: String]) {
        self.init()
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) { self[name] = .string(value) }
    }
}

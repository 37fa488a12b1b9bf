internal import AlcoveCore

/// Where things are: what belongs to the person, and what belongs to the program.
struct Folders: Sendable {
    /// Chats, models, settings: everything of the person's.
    let root: String

    /// - Parameter root: nil is `$ALCOVE_ROOT`, else the system's own place for such data.
    init(root: String?) {
        let chosen = root ?? Folders.environment("ALCOVE_ROOT") ?? Folders.standardRoot
        self.root = Folders.absolute(chosen)
    }

    var models: String { root + "/models" }
    /// The person's own models to download, written by hand.
    var catalogFile: String { root + "/catalog.json" }
    var connectionFile: String { root + "/connection.json" }
    /// What other programs share with the host.
    var share: String { root + "/share" }
    var loadMarker: String { root + "/loading.json" }

    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The person's folder; without `$HOME`, as in some services, the one the system has on record.
    private static var home: String {
        if let home = environment("HOME") { return home }
        guard let folder = getpwuid(getuid())?.pointee.pw_dir else { return "." }
        return String(cString: folder)
    }

    private static var standardRoot: String {
        #if os(macOS)
        return home + "/Library/Application Support/Alcove"
        #else
        return (environment("XDG_DATA_HOME") ?? home + "/.local/share") + "/alcove"
        #endif
    }

    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        if path == "~" || path.hasPrefix("~/") { return home + path.dropFirst() }
        guard let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }
}

/// What comes with the program: the page, the starter model.
struct Resources: Sendable {
    /// The page's folder; nil when it is not beside the program.
    let web: String?
    /// Folders that may hold models which came with the program.
    let bundledModels: [String]
    /// The program's own file.
    let program: String
    /// The program beside it that runs Python and JavaScript.
    var runtime: String { String(program[...(program.lastIndex(of: "/") ?? program.startIndex)]) + "alcove-runtime" }

    init() {
        program = Resources.programPath
        var folder = program
        var web: String?
        var models: [String] = []
        // From .build/release/alcove up to the checkout, or from <prefix>/bin/alcove to <prefix>/share/alcove.
        for _ in 0..<6 {
            guard let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else { break }
            folder = String(folder[..<slash])
            for candidate in [folder, folder + "/share/alcove"] where access(candidate + "/Web/index.html", R_OK) == 0 {
                web = web ?? candidate + "/Web"
                models += [candidate + "/.deps/models", candidate + "/models"]
            }
            if web != nil { break }
        }
        self.web = Folders.environment("ALCOVE_WEB") ?? web
        bundledModels = models.filter { access($0, R_OK) == 0 }
    }

    private static var programPath: String {
        #if os(Linux)
        let path = "/proc/self/exe"
        #else
        let path = CommandLine.arguments[0]
        #endif
        guard let real = realpath(path, nil) else { return CommandLine.arguments[0] }
        defer { free(real) }
        return String(cString: real)
    }
}

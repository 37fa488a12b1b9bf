// swift-tools-version: 6.2
import PackageDescription

// llama.cpp, built by Scripts/bootstrap (see Scripts/dependencies.txt). One module name on every system.
#if os(Linux)
let llama: Target = .binaryTarget(name: "llama", path: ".deps/llama.artifactbundle")
#else
let llama: Target = .binaryTarget(name: "llama", path: ".deps/llama.xcframework")
#endif

// Where the system has it; elsewhere AlcoveDownloads needs another client behind its seam.
let curl: Target.Dependency = .target(name: "CCurl", condition: .when(platforms: [.linux, .macOS]))

// Part of the system on Apple's.
let javaScriptCore: Target.Dependency = .target(name: "CJavaScriptCore", condition: .when(platforms: [.linux]))

// Rooms, lowest first: each may import only what stands above it in this list (ARCHITECTURE.md).
let package = Package(
    name: "alcove",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "alcove", targets: ["alcove"]),
        .executable(name: "alcove-runtime", targets: ["alcove-runtime"]),
    ],
    targets: [
        llama,
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"]), .brew(["expat"])]),
        .systemLibrary(
            name: "CJavaScriptCore", pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]),
        .systemLibrary(
            name: "CPython", pkgConfig: "python3-embed", providers: [.apt(["libpython3.11-dev"])]),
        // libical (libical-dev, brew libical): iCalendar texts, recurrence, time zones.
        .target(name: "CCalendar", linkerSettings: [.linkedLibrary("ical")]),
        .target(name: "CPosixShim"),
        .target(name: "CScriptModules", exclude: ["node", "python"]),
        .target(name: "AlcoveCore", dependencies: ["CPosixShim"]),
        .target(name: "AlcoveTemplates", dependencies: ["AlcoveCore", "CPosixShim", "llama"]),
        .target(name: "AlcoveEngine", dependencies: ["AlcoveCore", "AlcoveTemplates", "CPosixShim", "llama"]),
        .target(name: "AlcoveStorage", dependencies: ["AlcoveCore", "CSQLite"]),
        .target(name: "AlcoveSandbox", dependencies: ["AlcoveCore", "CPosixShim"]),
        .target(name: "AlcoveShell", dependencies: ["AlcoveCore", "AlcoveSandbox", "CPosixShim", "CZlib"]),
        .target(
            name: "AlcoveScript",
            dependencies: ["AlcoveCore", "AlcoveSandbox", "CPosixShim", "CPython", "CScriptModules", javaScriptCore]),
        .target(name: "AlcoveDownloads", dependencies: ["AlcoveCore", "AlcoveSandbox", curl]),
        .target(name: "AlcoveRemote", dependencies: ["AlcoveCore", "AlcoveDownloads"]),
        .target(name: "AlcoveWorkspace", dependencies: ["AlcoveCore", "AlcoveStorage"]),
        .target(
            name: "AlcoveAgent", dependencies: ["AlcoveCore", "AlcoveStorage", "AlcoveSandbox", "AlcoveWorkspace"]),
        .target(
            name: "AlcoveServer",
            dependencies: [
                "AlcoveCore", "AlcoveAgent", "AlcoveDownloads", "AlcoveStorage", "AlcoveWorkspace", "CPosixShim",
            ]),
        .target(
            name: "AlcoveCalendar",
            dependencies: ["AlcoveCore", "AlcoveAgent", "AlcoveDownloads", "AlcoveStorage", "CCalendar", "CExpat"]),
        .executableTarget(
            name: "alcove",
            dependencies: [
                "AlcoveCore", "AlcoveTemplates", "AlcoveEngine", "AlcoveStorage", "AlcoveSandbox", "AlcoveAgent",
                "AlcoveDownloads", "AlcoveRemote", "AlcoveServer", "AlcoveShell", "AlcoveWorkspace", "AlcoveCalendar",
            ]),
        // Python and JavaScript, in processes that alcove starts in a sandbox. A program of its own: alcove itself would
        // load 70 MB of libraries at each start.
        .executableTarget(
            name: "alcove-runtime",
            dependencies: ["AlcoveCore", "AlcoveSandbox", "AlcoveScript", "CPosixShim"]),
        // A folder of a test's own, for all of them.
        .target(name: "TestFolder", dependencies: ["AlcoveCore"], path: "Tests/Support/TestFolder"),
        .testTarget(name: "AlcoveCoreTests", dependencies: ["AlcoveCore"]),
        .testTarget(
            name: "AlcoveAgentTests",
            dependencies: [
                "AlcoveAgent", "AlcoveCore", "AlcoveSandbox", "AlcoveStorage", "AlcoveWorkspace", "TestFolder",
            ]),
        .testTarget(
            name: "AlcoveWorkspaceTests", dependencies: ["AlcoveWorkspace", "AlcoveCore", "AlcoveStorage"]),
        .testTarget(
            name: "AlcoveCalendarTests",
            dependencies: [
                "AlcoveCalendar", "AlcoveAgent", "AlcoveCore", "AlcoveDownloads", "AlcoveStorage", "TestFolder",
            ]),
        .testTarget(
            name: "AlcoveEngineTests", dependencies: ["AlcoveEngine", "AlcoveTemplates", "AlcoveCore", "llama"]),
        .testTarget(name: "AlcoveTemplatesTests", dependencies: ["AlcoveTemplates", "AlcoveCore", "alcove"]),
        // Writes until it is killed; started by AlcoveStorageTests.
        .executableTarget(
            name: "storage-kill-child", dependencies: ["AlcoveCore", "AlcoveStorage"],
            path: "Tests/Support/storage-kill-child"),
        .testTarget(
            name: "AlcoveStorageTests",
            dependencies: ["AlcoveStorage", "AlcoveCore", "CSQLite", "storage-kill-child", "TestFolder"]),
        .testTarget(name: "AlcoveSandboxTests", dependencies: ["AlcoveSandbox", "AlcoveCore", "TestFolder"]),
        .testTarget(
            name: "AlcoveShellTests", dependencies: ["AlcoveShell", "AlcoveSandbox", "AlcoveCore", "CPosixShim"],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "AlcoveScriptTests",
            dependencies: [
                "AlcoveScript", "AlcoveShell", "AlcoveSandbox", "AlcoveCore", "alcove-runtime",
            ],
            exclude: ["Fixtures"]),
        .testTarget(name: "AlcoveRemoteTests", dependencies: ["AlcoveRemote", "AlcoveDownloads", "AlcoveCore"]),
        .testTarget(name: "AlcoveDownloadsTests", dependencies: ["AlcoveDownloads", "AlcoveCore"]),
        .testTarget(
            name: "AlcoveServerTests",
            dependencies: [
                "AlcoveServer", "AlcoveAgent", "AlcoveDownloads", "AlcoveStorage", "AlcoveCore", "CPosixShim",
                "TestFolder",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

let inC: Set = ["CPosixShim", "CCalendar", "CScriptModules"]
for target in package.targets where ![.binary, .system].contains(target.type) && !inC.contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}

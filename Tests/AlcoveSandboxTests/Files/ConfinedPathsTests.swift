import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveSandbox

struct ConfinedPathsTests {
    let base: TemporaryFolder
    let paths: ConfinedPaths

    /// A workspace, a read-only folder and an outside, side by side.
    init() throws {
        base = try TemporaryFolder(in: "/var/tmp")
        try base.folder("work")
        try base.folder("work/sub")
        try base.folder("skills")
        try base.folder("outside")
        try base.file("outside/secret", "OUTSIDE")
        try base.file("work/a.txt", "inside")
        try base.file("work/sub/b.txt", "below")
        try base.file("skills/s.txt", "skill")
        paths = ConfinedPaths(
            workspace: base.path + "/work", readOnly: [.init(folder: base.path + "/skills", shownAs: "/skills")],
            denied: [".alcove"])
        for (name, target) in [
            ("in", "sub"), ("file", "sub/../a.txt"), ("out", "../outside"), ("outfile", base.path + "/outside/secret"),
            ("seen", "/workspace/a.txt"), ("real", base.path + "/work/a.txt"), ("loop", "loop2"), ("loop2", "loop"),
            ("dangling", "nothing"), ("skill", "/skills/s.txt"), ("etc", "/etc"), ("sub/up", "../.."),
        ] {
            try #require(symlink(target, base.path + "/work/" + name) == 0)
        }
        try #require(mkfifo(base.path + "/work/pipe", 0o644) == 0)
    }

    func read(_ path: String) throws -> String {
        String(decoding: try paths.read(path, limit: 100), as: UTF8.self)
    }

    struct Good: Sendable, CustomTestStringConvertible {
        let path: String
        let text: String
        var testDescription: String { path }
    }

    static let good = [
        Good(path: "a.txt", text: "inside"), Good(path: "./sub/.//b.txt", text: "below"),
        Good(path: "sub/../a.txt", text: "inside"), Good(path: "/workspace/a.txt", text: "inside"),
        Good(path: "/workspace/sub/../../workspace/a.txt", text: ""), Good(path: "//workspace///a.txt", text: "inside"),
        Good(path: "in/b.txt", text: "below"), Good(path: "in/../a.txt", text: "inside"),
        Good(path: "file", text: "inside"), Good(path: "seen", text: "inside"), Good(path: "real", text: "inside"),
        Good(path: "skill", text: "skill"), Good(path: "/skills/s.txt", text: "skill"),
    ].filter { !$0.text.isEmpty }

    @Test(arguments: good) func readsWhatIsInside(_ c: Good) throws {
        #expect(try read(c.path) == c.text)
    }

    @Test func acceptsTheRealPathOfTheWorkspace() throws {
        #expect(try read(base.path + "/work/sub/b.txt") == "below")
    }

    @Test func relativePathsBeginInTheFolder() throws {
        var below = paths
        below.folder = "sub"
        #expect(try below.read("b.txt", limit: 9) == Array("below".utf8))
        #expect(try below.read("../a.txt", limit: 9) == Array("inside".utf8))
        #expect(throws: ConfinementError.outside(path: "../../outside/secret")) {
            try below.read("../../outside/secret", limit: 9)
        }
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let path: String
        let error: ConfinementError
        init(_ path: String, _ error: ConfinementError) {
            self.path = path
            self.error = error
        }
        var testDescription: String { String(path.prefix(60)) }
    }

    static let long = String(repeating: "n", count: 256)
    static let deep = String(repeating: "d/", count: 2049)
    static let bad = [
        Bad("", .noPath), Bad("a\0b", .zeroByte(path: "a\0b")), Bad(long, .tooLong(path: long)),
        Bad(deep, .tooLong(path: deep)), Bad("..", .outside(path: "..")),
        Bad("../outside/secret", .outside(path: "../outside/secret")),
        Bad("sub/../../outside/secret", .outside(path: "sub/../../outside/secret")),
        Bad("in/../../outside/secret", .outside(path: "in/../../outside/secret")),
        Bad("/etc/passwd", .outside(path: "/etc/passwd")), Bad("/", .outside(path: "/")),
        Bad("/workspace/../etc/passwd", .outside(path: "/workspace/../etc/passwd")),
        Bad("/workspaces/a.txt", .outside(path: "/workspaces/a.txt")),
        Bad("/skills/../outside/secret", .outside(path: "/skills/../outside/secret")),
        Bad("out/secret", .outside(path: "out/secret")),
        Bad("outfile", .linkLeadsOut(path: "outfile", link: "outfile")),
        Bad("etc/passwd", .linkLeadsOut(path: "etc/passwd", link: "etc")),
        Bad("sub/up/outside/secret", .outside(path: "sub/up/outside/secret")),
        Bad("loop", .tooManyLinks(path: "loop")), Bad("dangling", .missing(path: "dangling")),
        Bad("none", .missing(path: "none")), Bad("a.txt/x", .notAFolder(path: "a.txt/x", name: "a.txt")),
        Bad("a.txt/", .notAFolder(path: "a.txt/", name: "a.txt")), Bad("sub", .isFolder(path: "sub")),
        Bad(".", .isFolder(path: ".")), Bad("pipe", .specialFile(path: "pipe")),
        Bad(".alcove/token", .deniedName(path: ".alcove/token", name: ".alcove")),
        Bad(".ALCOVE/token", .deniedName(path: ".ALCOVE/token", name: ".ALCOVE")),
        Bad("sub/..%2f..%2foutside", .missing(path: "sub/..%2f..%2foutside")),
        Bad("..\\outside\\secret", .missing(path: "..\\outside\\secret")), Bad("~/x", .missing(path: "~/x")),
    ]

    @Test(arguments: bad) func refusesToRead(_ c: Bad) {
        #expect(throws: c.error) { try paths.read(c.path, limit: 100) }
    }

    /// The same paths make, change and remove nothing either.
    @Test(arguments: bad.filter { $0.error.place == .request && $0.error.code != "file_is_folder" })
    func refusesToWrite(_ c: Bad) throws {
        #expect(throws: ConfinementError.self) { try paths.replace(c.path + "x/y", []) }
        #expect(throws: ConfinementError.self) { try paths.create(c.path + "/made", [1], makingFolders: true) }
        #expect(base.text("outside/secret") == "OUTSIDE")
        #expect(!base.exists("outside/made") && !base.exists("made"))
    }

    @Test func linksThatLeadOutAreNeitherWrittenNorEmptied() throws {
        for path in ["out/new", "outfile", "etc/new"] {
            #expect(throws: ConfinementError.self) { try paths.replace(path, [1]) }
            #expect(throws: ConfinementError.self) { try paths.create(path, [1]) }
            #expect(throws: ConfinementError.self) { try paths.openForWriting(path, .truncate) }
            #expect(throws: ConfinementError.self) { try paths.makeFolders(path) }
        }
        try paths.remove("out", recursively: true)
        #expect(!base.exists("work/out"))
        #expect(base.text("outside/secret") == "OUTSIDE")
    }

    @Test func createsOnceAndOnlyWhole() throws {
        try paths.create("deep/er/new.txt", Array("x".utf8), makingFolders: true)
        #expect(base.text("work/deep/er/new.txt") == "x")
        #expect(throws: ConfinementError.exists(path: "deep/er/new.txt")) { try paths.create("deep/er/new.txt", []) }
        #expect(throws: ConfinementError.exists(path: "dangling")) { try paths.create("dangling", [1]) }
        #expect(throws: ConfinementError.missing(path: "no/such/x")) { try paths.create("no/such/x", []) }
        #expect(throws: ConfinementError.isFolder(path: "new/")) { try paths.create("new/", []) }
    }

    @Test func replacesWhatALinkMeansAndKeepsRights() throws {
        try #require(chmod(base.path + "/work/a.txt", 0o750) == 0)
        try paths.replace("file", Array("fresh".utf8))
        #expect(base.text("work/a.txt") == "fresh")
        #expect(try paths.stat("a.txt").isExecutable)
        #expect(try paths.linkStat("file").kind == .link)
        #expect(try paths.list(".").allSatisfy { !$0.name.hasSuffix(".tmp") })
    }

    @Test func readOnlyRootsCannotBeChanged() throws {
        let error = ConfinementError.readOnly(path: "/skills/s.txt")
        #expect(throws: error) { try paths.replace("/skills/s.txt", []) }
        #expect(throws: error) { try paths.remove("/skills/s.txt") }
        #expect(throws: error) { try paths.move("/skills/s.txt", to: "s") }
        #expect(throws: error) { try paths.openForWriting("/skills/s.txt", .append) }
        #expect(throws: ConfinementError.readOnly(path: "skill")) { try paths.replace("skill", []) }
        #expect(throws: ConfinementError.readOnly(path: "/skills/n/")) { try paths.makeFolders("/skills/n/") }
        #expect(base.text("skills/s.txt") == "skill")
    }

    @Test func namesThatDifferOnlyInCaseOrCodingClash() throws {
        try paths.create("Caf\u{e9}", [])
        #expect(throws: ConfinementError.nameClash(path: "Cafe\u{301}", existing: "Caf\u{e9}")) {
            try paths.create("Cafe\u{301}", [])
        }
        #expect(throws: ConfinementError.nameClash(path: "A.TXT", existing: "a.txt")) { try paths.create("A.TXT", []) }
        #expect(throws: ConfinementError.nameClash(path: "SUB/x", existing: "sub")) {
            try paths.create("SUB/x", [], makingFolders: true)
        }
        try paths.move("a.txt", to: "A.txt")
        var exact = paths
        exact.names = .any
        try exact.create("a.TXT", [])
        #expect(base.exists("work/A.txt") && base.exists("work/a.TXT"))
    }

    @Test func movesWithoutOverwriting() throws {
        #expect(throws: ConfinementError.exists(path: "sub/b.txt")) { try paths.move("a.txt", to: "sub/b.txt") }
        #expect(base.text("work/sub/b.txt") == "below")
        try paths.move("a.txt", to: "sub/b.txt", replacing: true)
        #expect(base.text("work/sub/b.txt") == "inside")
        #expect(throws: ConfinementError.self) { try paths.move("sub", to: "sub/in") }
        #expect(throws: ConfinementError.outside(path: "../x")) { try paths.move("sub", to: "../x") }
    }

    @Test func hardLinksAreSeenAndNotWrittenThrough() throws {
        try #require(link(base.path + "/outside/secret", base.path + "/work/hard") == 0)
        #expect(try paths.stat("hard").links == 2)
        #expect(throws: ConfinementError.hardLinked(path: "hard")) { try paths.openForWriting("hard", .truncate) }
        try paths.replace("hard", [])
        #expect(base.text("outside/secret") == "OUTSIDE")
    }

    @Test func readsNoMoreThanTheLimit() throws {
        #expect(throws: ConfinementError.tooLarge(path: "a.txt", limit: 5)) { try paths.read("a.txt", limit: 5) }
        #expect(try paths.read("a.txt", limit: 6).count == 6)
    }

    @Test func listsByName() throws {
        #expect(try paths.list("sub").map(\.name) == ["b.txt", "up"])
        #expect(try paths.list("/skills").map(\.kind) == [.file])
        #expect(throws: ConfinementError.notAFolder(path: "a.txt", name: "a.txt")) { try paths.list("a.txt") }
        #expect(throws: ConfinementError.self) { try paths.list("out") }
    }

    @Test func removesFoldersOnlyWhenAsked() throws {
        #expect(throws: ConfinementError.notEmpty(path: "sub")) { try paths.remove("sub") }
        try paths.remove("sub", recursively: true)
        #expect(!base.exists("work/sub"))
        #expect(throws: ConfinementError.isFolder(path: ".")) { try paths.remove(".", recursively: true) }
    }

    @Test func sentencesShowWhatAPathHides() {
        #expect(
            ConfinementError.missing(path: "a\n\u{202e}b").message == "There is no file or folder a\\u{a}\\u{202e}b.")
        #expect(
            ConfinementError.outside(path: "../x").sentence
                == "The path ../x is outside the workspace. Use a path within the workspace.")
    }

    /// A folder and a file are exchanged for links to the outside as fast as a thread can, while this one works on them.
    @Test func exchangedNamesNeverLeadOut() throws {
        let work = base.path + "/work"
        try base.folder("work/d")
        try base.file("work/d/secret", "mine")
        try base.file("work/f", "mine")
        try #require(symlink("../outside", work + "/evil-d") == 0)
        try #require(symlink("../outside/secret", work + "/evil-f") == 0)
        let over = StopSignal()
        let isDone = StopSignal()
        try #require(
            startThread(name: "exchanger") {
                while !over.isSet {
                    for name in ["d", "f"] { exchange("\(work)/\(name)", "\(work)/evil-\(name)") }
                }
                isDone.set()
            })
        do {
            defer {
                over.set()
                while !isDone.isSet { usleep(1000) }
            }
            var inside = 0
            var refused = 0
            for round in 0..<10_000 {
                for path in ["d/secret", "f"] {
                    do {
                        #expect(try paths.read(path, limit: 100) == Array("mine".utf8))
                        inside += 1
                    } catch { refused += 1 }
                }
                // Waits for the disk: not each time.
                if round % 50 == 0 { try? paths.replace("d/secret", Array("mine".utf8)) }
                try? paths.create("d/new-\(round)", [])
                try? paths.remove("d/new-\(round)")
                try? paths.makeFolders("d/m")
                try? paths.move("d/m", to: "d/n")
                try? paths.remove("d/n", recursively: true)
                if let file = try? paths.openForWriting("f", .append) { try file.write([]) }
            }
            // Both sides of the exchange were met, or the test proves nothing.
            #expect(inside > 100 && refused > 100, "\(inside) inside, \(refused) refused")
        }
        #expect(base.text("outside/secret") == "OUTSIDE")
        let outside = ConfinedPaths(workspace: base.path + "/outside")
        #expect(try outside.list(".").map(\.name) == ["secret"])
    }
}

/// Exchanges two names in one step.
private func exchange(_ one: String, _ two: String) {
    #if canImport(Darwin)
    _ = renamex_np(one, two, UInt32(RENAME_SWAP))
    #else
    _ = renameat2?(AT_FDCWD, one, AT_FDCWD, two, 2 /* RENAME_EXCHANGE */)
    #endif
}

#if os(Linux)
/// Looked up by hand: the C library hides it from Swift.
private let renameat2 = dlsym(nil, "renameat2").map {
    unsafeBitCast(
        $0,
        to: (@convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32).self)
}
#endif

import AlcoveSandbox
import Foundation
import Testing

/// Links, rights and dates: nothing outside is made, followed or changed.
struct LinksTests {
    private func folders() throws -> (inside: String, outside: String, paths: ConfinedPaths) {
        let base = "/tmp/alcove-links-\(UInt64.random(in: .min ... .max))"
        for name in ["inside/sub", "outside"] {
            try FileManager.default.createDirectory(atPath: base + "/" + name, withIntermediateDirectories: true)
        }
        try "secret".write(toFile: base + "/outside/secret", atomically: false, encoding: .utf8)
        try "mine".write(toFile: base + "/inside/mine", atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(
            atPath: base + "/inside/out", withDestinationPath: base + "/outside")
        try FileManager.default.createSymbolicLink(
            atPath: base + "/inside/file", withDestinationPath: base + "/outside/secret")
        return (base + "/inside", base + "/outside", ConfinedPaths(workspace: base + "/inside"))
    }

    private func rights(_ path: String) throws -> Int {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) ?? -1
    }

    @Test(arguments: [
        ("/etc/passwd", "a"), ("../outside", "a"), ("../../x", "sub/a"), ("sub/../../x", "a"), ("/workspace/mine", "a"),
        ("", "a"), ("x/../..", "a"),
    ])
    func aLinkThatWouldLeadOutIsNotMade(_ target: String, _ name: String) throws {
        let (inside, _, paths) = try folders()
        defer { try? FileManager.default.removeItem(atPath: inside + "/..") }

        #expect(throws: ConfinementError.self) { try paths.makeLink(name, to: target) }

        #expect((try? paths.linkStat(name)) == nil)
    }

    @Test func aLinkInsideIsMadeAndRead() throws {
        let (inside, _, paths) = try folders()
        defer { try? FileManager.default.removeItem(atPath: inside + "/..") }

        try paths.makeLink("sub/up", to: "../mine")

        #expect(try paths.readLink("sub/up") == "../mine")
        #expect(try paths.read("sub/up", limit: 10) == Array("mine".utf8))
        #expect(throws: ConfinementError.self) { try paths.makeLink("sub/up", to: "../mine") }
        #expect(throws: ConfinementError.self) { try paths.readLink("mine") }
        #expect(throws: ConfinementError.self) { try paths.makeLink("out/made", to: "x") }
    }

    @Test func rightsAndDatesOutsideStay() throws {
        let (inside, outside, paths) = try folders()
        defer { try? FileManager.default.removeItem(atPath: inside + "/..") }
        let before = try FileManager.default.attributesOfItem(atPath: outside + "/secret")[.modificationDate] as? Date
        let old = try rights(outside + "/secret")

        for path in ["file", "out/secret", "../outside/secret", outside + "/secret"] {
            #expect(throws: ConfinementError.self) { try paths.setRights(path, 0o777) }
            #expect(throws: ConfinementError.self) { try paths.setModified(path, seconds: 0) }
        }
        try paths.setRights("mine", 0o4750)
        try paths.setModified("mine", seconds: 86_400)

        #expect(try rights(outside + "/secret") == old)
        #expect(
            try FileManager.default.attributesOfItem(atPath: outside + "/secret")[.modificationDate] as? Date == before)
        #expect(try rights(inside + "/mine") == 0o750)
        #expect(try paths.stat("mine").modified == 86_400_000)
    }
}

import AlcoveSandbox
import Foundation
import Testing

/// Nothing outside the folder is read, made, changed or reached by a JavaScript program.
@Suite(.serialized) struct JavaScriptEscapeTests {
    static let attempts = [
        "fs.readFileSync('OUT/secret', 'utf8')", "fs.readFileSync('../NAME/secret', 'utf8')",
        "fs.readFileSync('/workspace/../NAME/secret', 'utf8')", "fs.readFileSync('link/secret', 'utf8')",
        "fs.readFileSync('filelink', 'utf8')", "fs.readFileSync('/etc/passwd', 'utf8')",
        "fs.readFileSync('/etc/shadow', 'utf8')",
        "fs.readFileSync('/proc/self/environ', 'utf8')", "fs.readFileSync('/proc/1/root/etc/passwd', 'utf8')",
        "fs.readFileSync(new URL('file://OUT/secret'), 'utf8')", "fs.readFileSync(Buffer.from('OUT/secret'), 'utf8')",
        "fs.writeFileSync('OUT/made', 'bad')", "fs.writeFileSync('filelink', 'bad')",
        "fs.appendFileSync('link/made', 'bad')",
        "fs.writeFileSync('hardlink', 'bad')",
        "fs.openSync('hardlink', 'r+') && fs.writeSync(fs.openSync('hardlink', 'r+'), 'bad')",
        "fs.openSync('OUT/made', 'w')", "fs.mkdirSync('OUT/made')", "fs.mkdirSync('link/made', { recursive: true })",
        "fs.rmSync('OUT', { recursive: true })", "fs.rmSync('link/', { recursive: true })",
        "fs.unlinkSync('OUT/secret')",
        "fs.rmdirSync('link/empty')", "fs.renameSync('OUT/secret', 'mine'); fs.readFileSync('mine', 'utf8')",
        "fs.writeFileSync('b', 'bad'); fs.renameSync('b', 'OUT/made')",
        "fs.copyFileSync('OUT/secret', 'mine'); fs.readFileSync('mine', 'utf8')",
        "fs.writeFileSync('b', 'bad'); fs.copyFileSync('b', 'link/made')",
        "fs.symlinkSync('OUT/secret', 's'); fs.readFileSync('s', 'utf8')",
        "fs.symlinkSync('../NAME', 's'); fs.readFileSync('s/secret', 'utf8')",
        "fs.linkSync('OUT/secret', 'h'); fs.readFileSync('h', 'utf8')",
        "fs.chmodSync('OUT/secret', 0o777)", "fs.utimesSync('OUT/secret', 1, 1)", "fs.truncateSync('filelink', 0)",
        "fs.truncateSync('OUT/secret')", "fs.readdirSync('OUT').join()", "fs.readdirSync('/').join()",
        "fs.existsSync('OUT/secret') && 'secret-there'", "fs.statSync('link/secret').size && 'secret-there'",
        "fs.realpathSync('filelink') && fs.readFileSync(fs.realpathSync('filelink'), 'utf8')",
        "process.chdir('OUT') || fs.readFileSync('secret', 'utf8')",
        "process.chdir('..') || fs.readFileSync('NAME/secret', 'utf8')",
        "require('OUT/module.js')", "require('../NAME/module.js')", "require('link/module.js')",
        "require('./link/module')",
        "require('module').createRequire('OUT/x.js')('./module.js')",
        "require.resolve('OUT/module.js') && 'secret-there'",
        "fs.createReadStream('OUT/secret').on('data', (d) => console.log(String(d))).on('error', () => {})",
        "fs.promises.readFile('OUT/secret', 'utf8').then(console.log, () => {})",
        "import('OUT/module.mjs').then((m) => console.log(m.default), () => {})",
        "fs.cpSync('OUT', 'mine', { recursive: true }); fs.readFileSync('mine/secret', 'utf8')",
        "require('child_process').execSync('cat OUT/secret').toString()", "process.binding('fs')",
        "process.dlopen({}, 'OUT/x.node')",
        "process.kill(1)", "require('net').connect(80, '127.0.0.1')", "require('http').get('http://127.0.0.1/')",
        "fetch('http://127.0.0.1/').catch(() => {})", "new WebSocket('ws://127.0.0.1/')", "require('worker_threads')",
        "require('vm')",
        "''.constructor.constructor('return this')().process.mainModule", "Object.getPrototypeOf(process).binding('x')",
        "Function.prototype.call = () => 1; fs.readFileSync('OUT/secret', 'utf8')",
        "String.prototype.startsWith = () => true; fs.readFileSync('OUT/secret', 'utf8')",
        "Array.prototype.includes = () => false; String.prototype.includes = () => false; fs.readFileSync('filelink', 'utf8')",
        "Object.defineProperty(Object.prototype, 'path', { get: () => 'OUT/secret' }); fs.readFileSync('filelink', 'utf8')",
        "fs.readFileSync({ toString: () => 'OUT/secret', href: 'file://OUT/secret' }, 'utf8')",
        "(() => { let n = 0; const p = { toString: () => (n++ ? 'OUT/secret' : 'mine') }; fs.writeFileSync('mine', ''); return fs.readFileSync(p, 'utf8') })()",
        "fs.readFileSync('OUT/secret\\0.txt', 'utf8')", "fs.readFileSync('./././/../NAME//secret', 'utf8')",
        "new Function('return fetch')()('file://OUT/secret').catch(() => {})",
        "(0, eval)('1'); (async () => (await import('fs')).default.readFileSync('OUT/secret', 'utf8'))().then(console.log, () => {})",
    ]

    struct Case: Sendable, CustomTestStringConvertible {
        let way: ScriptTrial.Way
        let attempt: String
        var testDescription: String { "\(attempt), \(way.rawValue)" }
    }

    static let cases = SandboxHere.ways.flatMap { way in attempts.map { Case(way: way, attempt: $0) } }

    @Test(arguments: cases) func nothingOutsideIsReached(_ given: Case) throws {
        let place = try HostilePlace()
        let code = """
            const fs = require('fs');
            process.on('uncaughtException', () => {});
            try { const said = (0, eval)(\(place.quoted(given.attempt))); if (typeof said === 'string') console.log(said); else if (said && said.then) said.then((x) => x && console.log(x), () => {}); } catch (error) { console.log('refused') }
            """

        let run = try ScriptTrial.run(
            given.way, .javascript, ["-e", "globalThis.require = require; globalThis.fs = require('fs');" + code],
            in: place.inside.path, seconds: 20)

        try place.check(run.output + run.error, given.attempt)
    }
}

/// A workspace with links that lead out, and a neighbour whose secrets must stay.
struct HostilePlace {
    let inside = ScratchFolder()
    let outside = ScratchFolder()
    private let secret = "TOP" + "SECRET content\n"
    private let files: [String: String]

    init() throws {
        files = [
            "secret": secret, "module.js": "module.exports = 'TOP' + 'SECRET';",
            "module.mjs": "export default 'TOP' + 'SECRET';", "stolen.py": "print('TOP' + 'SECRET')",
        ]
        for (name, text) in files { try outside.write(text, to: name) }
        let manager = FileManager.default
        try manager.createDirectory(atPath: outside.path + "/empty", withIntermediateDirectories: false)
        try manager.createSymbolicLink(atPath: inside.path + "/link", withDestinationPath: outside.path)
        try manager.createSymbolicLink(atPath: inside.path + "/filelink", withDestinationPath: outside.path + "/secret")
        try manager.linkItem(atPath: outside.path + "/secret", toPath: inside.path + "/hardlink")
    }

    /// With the places put in, as a literal that JavaScript and Python both read.
    func quoted(_ attempt: String) -> String {
        let name = String(outside.path.split(separator: "/").last ?? "")
        let text = attempt.replacing("OUT", with: outside.path).replacing("NAME", with: name)
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }

    func check(_ said: String, _ attempt: String) throws {
        for word in ["TOPSECRET", "secret-there", "root:"] { #expect(!said.contains(word), "\(attempt): \(said)") }
        for (name, text) in files {
            #expect(outside.text(name) == text, "\(attempt): \(name) was changed")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: outside.path).sorted()
        #expect(names == ["empty", "module.js", "module.mjs", "secret", "stolen.py"], "\(attempt)")
        let rights =
            try FileManager.default.attributesOfItem(atPath: outside.path + "/secret")[.posixPermissions] as? Int
        #expect(rights == 0o644, "\(attempt)")
    }
}

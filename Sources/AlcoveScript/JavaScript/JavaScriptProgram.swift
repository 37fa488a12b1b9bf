package import AlcoveCore
package import AlcoveSandbox
internal import CScriptModules
#if canImport(JavaScriptCore)
internal import JavaScriptCore
#else
internal import CJavaScriptCore
#endif

/// Runs one JavaScript program with the globals and modules that programs written for Node expect.
///
/// All files it touches go through `ConfinedPaths`; nothing else of the system can be reached from it. It blocks the
/// thread it is run on, which should have 8 MB of stack or more.
package final class JavaScriptProgram {
    private var request = ScriptRequest(language: .javascript, arguments: [])
    private let machine = JavaScriptMachine()
    private let files: JavaScriptFiles
    private let streams: JavaScriptStreams
    private let stop: StopSignal
    /// Ends the process with a status, where one belongs to the program alone.
    private let exit: ((Int32) -> Never)?
    private var deadline = UInt64.max
    private var status: Int32?
    /// The library, when it is loaded.
    private var inside: JSValueRef?

    /// - Parameters:
    ///   - paths: What it may touch.
    ///   - streams: Descriptors of its standard input, output and error.
    ///   - exit: nil where the process goes on after the program.
    package init(
        paths: ConfinedPaths, streams: [Int32], stop: StopSignal = StopSignal(), exit: ((Int32) -> Never)? = nil
    ) {
        self.stop = stop
        self.exit = exit
        var paths = paths
        paths.names = .any
        files = JavaScriptFiles(paths)
        self.streams = JavaScriptStreams(streams)
    }

    private var shouldEnd: Bool { status != nil || stop.isSet || Platform.monotonicNanoseconds > deadline }

    /// Does what every program needs before it is known which: some 10 ms.
    package func prepare() throws {
        guard inside == nil else { return }
        let core = try JavaScriptProgram.load("core", machine)
        inside = try machine.call(core, [host()])
        if let inside { JSValueProtect(machine.context, inside) }
        machine.onRejection(machine.property(inside, "rejected"))
    }

    /// Runs a program to its end. Only once: nothing that it left is put back.
    ///
    /// - Returns: The exit status; 124 when time was up and 130 when it was stopped.
    package func run(_ request: ScriptRequest) -> Int32 {
        self.request = request
        deadline = Platform.monotonicNanoseconds &+ UInt64(min(request.limits.seconds, 1e8) * 1e9)
        files.begin(in: request.folder, limits: request.limits)
        let words: JavaScriptCommandLine
        switch JavaScriptCommandLine.read(request.arguments) {
        case .success(let read): words = read
        case .failure(let answer):
            _ = streams.write(answer.isFault ? 2 : 1, Array((answer.text + "\n").utf8))
            return end(answer.isFault ? 9 : 0)
        }
        // A process of its own is ended from outside; the watchdog would cost it a thread.
        if exit == nil { machine.watch { [unowned self] in shouldEnd } }
        do {
            try prepare()
            try machine.call(machine.property(inside, "start"), [start(words)])
            loop(inside)
            if status == nil, !shouldEnd { try machine.call(machine.property(inside, "leave"), []) }
        } catch let thrown as JavaScriptMachine.Thrown {
            if status == nil, !shouldEnd {
                let words = machine.text(machine.property(thrown.value, "stack"))
                _ = streams.write(2, Array("node: \(machine.text(thrown.value))\n\(words)\n".utf8))
                status = 70
            }
        } catch {
            _ = streams.write(2, Array("node: \(error)\n".utf8))
            status = 70
        }
        if let status { return end(status) }
        return end(stop.isSet ? 130 : Platform.monotonicNanoseconds > deadline ? 124 : 0)
    }

    private func end(_ status: Int32) -> Int32 {
        if let exit { exit(status) }
        return status
    }

    /// Goes on until nothing is left to do.
    private func loop(_ inside: JSValueRef?) {
        let step = machine.property(inside, "step")
        let fault = machine.property(inside, "fault")
        while !shouldEnd {
            do {
                let wait = machine.number(try machine.call(step, []))
                if wait < 0 {
                    if machine.isTrue(try machine.call(machine.property(inside, "isFinished"), [])) { return }
                } else if wait > 0 {
                    // In slices, so that a stop is felt.
                    usleep(UInt32(min(wait, exit == nil ? 20 : 1000) * 1000))
                }
            } catch let thrown as JavaScriptMachine.Thrown {
                if shouldEnd { return }
                _ = try? machine.call(fault, [thrown.value])
            } catch { return }
        }
    }

    private func start(_ words: JavaScriptCommandLine) -> JSValueRef? {
        var members: [(String, JSValueRef?)] = [
            ("arguments", machine.make(words.arguments.map { machine.make($0) })),
            ("prints", machine.make(words.prints)), ("isInput", machine.make(words.source == .input)),
        ]
        switch words.source {
        case .code(let code): members.append(("code", machine.make(code)))
        case .file(let path): members.append(("file", machine.make(path)))
        case .input: members.append(("code", machine.make(String(decoding: streams.readAll(), as: UTF8.self))))
        }
        return machine.make(members)
    }

    private static func load(_ name: String, _ machine: JavaScriptMachine) throws -> JSValueRef? {
        var count = 0
        guard let source = alcove_script_module(name, &count) else {
            throw JavaScriptMachine.Fault(message: "there is no file \(name) in the library")
        }
        return try machine.evaluate(library: source, name: "node:\(name)")
    }

    // MARK: What the library asks of the host

    private func host() -> JSObjectRef {
        let machine = self.machine
        var members: [(String, JSValueRef?)] = [
            ("platform", machine.make(JavaScriptProgram.platform)),
            ("architecture", machine.make(JavaScriptProgram.processor)),
            (
                "environment",
                machine.function { [unowned self] machine, _ in
                    machine.make(
                        request.environment.sorted { $0.key < $1.key }.map { ($0.key, machine.make($0.value)) })
                }
            ),
            ("cwd", machine.function { [files] machine, _ in machine.make(files.folder) }),
            ("now", machine.function { machine, _ in machine.make(Double(Platform.monotonicNanoseconds) / 1e6) }),
            (
                "library",
                machine.function { machine, given in
                    try JavaScriptProgram.load(machine.text(given[0]), machine)
                }
            ),
            (
                "exit",
                machine.function { [unowned self] machine, given in
                    let number = machine.number(given[0])
                    if status == nil { status = number.isFinite ? Int32(truncatingIfNeeded: Int64(number)) & 0xFF : 0 }
                    if let exit { exit(status ?? 0) }
                    // The watchdog ends what would catch this.
                    throw JavaScriptMachine.Fault(message: "the program has ended")
                }
            ),
            ("encode", machine.function { machine, given in machine.make(Array(machine.text(given[0]).utf8)) }),
            (
                "decode",
                machine.function { machine, given in
                    machine.make(String(decoding: machine.bytes(given[0]), as: UTF8.self))
                }
            ),
            ("sha256", machine.function { machine, given in machine.make(SHA256.digest(machine.bytes(given[0]))) }),
            (
                "random",
                machine.function { machine, given in
                    machine.make(Platform.randomBytes(min(machine.count(given[0]), 1 << 26)))
                }
            ),
            (
                "memory",
                machine.function { [unowned self] machine, _ in
                    machine.make([
                        ("rss", machine.make(Double(Platform.residentBytes))),
                        ("total", machine.make(Double(request.limits.memoryBytes))),
                        ("free", machine.make(Double(request.limits.memoryBytes / 2))),
                    ])
                }
            ),
            (
                "refusal",
                machine.function { [unowned self] machine, given in
                    let host = machine.text(given[0])
                    if request.allowsNetwork {
                        return machine.make("This node cannot fetch yet, though the network is on: python3 can.")
                    }
                    let refusal = PolicyRefusal.networkOff(host: host)
                    return machine.make([refusal.message, refusal.hint ?? ""].joined(separator: " "))
                }
            ),
        ]
        let compile = machine.function { machine, given in
            let name = machine.text(given[1])
            let source = machine.text(given[0])
            do { return try machine.evaluate(source, name: name) } catch let thrown as JavaScriptMachine.Thrown {
                JavaScriptProgram.addPlace(to: thrown.value, source, name, machine)
                throw thrown
            }
        }
        members += [("compile", compile), ("evaluate", compile)]
        members += streams.members(machine)
        members.append(("files", machine.function { [files] machine, given in try files.call(machine, given) }))
        return machine.make(members)
    }

    /// Where a source could not be read, as Node shows it.
    private static func addPlace(to error: JSValueRef, _ source: String, _ name: String, _ machine: JavaScriptMachine) {
        guard machine.text(machine.property(error, "name")) == "SyntaxError",
            machine.text(machine.property(error, "sourceURL")) == name,
            let object = JSValueToObject(machine.context, error, nil)
        else { return }
        let line = machine.count(machine.property(error, "line"), fallback: 0)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        guard line > 0, line <= lines.count else { return }
        machine.set(object, "place", machine.make("\(name):\(line)\n\(lines[line - 1].prefix(200))"), isHidden: true)
    }

    #if canImport(Darwin)
    private static let platform = "darwin"
    #else
    private static let platform = "linux"
    #endif
    #if arch(arm64)
    private static let processor = "arm64"
    #else
    private static let processor = "x64"
    #endif
}

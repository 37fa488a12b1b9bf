public import AlcoveCore
internal import CPosixShim

/// Renders templates in a child process that may be killed: the door for templates that nobody here knows.
///
/// A template can count to a billion, double a string until memory is gone, or nest until the stack is. The child has
/// limits on processor time and memory for each request; when it dies, the next request gets a new one.
///
/// Not Sendable: one thread asks at a time, and it blocks.
public final class TemplateWorker {
    /// Processor time of one request, in seconds (T13: an endless template is an error within a second).
    static let processorSeconds = 0.8
    /// Memory of the child beyond what it starts with.
    static let memoryBytes: UInt64 = 512 << 20
    /// Longest answer that is read.
    static let answerBytes = 128 << 20

    private let command: [String]
    private var child: Child?

    /// - Parameter command: Path and arguments of a program that calls `TemplateWorker.serve()`.
    public init(command: [String]) { self.command = command }

    deinit { child?.kill() }

    /// Tries a template nobody knows.
    ///
    /// - Throws: `TemplateError`: the template's own fault, `.tooCostly` at a limit, `.untried` without a child.
    public func run(_ trial: TemplateTrial) throws(TemplateError) {
        let answer = try ask([
            "op": "trial", "source": .string(trial.source), "bos": .string(trial.bos), "eos": .string(trial.eos),
        ])
        guard answer["ok"]?.bool == true else {
            throw .untried(reason: "the program that tries it does something else")
        }
    }

    /// Renders a conversation with a model's template; as `ChatTemplate.document(for:)`.
    func apply(_ trial: TemplateTrial, to request: JSONValue) throws(TemplateError) -> JSONValue {
        let answer = try ask([
            "op": "apply", "source": .string(trial.source), "bos": .string(trial.bos), "eos": .string(trial.eos),
            "request": request,
        ])
        guard let document = answer["document"] else {
            throw .untried(reason: "the program that renders it does something else")
        }
        return document
    }

    /// Renders any source with any context; as `Jinja.render`.
    public func render(template: String, context: JSONValue, now: Int64? = nil) throws(TemplateError) -> String {
        let answer = try ask([
            "op": "render", "template": .string(template), "context": context,
            "now": now.map { .integer($0) } ?? .null,
        ])
        guard let output = answer["output"]?.string else {
            throw .untried(reason: "the program that renders it does something else")
        }
        return output
    }

    /// Answers one line of `alcove plumbing toolcall` or `grammar`.
    public func answer(_ part: String, _ line: JSONValue) throws(TemplateError) -> JSONValue {
        try ask(["op": .string(part), "line": line])
    }

    private func ask(_ request: JSONValue) throws(TemplateError) -> JSONValue {
        let child: Child
        if let running = self.child { child = running } else { child = try Child(command: command) }
        self.child = child
        switch child.exchange(request.bytes() + [0x0A], seconds: 8) {
        case .answer(let line):
            guard let document = try? JSONValue(parsing: line) else {
                return try forget(child, "its answer cannot be read")
            }
            if document["kind"]?.string != nil { throw TemplateError(failure: document) }
            return document
        case .late: return try forget(child, "it took longer than 8 seconds")
        case .long: return try forget(child, "it writes more than \(TemplateWorker.answerBytes >> 20) MB")
        case .ended(let signal): return try forget(child, TemplateWorker.sentence(forSignal: signal))
        }
    }

    private func forget(_ child: Child, _ reason: String) throws(TemplateError) -> JSONValue {
        child.kill()
        self.child = nil
        throw .tooCostly(reason: reason)
    }

    private static func sentence(forSignal signal: Int32) -> String {
        switch signal {
        case SIGPROF, SIGXCPU, SIGKILL: "it computed for more than \(processorSeconds) seconds"
        case SIGSEGV, SIGBUS: "it is nested too deeply"
        case SIGABRT, SIGILL, SIGTRAP: "it needs more memory than it may have"  // how Swift ends when there is none
        default: "the process that tried it ended (signal \(signal))"
        }
    }

    // MARK: The child's side

    /// Answers requests on standard input until it ends; called by the program that `command` names.
    public static func serve() {
        limitMemory()
        var input: [UInt8] = []
        var searched = 0
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        var last: (trial: TemplateTrial, template: ChatTemplate)?
        while true {
            while let end = input[searched...].firstIndex(of: 0x0A) {
                let line = Array(input[..<end])
                input.removeSubrange(...end)
                searched = 0
                let answer = self.answer(to: line, last: &last)
                guard writeAll(answer.bytes() + [0x0A], to: STDOUT_FILENO) else { return }
            }
            searched = input.count
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            input += piece[..<count]
        }
    }

    /// - Parameter last: The template used last: a model's is asked for again and again.
    private static func answer(
        to line: [UInt8], last: inout (trial: TemplateTrial, template: ChatTemplate)?
    ) -> JSONValue {
        do {
            let request = try JSONValue(parsing: line)
            // At the end of the time the system ends this process: nothing inside a render could be asked to stop.
            alcove_set_processor_timer(processorSeconds)
            defer { alcove_set_processor_timer(0) }
            if request["op"]?.string == "trial" {
                try TemplateTrial(
                    source: request["source"]?.string ?? "", bos: request["bos"]?.string ?? "",
                    eos: request["eos"]?.string ?? ""
                ).run()
                return ["ok": true]
            }
            if request["op"]?.string == "apply" {
                let trial = TemplateTrial(
                    source: request["source"]?.string ?? "", bos: request["bos"]?.string ?? "",
                    eos: request["eos"]?.string ?? "")
                if last?.trial != trial {
                    let template = try ChatTemplate(source: trial.source, bos: trial.bos, eos: trial.eos)
                    last = (trial, template)
                }
                guard let template = last?.template else { return [:] }
                return ["document": try template.document(for: request["request"] ?? [:])]
            }
            if request["op"]?.string == "toolcall" { return try CallPlumbing.toolcall(request["line"] ?? [:]) }
            if request["op"]?.string == "grammar" { return try CallPlumbing.grammar(request["line"] ?? [:]) }
            return [
                "output": .string(
                    try Jinja.render(
                        template: request["template"]?.string ?? "", context: request["context"] ?? [:],
                        now: request["now"]?.int.map { Int64($0) }))
            ]
        } catch let error as TemplateError {
            return error.failure
        } catch {
            return TemplateError.badInput(reason: "\(error)").failure
        }
    }

    private static func limitMemory() {
        _ = alcove_limit_address_space(alcove_address_space_bytes() + memoryBytes)
        _ = alcove_limit_core_dump()
    }
}

extension TemplateError {
    /// As the library's door writes a failure, so that it can cross the pipe and be read back.
    fileprivate var failure: JSONValue {
        switch self {
        case .refused(let words): ["error": .string(words), "kind": "raised"]
        case .badInput(let reason): ["error": .string(reason), "kind": "input"]
        case .badSchema(let reason): ["error": .string(reason), "kind": "schema"]
        case .fault(let reason, let line?): ["error": .string("line \(line)\nError: \(reason)"), "kind": "template"]
        case .fault(let reason, nil): ["error": .string(reason), "kind": "template"]
        default: ["error": .string(message), "kind": "template"]
        }
    }
}

/// Writes all bytes, or says that the reader is gone.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { alcove_write_quietly(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// One child process and the two pipes to it.
private final class Child {
    enum Outcome {
        case answer([UInt8])
        case late
        case long
        case ended(signal: Int32)
    }

    private let process: pid_t
    private let input: Int32
    private let output: Int32
    private var reaped = false

    init(command: [String]) throws(TemplateError) {
        var toChild: [Int32] = [-1, -1], fromChild: [Int32] = [-1, -1]
        guard pipe(&toChild) == 0 else { throw .untried(reason: Platform.describe(errno: errno)) }
        guard pipe(&fromChild) == 0 else {
            let code = errno
            toChild.forEach { close($0) }
            throw .untried(reason: Platform.describe(errno: code))
        }
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var started = pid_t()
        let code = spawnProcess(&started, command, input: toChild[0], output: fromChild[1])
        close(toChild[0])
        close(fromChild[1])
        guard code == 0 else {
            close(toChild[1])
            close(fromChild[0])
            throw .untried(reason: Platform.describe(errno: code))
        }
        process = started
        input = toChild[1]
        output = fromChild[0]
    }

    deinit {
        kill()
        close(input)
        close(output)
    }

    func kill() {
        guard !reaped else { return }
        _ = endProcess(process, SIGKILL)
        _ = reap()
    }

    private func reap() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        reaped = true
        return status & 0x7F
    }

    func exchange(_ request: [UInt8], seconds: Int32) -> Outcome {
        guard writeAll(request, to: input) else { return .ended(signal: reap()) }
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let deadline = Platform.monotonicNanoseconds + UInt64(seconds) * 1_000_000_000
        while true {
            let now = Platform.monotonicNanoseconds
            guard now < deadline else { return .late }
            var wish = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wish, 1, Int32((deadline - now) / 1_000_000) + 1)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return .late }
            let count = read(output, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .ended(signal: reap()) }
            line += piece[..<count]
            if line.last == 0x0A { return .answer(line) }
            if line.count > TemplateWorker.answerBytes { return .long }
        }
    }
}

private func endProcess(_ process: pid_t, _ signal: Int32) -> Int32 {
    #if canImport(Darwin)
    Darwin.kill(process, signal)
    #else
    Glibc.kill(process, signal)
    #endif
}

/// posix_spawn with standard input and output redirected; 0 or an errno value.
private func spawnProcess(_ process: inout pid_t, _ command: [String], input: Int32, output: Int32) -> Int32 {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    return ENOSYS
    #else
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    #else
    var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    // The library writes there what it has to say of its own faults; the person is told a sentence.
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [
        strdup("PATH=/usr/bin:/bin"), strdup("LANG=C.UTF-8"),
        // On an assertion ggml would run a debugger to print a trace.
        strdup("GGML_NO_BACKTRACE=1"), nil,
    ]
    defer { environment.forEach { free($0) } }
    if let zone = getenv("TZ") { environment.insert(strdup("TZ=" + String(cString: zone)), at: 0) }
    return posix_spawn(&process, command[0], &actions, nil, words, environment)
    #endif
}

internal import AlcoveCore
internal import AlcoveTemplates
internal import Foundation
internal import Testing

/// Trust test T13: a template that came with a file cannot hurt.
///
/// One after another, because each of these wants a processor for itself.
@Suite(.serialized) struct TemplateWorkerTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        let name: String
        let source: String
        var testDescription: String { name }
    }

    static let attacks = [
        Attack(name: "range of 10^9", source: "{% for i in range(1000000000) %}{% endfor %}"),
        Attack(name: "loops in loops", source: loops(6, of: 1000)),
        Attack(name: "endless range", source: "{{ range(0, 9223372036854775807, 4611686018427387905)|length }}"),
        Attack(
            name: "doubling",
            source:
                "{% set ns = namespace(s='0123456789') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}"
        ),
        Attack(
            name: "doubling a list",
            source: "{% set ns = namespace(s=[1]) %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}"),
        Attack(name: "a list in itself", source: "{% set a = [1] %}{% set b = a.append(a) %}{{ a }}"),
        Attack(name: "an object in itself", source: "{% set ns = namespace(a=1) %}{% set ns.a = ns %}{{ ns|tojson }}"),
        Attack(name: "repeating", source: "{{ 'x' * 9000000000000000000 }}"),
        Attack(name: "indenting", source: "{{ 'a\\nb'|indent(9000000000000000000) }}"),
        Attack(name: "a macro that calls itself", source: "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}"),
        Attack(
            name: "parentheses",
            source: "{{ " + String(repeating: "(", count: 100_000) + "1" + String(repeating: ")", count: 100_000)
                + " }}"),
        Attack(
            name: "lists",
            source: "{{ " + String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000) + " }}"),
        Attack(name: "nots", source: "{{ " + String(repeating: "not ", count: 200_000) + "1 }}"),
        Attack(
            name: "blocks",
            source: String(repeating: "{% if 1 %}", count: 50_000) + String(repeating: "{% endif %}", count: 50_000)),
        Attack(
            name: "1 GB",
            source: "{% for i in range(1000000) %}{{ '" + String(repeating: "x", count: 1000) + "' }}{% endfor %}"),
        Attack(name: "throwing", source: "{{ raise_exception('no') }}"),
        Attack(name: "dividing by zero", source: "{{ 1 is divisibleby(0) }}"),
        Attack(name: "faulty", source: "{{ nothing.at.all() }}"),
    ]

    private static func loops(_ depth: Int, of count: Int) -> String {
        (0..<depth).map { "{% for i\($0) in range(\(count)) %}" }.joined()
            + String(repeating: "{% endfor %}", count: depth)
    }

    @Test(arguments: attacks) func anAttackIsAnErrorWithinASecond(_ attack: Attack) throws {
        let worker = TemplateWorker(command: Self.command)
        #expect(try worker.render(template: "{{ 1 + 1 }}", context: [:]) == "2")

        let before = Platform.monotonicNanoseconds
        let error = #expect(throws: TemplateError.self) {
            try worker.run(TemplateTrial(source: attack.source, bos: "", eos: ""))
        }
        let seconds = Double(Platform.monotonicNanoseconds - before) / 1e9

        #expect(error?.message.isEmpty == false)
        if case .untried = error { Issue.record("\(error!)") }  // it is not nil in a case
        #expect(seconds < 4, "0.8 s of processor time, on a machine that may be busy")

        // The same worker goes on, with a child of its own making.
        #expect(try worker.render(template: "{{ 2 + 2 }}", context: [:]) == "4")
        #expect(throws: TemplateError.self) { try worker.render(template: attack.source, context: [:]) }
        #expect(try worker.render(template: "{{ 3 + 3 }}", context: [:]) == "6")
    }

    @Test func aSoundTemplatePasses() throws {
        let worker = TemplateWorker(command: Self.command)

        try worker.run(TemplateTrial(source: ChatTemplate.chatML, bos: "<s>", eos: "</s>"))
        try worker.run(TemplateTrial(source: ChatTemplateTests.strict, bos: "", eos: ""))
    }

    @Test func aLongConversationIsNoAttack() throws {
        let worker = TemplateWorker(command: Self.command)

        let text = try worker.render(
            template: "{{ t }}", context: ["t": .string(String(repeating: "é", count: 1 << 20))])

        #expect(text.utf8.count == 2 << 20)
    }

    @Test func aProgramThatIsMissingIsSaidSo() {
        let worker = TemplateWorker(command: ["/nowhere/alcove", "plumbing", "template-worker"])

        let error = #expect(throws: TemplateError.self) { try worker.render(template: "x", context: [:]) }

        guard case .untried = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func aProgramThatIsNoWorkerIsAnError() {
        for command in [["/bin/true"], ["/bin/false"], ["/bin/cat"], ["/bin/echo", "hello"]] {
            let worker = TemplateWorker(command: command)
            #expect(throws: TemplateError.self) { try worker.run(TemplateTrial(source: "x", bos: "", eos: "")) }
        }
    }

    #if os(Linux)
    @Test func noChildIsLeftAndNoneGrewLarge() throws {
        for attack in Self.attacks.prefix(5) {
            let worker = TemplateWorker(command: Self.command)
            _ = try? worker.render(template: attack.source, context: [:])
            _ = try? worker.render(template: "x", context: [:])
        }

        #expect(children().filter { $0.name == "alcove" } == [])
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        #expect(usage.ru_maxrss < 700 << 10, "kilobytes")
    }

    private struct Process: Equatable {
        let id: Int
        let name: String
    }

    /// Child processes of this one, dead ones too.
    private func children() -> [Process] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { entry in
            guard let id = Int(entry), let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let open = status.firstIndex(of: "("), let close = status.lastIndex(of: ")")
            else { return nil }
            let fields = status[status.index(after: close)...].split(separator: " ")
            guard fields.count > 1, fields[1] == "\(getpid())" else { return nil }
            return Process(id: id, name: String(status[status.index(after: open)..<close]))
        }
    }
    #endif

    /// The built program, which stands beside the tests.
    static var command: [String] {
        let program =
            ProcessInfo.processInfo.environment["ALCOVE_BIN"]
            ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(
                "alcove"
            ).path
        return [program, "plumbing", "template-worker"]
    }
}

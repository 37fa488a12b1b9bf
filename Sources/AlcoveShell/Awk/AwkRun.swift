internal import AlcoveCore

/// What leaves an expression of awk before its end.
enum AwkEnd: Error {
    case next
    case nextFile
    case exit
    case flow(Flow)
}

/// One run of an awk program. Stays on its thread.
final class AwkRun {
    static let deepestCall = 500

    enum Completion {
        case normal
        case leaveLoop
        case nextRound
        case answer(AwkValue)
    }

    // The places of AwkParser.special.
    enum Special {
        static let fieldCount = 0, record = 1, fileRecord = 2, fieldSeparator = 3, outputSeparator = 4
        static let recordEnd = 5, recordSeparator = 6, fileName = 7, subscriptSeparator = 8, conversion = 9
        static let outputFormat = 10, matchStart = 11, matchLength = 12, environment = 13, argumentCount = 14
        static let arguments = 15, foldsCase = 16
    }

    let call: UtilityCall
    let program: AwkProgram
    var globals: [AwkCell]
    var frames: [[AwkCell]] = []
    var expressions: [[UInt8]: LibraryPattern] = [:]
    var status: Int32 = 0
    var random = AwkRandom(seed: 0)
    var seed = 0.0

    // The record: its text, and its fields once somebody asks for them.
    private var record: [UInt8] = []
    private var fields: [AwkValue] = []
    private var isSplit = true
    private var recordIsStale = false

    private var input: AwkRecords?
    private var argument = 1
    private var hasReadArgument = false
    private var hasEnded = false
    var openInputs: [[UInt8]: AwkRecords] = [:]
    var openOutputs: [[UInt8]: any ByteSink] = [:]
    var commands: [[UInt8]: Job] = [:]
    private var out: [UInt8] = []
    private var rangesInside: Set<Int> = []
    private var steps = 0

    init(_ call: UtilityCall, _ program: AwkProgram, operands: [[UInt8]]) {
        self.call = call
        self.program = program
        globals = program.globals.map { _ in AwkCell() }
        set(Special.fieldSeparator, text: " ")
        set(Special.outputSeparator, text: " ")
        set(Special.recordEnd, text: "\n")
        set(Special.recordSeparator, text: "\n")
        globals[Special.subscriptSeparator].value = .string([28])
        set(Special.conversion, text: "%.6g")
        set(Special.outputFormat, text: "%.6g")
        globals[Special.matchLength].value = .number(-1)
        globals[Special.argumentCount].value = .number(Double(operands.count + 1))
        let arguments = AwkArray()
        arguments[[48]] = .string(call.words[0])
        for (index, operand) in operands.enumerated() { arguments[Array("\(index + 1)".utf8)] = .input(operand) }
        globals[Special.arguments].array = arguments
        let environment = AwkArray()
        for (name, variable) in call.shell.state.variables.sorted(by: { $0.key < $1.key }) where variable.isExported {
            environment[Array(name.utf8)] = .input(variable.value ?? [])
        }
        globals[Special.environment].array = environment
    }

    private func set(_ index: Int, text: String) { globals[index].value = .string(Array(text.utf8)) }

    func fault(_ what: String) -> AwkEnd { .flow(.failed(what)) }

    func inShell<Value>(_ body: () throws(Flow) -> Value) throws(AwkEnd) -> Value {
        do throws(Flow) { return try body() } catch { throw .flow(error) }
    }

    /// NAME=VALUE of the command line. False when it is no such thing.
    func assign(_ word: [UInt8]) -> Bool {
        guard let sign = word.firstIndex(of: 61), Array(word[..<sign]).isName else { return false }
        let name = Array(word[..<sign]).text
        var value: [UInt8] = []
        var place = sign + 1
        while place < word.count {
            if word[place] == 92, place + 1 < word.count {
                let (bytes, end) = AwkLexer.escape(word, place)
                value += bytes
                place = end
            } else {
                value.append(word[place])
                place += 1
            }
        }
        guard let index = program.globals.firstIndex(of: name) else { return true }
        globals[index].value = .input(value)
        return true
    }

    // MARK: The whole run

    func run() throws(Flow) -> Int32 {
        var hasExited = false
        do throws(AwkEnd) {
            for rule in program.rules { if case .begin = rule.pattern { _ = try execute(rule.body ?? []) } }
            let hasRules = program.rules.contains { if case .begin = $0.pattern { false } else { true } }
            if hasRules {
                while try nextRecord() {
                    do throws(AwkEnd) { try applyRules() } catch {
                        switch error {
                        case .next: break
                        case .nextFile: input = nil
                        default: throw error
                        }
                    }
                }
            }
        } catch {
            switch error {
            case .exit: hasExited = true
            case .next, .nextFile: try finish(); throw .failed("next belongs in a rule, not in BEGIN or END")
            case .flow(let flow):
                try? flush()
                throw flow
            }
        }
        do throws(AwkEnd) {
            if !hasExited || program.rules.contains(where: { if case .end = $0.pattern { true } else { false } }) {
                for rule in program.rules { if case .end = rule.pattern { _ = try execute(rule.body ?? []) } }
            }
        } catch {
            if case .flow(let flow) = error {
                try? flush()
                throw flow
            }
        }
        try finish()
        return status
    }

    private func finish() throws(Flow) {
        try flush()
        openInputs = [:]
        openOutputs = [:]
        for (_, job) in commands { _ = try call.control.wait(for: job) }
        commands = [:]
    }

    private func applyRules() throws(AwkEnd) {
        for (index, rule) in program.rules.enumerated() {
            switch rule.pattern {
            case .begin, .end: continue
            case .always: break
            case .when(let condition): guard isTrue(try value(condition)) else { continue }
            case .range(let first, let last):
                if !rangesInside.contains(index) {
                    guard isTrue(try value(first)) else { continue }
                    rangesInside.insert(index)
                }
                if isTrue(try value(last)) { rangesInside.remove(index) }
            }
            guard let body = rule.body else {
                try write(currentRecord() + text(globals[Special.recordEnd].value))
                continue
            }
            _ = try execute(body)
        }
    }

    // MARK: Records and fields

    private func separator() throws(AwkEnd) -> AwkRecords.Separator {
        let text = text(globals[Special.recordSeparator].value)
        if text.isEmpty { return .paragraph }
        if text.count == 1 { return .byte(text[0]) }
        return .expression(try expression(text))
    }

    /// The next record of the inputs named on the command line.
    private func readMain() throws(AwkEnd) -> [UInt8]? {
        while true {
            try inShell { () throws(Flow) in try call.control.check() }
            if let input {
                let separator = try separator()
                if let line = try inShell({ () throws(Flow) in try input.next(separator) }) { return line }
                self.input = nil
            }
            guard !hasEnded else { return nil }
            var name: [UInt8]?
            while argument < Int(number(globals[Special.argumentCount].value)) {
                let key = Array("\(argument)".utf8)
                argument += 1
                guard let arguments = globals[Special.arguments].asArray(), arguments.has(key) else { continue }
                let word = text(arguments[key])
                if word.isEmpty || assign(word) { continue }
                name = word
                break
            }
            if name == nil {
                hasEnded = true
                if hasReadArgument { return nil }
                name = [45]
            }
            hasReadArgument = true
            guard let name else { return nil }
            globals[Special.fileName].value = .string(name == [45] ? [] : name)
            globals[Special.fileRecord].value = .number(0)
            do throws(Flow) {
                if name == [45] {
                    input = AwkRecords(try call.input())
                } else if let source = try call.shell.open(name, for: .reading).source {
                    input = AwkRecords(source)
                }
            } catch {
                guard case .failed(let what) = error else { throw .flow(error) }
                try inShell { () throws(Flow) in try call.complain(what) }
                status = 2
            }
        }
    }

    private func count(_ index: Int) {
        globals[index].value = .number(number(globals[index].value) + 1)
    }

    private func nextRecord() throws(AwkEnd) -> Bool {
        guard let line = try readMain() else { return false }
        count(Special.record)
        count(Special.fileRecord)
        setRecord(line)
        return true
    }

    private func setRecord(_ bytes: [UInt8]) {
        record = bytes
        isSplit = false
        recordIsStale = false
    }

    private func split() throws(AwkEnd) {
        guard !isSplit else { return }
        isSplit = true
        fields = try split(record, by: text(globals[Special.fieldSeparator].value)).map { .input($0) }
        globals[Special.fieldCount].value = .number(Double(fields.count))
    }

    func currentRecord() throws(AwkEnd) -> [UInt8] {
        if recordIsStale {
            let between = text(globals[Special.outputSeparator].value)
            record = Array(fields.map { text($0) }.joined(separator: between))
            recordIsStale = false
        }
        return record
    }

    func field(_ number: Int) throws(AwkEnd) -> AwkValue {
        guard number >= 0 else { throw fault("there is no field \(number)") }
        if number == 0 { return .input(try currentRecord()) }
        try split()
        return number <= fields.count ? fields[number - 1] : .unset
    }

    private func setField(_ number: Int, _ value: AwkValue) throws(AwkEnd) {
        guard number >= 0 else { throw fault("there is no field \(number)") }
        if number == 0 { return setRecord(text(value)) }
        guard number < 1 << 20 else { throw fault("a record has no \(number) fields") }
        try split()
        while fields.count < number { fields.append(.input([])) }
        if case .unset = value { fields[number - 1] = .input([]) } else { fields[number - 1] = value }
        globals[Special.fieldCount].value = .number(Double(fields.count))
        recordIsStale = true
    }

    func split(_ bytes: [UInt8], by separator: [UInt8]) throws(AwkEnd) -> [[UInt8]] {
        if bytes.isEmpty { return [] }
        if separator == [32] {
            var out: [[UInt8]] = []
            var place = 0
            while place < bytes.count {
                while place < bytes.count, bytes[place].isBlank || bytes[place] == 10 { place += 1 }
                let start = place
                while place < bytes.count, !(bytes[place].isBlank || bytes[place] == 10) { place += 1 }
                if place > start { out.append(Array(bytes[start..<place])) }
            }
            return out
        }
        let isParagraph = text(globals[Special.recordSeparator].value).isEmpty
        if separator.isEmpty {
            var out: [[UInt8]] = []
            var place = 0
            while place < bytes.count {
                let length = Pattern.length(bytes, place)
                out.append(Array(bytes[place..<place + length]))
                place += length
            }
            return out
        }
        if separator.count == 1, separator[0] != 92, !isParagraph {
            return bytes.split(separator: separator[0], omittingEmptySubsequences: false).map { Array($0) }
        }
        let single = separator.count == 1 ? [91] + separator + [93] : separator
        let pattern = try expression(isParagraph ? [40] + single + [41, 124, 10] : single)
        return split(bytes, by: pattern)
    }

    func split(_ bytes: [UInt8], by pattern: LibraryPattern) -> [[UInt8]] {
        if bytes.isEmpty { return [] }
        var out: [[UInt8]] = []
        var start = 0
        var from = 0
        while from <= bytes.count, let range = pattern.match(bytes, from: from) {
            if range.isEmpty {
                from = range.lowerBound + 1
                continue
            }
            out.append(Array(bytes[start..<range.lowerBound]))
            start = range.upperBound
            from = start
        }
        out.append(Array(bytes[start...]))
        return out
    }

    // MARK: Variables

    func cell(_ name: AwkArrayName) -> AwkCell {
        switch name {
        case .global(let index): globals[index]
        case .local(let index): frames[frames.count - 1][index]
        }
    }

    func array(_ name: AwkArrayName) throws(AwkEnd) -> AwkArray {
        guard let array = cell(name).asArray() else { throw fault("a variable that holds a value is used as an array") }
        return array
    }

    func key(_ keys: [AwkExpression]) throws(AwkEnd) -> [UInt8] {
        if keys.count == 1 { return keyText(try value(keys[0])) }
        var out: [UInt8] = []
        let between = text(globals[Special.subscriptSeparator].value)
        for (index, key) in keys.enumerated() {
            if index > 0 { out += between }
            out += keyText(try value(key))
        }
        return out
    }

    private func keyText(_ value: AwkValue) -> [UInt8] { text(value) }

    func assign(_ place: AwkExpression, _ value: AwkValue) throws(AwkEnd) {
        switch place {
        case .global(let index):
            if globals[index].array != nil { throw fault("\(program.globals[index]) is an array and takes no value") }
            if index == Special.fieldCount {
                try split()
                let count = Int(max(0, min(number(value), 1_048_576)))
                while fields.count < count { fields.append(.input([])) }
                fields.removeLast(fields.count - count)
                recordIsStale = true
            }
            // What was read under the old separator is cut under it.
            if index == Special.fieldSeparator, !isSplit { try split() }
            globals[index].value = value
        case .local(let index):
            let cell = frames[frames.count - 1][index]
            if cell.array != nil { throw fault("an array takes no value") }
            cell.value = value
        case .field(let which): try setField(Int(clamping: whole(try self.value(which))), value)
        case .element(let name, let keys): try array(name)[key(keys)] = value
        default: throw fault("this is no place to assign to")
        }
    }

    func whole(_ value: AwkValue) -> Int64 {
        let number = number(value)
        return number.isNaN ? 0 : Int64(max(-9e18, min(9e18, number)))
    }

    // MARK: Conversions

    func number(_ value: AwkValue) -> Double {
        switch value {
        case .number(let number): number
        case .string(let text), .input(let text): AwkNumber.prefix(text)
        case .unset: 0
        }
    }

    func text(_ value: AwkValue) -> [UInt8] {
        switch value {
        case .number(let number):
            if number == number.rounded(.towardZero), abs(number) < 1e16 { return Array("\(Int64(number))".utf8) }
            if case .string(let format) = globals[Special.conversion].value { return AwkNumber.text(number, format) }
            return AwkNumber.text(number, Array("%.6g".utf8))
        case .string(let text), .input(let text): return text
        case .unset: return []
        }
    }

    func outputText(_ value: AwkValue) -> [UInt8] {
        guard case .number(let number) = value else { return text(value) }
        return AwkNumber.text(number, text(globals[Special.outputFormat].value))
    }

    func isTrue(_ value: AwkValue) -> Bool {
        switch value {
        case .number(let number): return number != 0
        case .string(let text): return !text.isEmpty
        case .input(let text): return AwkNumber.whole(text).map { $0 != 0 } ?? !text.isEmpty
        case .unset: return false
        }
    }

    // MARK: Output

    func write(_ bytes: [UInt8]) throws(AwkEnd) {
        out += bytes
        if out.count > 1 << 15 { try inShell { () throws(Flow) in try flush() } }
    }

    func flush() throws(Flow) {
        if !out.isEmpty { try call.write(out) }
        out.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], to output: AwkOutput?) throws(AwkEnd) {
        guard let output else { return try write(bytes) }
        let name = text(try value(output.target))
        if name.isEmpty { throw fault("the name of an output is empty") }
        if openOutputs[name] == nil {
            if openOutputs.count > 200 { throw fault("more than 200 outputs are open; close() ends one") }
            try inShell { () throws(Flow) in
                switch output.kind {
                case .command:
                    try flush()
                    let pipe = Pipe.make(call.control)
                    openOutputs[name] = pipe.writer
                    commands[name] = try call.shell.startScript(name, input: OpenFile(source: pipe.reader), output: nil)
                case .append: openOutputs[name] = try call.shell.open(name, for: .appending).sink
                case .truncate: openOutputs[name] = try call.shell.open(name, for: .truncating).sink
                }
            }
        }
        let sink = openOutputs[name]
        try inShell { () throws(Flow) in
            if name == Array("/dev/stdout".utf8) || name == Array("/dev/stderr".utf8) { try flush() }
            try sink?.write(bytes)
        }
    }

    // MARK: Statements

    func execute(_ statements: [AwkStatement]) throws(AwkEnd) -> Completion {
        for statement in statements {
            let completion = try execute(statement)
            if case .normal = completion { continue }
            return completion
        }
        return .normal
    }

    private func step() throws(AwkEnd) {
        steps &+= 1
        if steps & 1023 == 0 { try inShell { () throws(Flow) in try call.control.check() } }
    }

    /// One round of a loop; nil when the loop goes on.
    private func round(_ body: [AwkStatement]) throws(AwkEnd) -> Completion? {
        try step()
        switch try execute(body) {
        case .leaveLoop: return .normal
        case .answer(let value): return .answer(value)
        case .normal, .nextRound: return nil
        }
    }

    private func execute(_ statement: AwkStatement) throws(AwkEnd) -> Completion {
        try step()
        switch statement {
        case .expression(let expression): _ = try value(expression)
        case .print(let arguments, let output):
            var line: [UInt8] = []
            if arguments.isEmpty { line = try currentRecord() }
            for (index, argument) in arguments.enumerated() {
                if index > 0 { line += text(globals[Special.outputSeparator].value) }
                line += outputText(try value(argument))
            }
            try write(line + text(globals[Special.recordEnd].value), to: output)
        case .format(let arguments, let output): try write(try formatted(arguments), to: output)
        case .condition(let condition, let then, let otherwise):
            return try execute(isTrue(try value(condition)) ? then : otherwise)
        case .loop(let condition, let body):
            while isTrue(try value(condition)) { if let end = try round(body) { return end } }
        case .loopAfter(let body, let condition):
            repeat { if let end = try round(body) { return end } } while isTrue(try value(condition))
        case .count(let start, let condition, let step, let body):
            if let start { _ = try execute(start) }
            while true {
                if let condition, !isTrue(try value(condition)) { break }
                if let end = try round(body) { return end }
                if let step { _ = try execute(step) }
            }
        case .each(let variable, let name, let body):
            let array = try array(name)
            for key in array.keys where array.has(key) {
                try assign(variable, .input(key))
                if let end = try round(body) { return end }
            }
        case .leaveLoop: return .leaveLoop
        case .nextRound: return .nextRound
        case .next: throw .next
        case .nextFile: throw .nextFile
        case .exit(let expression):
            if let expression { status = Int32(truncatingIfNeeded: whole(try value(expression)) & 0xFF) }
            throw .exit
        case .answer(let expression):
            return .answer(try expression.map { (e) throws(AwkEnd) in try value(e) } ?? .unset)
        case .delete(let name, let keys):
            let array = try array(name)
            if let keys { array.remove(try key(keys)) } else { array.removeAll() }
        case .block(let statements): return try execute(statements)
        }
        return .normal
    }

    // MARK: Reading lines

    func readLine(into target: AwkExpression?, from source: AwkExpression.Source) throws(AwkEnd) -> AwkValue {
        let separator = try separator()
        let line: [UInt8]?
        do throws(AwkEnd) {
            switch source {
            case .main:
                line = try readMain()
                if line != nil {
                    count(Special.record)
                    count(Special.fileRecord)
                }
            case .file(let expression):
                let name = text(try value(expression))
                if openInputs[name] == nil {
                    guard
                        let source = try inShell({ () throws(Flow) in try call.shell.open(name, for: .reading).source })
                    else {
                        return .number(-1)
                    }
                    openInputs[name] = AwkRecords(source)
                }
                let records = openInputs[name]
                line = try inShell { () throws(Flow) in try records?.next(separator) }
            case .command(let expression):
                let script = text(try value(expression))
                if openInputs[script] == nil {
                    try inShell { () throws(Flow) in
                        try flush()
                        let pipe = Pipe.make(call.control)
                        openInputs[script] = AwkRecords(pipe.reader)
                        commands[script] = try call.shell.startScript(
                            script, input: nil, output: OpenFile(sink: pipe.writer))
                    }
                }
                let records = openInputs[script]
                line = try inShell { () throws(Flow) in try records?.next(separator) }
                if line != nil { count(Special.record) }
            }
        } catch {
            if case .flow(.failed) = error { return .number(-1) }
            throw error
        }
        guard let line else { return .number(0) }
        if let target { try assign(target, .input(line)) } else { setRecord(line) }
        return .number(1)
    }

    /// What `close` gives back: the status of a command, 0 for a file, -1 for neither.
    func close(_ name: [UInt8]) throws(AwkEnd) -> Double {
        let wasOpen = openInputs.removeValue(forKey: name) != nil || openOutputs[name] != nil
        openOutputs[name] = nil
        guard let job = commands.removeValue(forKey: name) else { return wasOpen ? 0 : -1 }
        return Double(try inShell { () throws(Flow) in try call.control.wait(for: job) })
    }
}

/// The numbers of `rand`: the same for the same seed.
struct AwkRandom {
    private var state: UInt64

    init(seed: Double) { state = seed.bitPattern ^ 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((z ^ (z >> 31)) >> 11) / Double(1 << 53)
    }
}

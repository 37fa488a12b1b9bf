internal import AlcoveCore

extension Utilities {
    @Sendable static func jq(_ call: UtilityCall) throws(Flow) -> Int32 {
        do throws(Flow) { return try runJq(call) } catch {
            guard case .failed(let what) = error else { throw error }
            try call.complain(what)
            return 3
        }
    }

    private static func runJq(_ call: UtilityCall) throws(Flow) -> Int32 {
        var rest = call.words.dropFirst()
        var program: [UInt8]?
        var operands: [[UInt8]] = []
        var flags: Set<Character> = []
        var indent: Int? = 2
        var names: [(String, JSONValue)] = []
        var positional: [JSONValue] = []
        var takesRest: UInt8?
        func value(_ option: String) throws(Flow) -> [UInt8] {
            guard let next = rest.popFirst() else { throw .failed("the option \(option) needs a value") }
            return next
        }
        func parsed(_ bytes: [UInt8]) throws(Flow) -> JSONValue {
            do throws(JSONError) { return try JSONValue(parsing: bytes) } catch { throw .failed(error.message) }
        }
        while let word = rest.popFirst() {
            guard word.first == 45, word.count > 1 else {
                if program == nil {
                    program = word
                } else if takesRest == 97 {
                    positional.append(.string(word.text))
                } else if takesRest == 106 {
                    positional.append(try parsed(word))
                } else {
                    operands.append(word)
                }
                continue
            }
            let text = word.text
            switch text {
            case "--arg": names.append((try value(text).text, .string(try value(text).text)))
            case "--argjson": names.append((try value(text).text, try parsed(try value(text))))
            case "--slurpfile", "--rawfile":
                let name = try value(text).text
                let bytes = try call.shell.contents(of: try value(text))
                names.append((name, text == "--rawfile" ? .string(bytes.text) : .array(try documents(bytes))))
            case "--args": takesRest = 97
            case "--jsonargs": takesRest = 106
            case "--indent": indent = Int(try value(text).text) ?? 2
            case "--tab": flags.insert("t")
            case "--compact-output": flags.insert("c")
            case "--raw-output": flags.insert("r")
            case "--join-output": flags.insert("j")
            case "--null-input": flags.insert("n")
            case "--slurp": flags.insert("s")
            case "--raw-input": flags.insert("R")
            case "--sort-keys": flags.insert("S")
            case "--exit-status": flags.insert("e")
            case "--ascii-output": flags.insert("a")
            case "--color-output", "--monochrome-output", "--unbuffered": break
            case "--from-file":
                program = try call.shell.contents(of: try value(text))
            case _ where text.hasPrefix("--"): throw .failed("there is no option \(shown(word))")
            default:
                for letter in text.dropFirst() {
                    guard "crjnsRSeaCMfh".contains(letter) else {
                        throw .failed(
                            "there is no option -\(letter). It has: -c -r -j -n -s -R -S -e -f FILE --arg NAME VALUE --argjson NAME JSON --slurpfile NAME FILE --args --indent N --tab"
                        )
                    }
                    if letter == "f" {
                        program = try call.shell.contents(of: try value("-f"))
                    } else {
                        flags.insert(letter)
                    }
                }
            }
        }
        guard let program else { throw .failed("a filter belongs after it, as in jq '.name' FILE") }
        let filter = try JqParser.filter(
            Array((JqRun.prelude + "\n").utf8) + (program.allSatisfy { $0.isBlank || $0 == 10 } ? [46] : program))
        var environment = JSONObject()
        for (name, variable) in call.shell.state.variables where variable.isExported {
            environment[name] = .string(variable.scalar?.text ?? "")
        }
        let run = JqRun(call.control, environment: .object(environment))
        var scope = JqRun.Scope()
        var named = JSONObject()
        for (name, value) in names {
            scope = JqRun.Scope(.variable(name, value), scope)
            named[name] = value
        }
        scope = JqRun.Scope(.variable("__prog_args", .array(positional)), scope)
        scope = JqRun.Scope(.variable("ARGS", ["positional": .array(positional), "named": .object(named)]), scope)

        var status: Int32 = 0
        var bytes: [UInt8] = []
        let isWhole = try call.eachInput(operands) { (_, source) throws(Flow) in
            if flags.contains("n"), operands.isEmpty { return }
            bytes += try call.all(source)
        }
        if !isWhole { status = 2 }
        var inputs: [JSONValue]
        var fault: String?
        if flags.contains("R") {
            if flags.contains("s") {
                inputs = [.string(bytes.text)]
            } else {
                var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map {
                    JSONValue.string(Array($0).text)
                }
                if bytes.last == 10 || bytes.isEmpty { lines.removeLast() }
                inputs = lines
            }
        } else {
            (inputs, fault) = readable(bytes)
            if flags.contains("s") { inputs = [.array(inputs)] }
        }
        var next = 0
        run.nextInput = { () throws(JqEnd) in
            guard next < inputs.count else { return nil }
            next += 1
            return inputs[next - 1]
        }
        var writer = BlockWriter(call)
        var last: JSONValue?
        let layout = flags.contains("c") ? nil : flags.contains("t") ? 1 : indent
        func handle(_ input: JSONValue) throws(Flow) {
            do throws(JqEnd) {
                try run.run(filter, input, scope) { (value) throws(JqEnd) in
                    last = value
                    var out: [UInt8] = []
                    if flags.contains("r") || flags.contains("j"), case .string(let text) = value {
                        out = Array(text.utf8)
                    } else {
                        JqValue.write(
                            value, indent: layout == 0 ? nil : layout, sorts: flags.contains("S"),
                            tab: flags.contains("t"), level: 0, into: &out)
                    }
                    if !flags.contains("j") { out.append(10) }
                    do throws(Flow) { try writer.add(out) } catch { throw .flow(error) }
                }
            } catch {
                try writer.flush()
                switch error {
                case .fault(let what):
                    status = 5
                    if case .string(let text) = what {
                        try call.complain(text)
                    } else {
                        try call.complain("the filter gave up: \(JqValue.text(what))")
                    }
                case .flow(let flow): throw flow
                case .leave, .enough: break
                }
            }
        }
        if flags.contains("n") {
            try handle(.null)
        } else {
            while next < inputs.count {
                next += 1
                try handle(inputs[next - 1])
            }
        }
        try writer.flush()
        if let fault {
            try call.complain(fault)
            return 2
        }
        if flags.contains("e"), status == 0 { return last.map { JqValue.isTrue($0) ? 0 : 1 } ?? 4 }
        return status
    }

    private static func documents(_ bytes: [UInt8]) throws(Flow) -> [JSONValue] {
        let (values, fault) = readable(bytes)
        if let fault { throw .failed(fault) }
        return values
    }

    /// The documents one after another in a text, up to the first that is none.
    private static func readable(_ bytes: [UInt8]) -> ([JSONValue], String?) {
        var values: [JSONValue] = []
        var place = 0
        while place < bytes.count {
            if bytes[place] == 32 || (9...13).contains(bytes[place]) {
                place += 1
                continue
            }
            let end = documentEnd(bytes, place)
            do throws(JSONError) { values.append(try JSONValue(parsing: bytes[place..<end])) } catch {
                return (values, error.message)
            }
            place = end
        }
        return (values, nil)
    }

    private static func documentEnd(_ bytes: [UInt8], _ start: Int) -> Int {
        var depth = 0
        var place = start
        while place < bytes.count {
            switch bytes[place] {
            case 34:
                place += 1
                while place < bytes.count, bytes[place] != 34 { place += bytes[place] == 92 ? 2 : 1 }
                if depth == 0 { return min(bytes.count, place + 1) }
            case 91, 123: depth += 1
            case 93, 125:
                depth -= 1
                if depth <= 0 { return place + 1 }
            case 32, 9, 10, 13: if depth == 0 { return place }
            default: break
            }
            place += 1
        }
        return bytes.count
    }
}

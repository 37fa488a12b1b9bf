internal import AlcoveCore
internal import AlcoveSandbox

/// Utilities that ask about the shell's surroundings, or run other commands under a condition.
extension Utilities {
    private static func answer(_ text: @escaping @Sendable (UtilityCall) -> String) -> Utility {
        { (call) throws(Flow) in
            try call.write(Array((text(call) + "\n").utf8))
            return 0
        }
    }

    /// Nothing here says anything about the machine or its owner.
    static let answers: [String: Utility] = [
        "arch": answer { _ in "alcove" }, "clear": { (_) throws(Flow) in 0 }, "hostname": answer { _ in "alcove" },
        "id": answer { call in
            call.words.dropFirst().contains(Array("-u".utf8)) ? "1000" : "uid=1000(user) gid=1000(user)"
        },
        "logname": answer { _ in "user" }, "nproc": answer { _ in "\(Platform.processorCount)" },
        "tty": { (call) throws(Flow) in
            try call.write(Array("not a tty\n".utf8))
            return 1
        },
        "uname": answer { call in
            let all = call.words.dropFirst().contains(Array("-a".utf8))
            return all ? "Alcove alcove 1.0 in-process shell" : "Alcove"
        },
        "whoami": answer { _ in "user" }, "sync": { (_) throws(Flow) in 0 },
    ]

    @Sendable static func which(_ call: UtilityCall) throws(Flow) -> Int32 {
        var status: Int32 = 0
        for word in call.words.dropFirst() where word.first != 45 {
            let name = word.text
            if all[name] != nil {
                try call.write(Array("/usr/bin/\(name)\n".utf8))
            } else if Builtins.ordinary[name] != nil || Builtins.special[name] != nil {
                try call.write(Array("\(name): shell built-in command\n".utf8))
            } else {
                status = 1
            }
        }
        return status
    }

    @Sendable static func printEnvironment(_ call: UtilityCall) throws(Flow) -> Int32 {
        let names = call.words.dropFirst().filter { $0.first != 45 }
        if names.isEmpty { return try environment(UtilityCall(shell: call.shell, words: [Array("env".utf8)])) }
        var status: Int32 = 0
        for name in names {
            if let variable = call.shell.state.variables[name.text], variable.isExported, let value = variable.scalar {
                try call.write(value + [10])
            } else {
                status = 1
            }
        }
        return status
    }

    @Sendable static func timeout(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "fv", valued: "ks", stopsEarly: true,
            longNames: ["--preserve-status": "p", "--foreground": "f", "--kill-after=": "k", "--signal=": "s"])
        guard options.operands.count > 1 else { throw .failed("a time and a command belong after it") }
        guard let seconds = Seconds.read(options.operands[0]) else {
            throw .failed("\(shown(options.operands[0])) is not a time")
        }
        let part = call.control.child()
        let job = try call.start(Array(options.operands.dropFirst()), under: part)
        if seconds == 0 { return try call.control.wait(for: job) }
        if let status = call.control.wait(for: job, seconds: seconds) { return status }
        try call.control.check()
        part.stop()
        let status = try call.control.wait(for: job)
        return options.has("p") ? status : 124
    }

    @Sendable static func timed(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("pv", stopsEarly: true)
        let start = Platform.monotonicNanoseconds
        let status = try call.run(options.operands)
        try call.shell.state.files[2]?.sink?.write(Shell.times(since: start))
        return status
    }

    /// `nice`, `nohup`, `stdbuf` and others that change how a program is run, which nothing here can.
    @Sendable static func plainRun(_ call: UtilityCall) throws(Flow) -> Int32 {
        var words = call.words.dropFirst()
        while let word = words.first, word.first == 45 || (word.first?.isDigit ?? false) {
            words.removeFirst()
            if word == Array("-n".utf8) { _ = words.popFirst() }
        }
        return try call.run(Array(words))
    }

    @Sendable static func date(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "uR", valued: "drI",
            longNames: [
                "--date=": "d", "--utc": "u", "--universal": "u", "--reference=": "r", "--iso-8601": "i",
                "--iso-8601=": "I", "--rfc-3339=": "3", "--rfc-email": "R",
            ])
        let isUTC = options.has("u")
        let zone = call.shell.value("TZ")
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var seconds = Int(now.tv_sec)
        var nanoseconds = Int(now.tv_nsec)
        if let text = options.values["d"] {
            guard let found = DateText.seconds(text.text, now: seconds, isUTC: isUTC, zone: zone) else {
                throw .failed(
                    "\(shown(text)): this is no date here. It knows 2024-05-01, 2024-05-01 12:30, 2024-05-01T12:30:00Z, 1 May 2024, @SECONDS, now, today, tomorrow, yesterday, monday, next week, and + 3 days or 2 hours ago after them"
                )
            }
            (seconds, nanoseconds) = (found, 0)
        }
        if let file = options.values["r"] {
            let name = try call.shell.name(file)
            let entry = try call.confined { (here) throws(ConfinementError) in try here.stat(name) }
            (seconds, nanoseconds) = (Int(entry.modified / 1000), Int(entry.modified % 1000) * 1_000_000)
        }
        var format = Array("%a %b %e %H:%M:%S %Z %Y".utf8)
        if options.has("R") { format = Array("%a, %d %b %Y %H:%M:%S %z".utf8) }
        if options.has("i") { format = Array("%Y-%m-%d".utf8) }
        if let kind = options.values["I"]?.text {
            format = Array(
                (["seconds": "%Y-%m-%dT%H:%M:%S%:z", "minutes": "%Y-%m-%dT%H:%M%:z", "hours": "%Y-%m-%dT%H%:z"][kind]
                    ?? "%Y-%m-%d").utf8)
        }
        if let kind = options.values["3"]?.text {
            format = Array((kind == "date" ? "%Y-%m-%d" : "%Y-%m-%d %H:%M:%S%:z").utf8)
        }
        for word in options.operands {
            guard word.first == 43 else {
                throw .failed("\(shown(word)): the clock is not set here; a format begins with +")
            }
            format = Array(word.dropFirst())
        }
        try call.write(Clock.text(seconds, format, isUTC: isUTC, zone: zone, nanoseconds: nanoseconds) + [10])
        return 0
    }

    @Sendable static func calendar(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options("m1hy")
        let numbers = options.operands.compactMap { Int($0.text) }
        let now = Clock.parts(time(nil), isUTC: false, zone: call.shell.value("TZ"))
        var month = Int(now.tm_mon) + 1
        var year = Int(now.tm_year) + 1900
        if numbers.count == 2 {
            (month, year) = (numbers[0], numbers[1])
        } else if numbers.count == 1 {
            year = numbers[0]
        }
        guard (1...12).contains(month), (1...9999).contains(year) else {
            throw .failed("it takes a month from 1 to 12 and a year")
        }
        let months = numbers.count == 1 || options.has("y") ? Array(1...12) : [month]
        let names = [
            "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
            "November", "December",
        ]
        var writer = BlockWriter(call)
        for month in months {
            let title = "\(names[month - 1]) \(year)"
            try writer.line(
                Array(
                    (String(repeating: " ", count: max(0, (20 - title.count) / 2)) + title
                        + String(repeating: " ", count: max(0, 20 - title.count - (20 - title.count) / 2)) + "  ").utf8)
            )
            try writer.line(Array("Su Mo Tu We Th Fr Sa  ".utf8))
            let first = DateText.weekday(year, month, 1)
            var row = String(repeating: "   ", count: first)
            var column = first
            for day in 1...DateText.days(year, month) {
                row += (day < 10 ? " " : "") + "\(day) "
                column += 1
                if column == 7 {
                    try writer.line(Array((row + " ").utf8))
                    (row, column) = ("", 0)
                }
            }
            if column > 0 { try writer.line(Array((row + String(repeating: "   ", count: 7 - column) + " ").utf8)) }
        }
        try writer.flush()
        return 0
    }

    @Sendable static func factor(_ call: UtilityCall) throws(Flow) -> Int32 {
        var words = call.words.dropFirst().map { $0 }
        if words.isEmpty {
            words = try call.all(call.input()).split(whereSeparator: { $0.isBlank || $0 == 10 }).map { Array($0) }
        }
        for word in words {
            guard var number = UInt64(word.text), number > 0 else {
                throw .failed("\(shown(word)) is no whole number above 0")
            }
            var line = "\(number):"
            var divisor: UInt64 = 2
            while divisor * divisor <= number {
                if divisor & 0xFFFF == 1 { try call.control.check() }
                while number % divisor == 0 {
                    line += " \(divisor)"
                    number /= divisor
                }
                divisor += divisor == 2 ? 1 : 2
                if divisor > 4_294_967_295 { break }
            }
            if number > 1 { line += " \(number)" }
            try call.write(Array((line + "\n").utf8))
        }
        return 0
    }

    @Sendable static func numberFormat(_ call: UtilityCall) throws(Flow) -> Int32 {
        let options = try call.options(
            "", valued: "d",
            longNames: [
                "--to=": "t", "--from=": "f", "--suffix=": "s", "--format=": "m", "--padding=": "p", "--round=": "r",
                "--grouping": "g",
            ])
        let to = options.values["t"]?.text ?? "none"
        let from = options.values["f"]?.text ?? "none"
        var words = options.operands
        if words.isEmpty { words = try call.all(call.input()).split(whereSeparator: { $0 == 10 }).map { Array($0) } }
        let letters = Array("KMGTPEZY")
        for word in words {
            var text = word.text[...]
            var scale = 1.0
            if from != "none" {
                if text.hasSuffix("i") { text.removeLast() }
                if let last = text.last, let power = letters.firstIndex(of: Character(last.uppercased())) {
                    scale = pow(from == "si" ? 1000 : 1024, Double(power + 1))
                    text.removeLast()
                }
            }
            guard let given = Double(String(text)) else { throw .failed("\(shown(word)) is not a number") }
            var value = given * scale
            var out: String
            if to == "none" {
                out = value == value.rounded() ? "\(Int64(value))" : "\(value)"
            } else {
                let base = to == "si" ? 1000.0 : 1024
                var power = 0
                while abs(value) >= base, power < letters.count {
                    value /= base
                    power += 1
                }
                if power == 0 {
                    out = "\(Int64(value))"
                } else {
                    let rounded = abs(value) < 10 ? (abs(value) * 10).rounded(.up) / 10 : abs(value).rounded(.up)
                    out =
                        (rounded < 10 ? AwkNumber.printed("%.1f", rounded).text : "\(Int(rounded))")
                        + String(letters[power - 1]) + (to == "iec-i" ? "i" : "")
                    if value < 0 { out = "-" + out }
                }
            }
            try call.write(Array((out + (options.values["s"]?.text ?? "") + "\n").utf8))
        }
        return 0
    }
}

/// Lengths of time as sleep and timeout take them.
enum Seconds {
    static func read(_ word: [UInt8]) -> Double? {
        var text = word.text
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        if unit != nil { text.removeLast() }
        guard let seconds = Double(text), seconds >= 0, seconds.isFinite else { return nil }
        return seconds * (unit ?? 1)
    }
}

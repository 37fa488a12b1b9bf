internal import AlcoveCore
internal import AlcoveSandbox

extension Utilities {
    @Sendable static func gzip(_ call: UtilityCall) throws(Flow) -> Int32 {
        try gzip(call, unpacks: false, toOutput: false)
    }
    @Sendable static func gunzip(_ call: UtilityCall) throws(Flow) -> Int32 {
        try gzip(call, unpacks: true, toOutput: false)
    }
    @Sendable static func zcat(_ call: UtilityCall) throws(Flow) -> Int32 {
        try gzip(call, unpacks: true, toOutput: true)
    }

    private static func gzip(_ call: UtilityCall, unpacks: Bool, toOutput: Bool) throws(Flow) -> Int32 {
        let options = try call.options(
            "cdkfnNqtvl123456789",
            longNames: [
                "--stdout": "c", "--decompress": "d", "--keep": "k", "--force": "f", "--best": "9", "--fast": "1",
                "--test": "t", "--quiet": "q",
            ])
        let unpacks = unpacks || options.has("d") || options.has("t")
        let level = options.flags.compactMap { $0.wholeNumberValue }.max().map { Int32($0) } ?? 6
        var status: Int32 = 0
        for operand in options.operands.isEmpty ? [[45]] : options.operands {
            try call.control.check()
            do throws(Flow) {
                if operand == [45] {
                    try pump(call, try call.input(), unpacks: unpacks, level: level) { (bytes) throws(Flow) in
                        try call.write(bytes)
                    }
                    continue
                }
                let name = try call.shell.name(operand)
                guard let source = try call.shell.open(operand, for: .reading).source else { continue }
                if toOutput || options.has("c") || options.has("t") {
                    try pump(call, source, unpacks: unpacks, level: level) { (bytes) throws(Flow) in
                        if !options.has("t") { try call.write(bytes) }
                    }
                    continue
                }
                let target = try target(name, unpacks: unpacks)
                if !options.has("f"), (try? call.shell.here.linkStat(target)) != nil {
                    throw .failed("\(target): there is already such a file; -f replaces it")
                }
                guard let sink = try call.shell.open(Array(target.utf8), for: .truncating).sink else { continue }
                do throws(Flow) {
                    try pump(call, source, unpacks: unpacks, level: level) { (bytes) throws(Flow) in
                        try sink.write(bytes)
                    }
                } catch {
                    // Half a file would look like a whole one.
                    try? call.shell.here.remove(target)
                    throw error
                }
                if !options.has("k") { try call.confined { (here) throws(ConfinementError) in try here.remove(name) } }
            } catch {
                guard case .failed(let what) = error else { throw error }
                try call.complain(what.hasPrefix(operand.text) ? what : "\(operand.text): \(what)")
                status = 1
            }
        }
        return status
    }

    private static func target(_ name: String, unpacks: Bool) throws(Flow) -> String {
        guard unpacks else { return name + ".gz" }
        if name.hasSuffix(".tgz") { return name.dropLast(4) + ".tar" }
        guard name.hasSuffix(".gz") else { throw .failed("\(name): the name does not end in .gz") }
        return String(name.dropLast(3))
    }

    private static func pump(
        _ call: UtilityCall, _ source: any ByteSource, unpacks: Bool, level: Int32,
        _ body: ([UInt8]) throws(Flow) -> Void
    ) throws(Flow) {
        if unpacks {
            let first = try source.read(1 << 16, isLine: false)
            guard first.starts(with: [0x1F, 0x8B]) || first == [0x1F] else {
                throw .failed("this is not in the gzip format")
            }
            let unpacked = GunzipSource(source, ahead: first)
            while true {
                try call.control.check()
                let piece = try unpacked.read(1 << 18, isLine: false)
                if piece.isEmpty { return }
                try body(piece)
            }
        }
        let packer = try Deflate(.gzip, level: level)
        while true {
            try call.control.check()
            let piece = try source.read(1 << 18, isLine: false)
            try packer.take(piece, isLast: piece.isEmpty, body)
            if piece.isEmpty { return }
        }
    }
}

internal import AlcoveCore
internal import AlcoveEngine
internal import Testing

/// Thousands of spoiled headers: each is read or refused by name, quickly and in little memory, and none that is
/// accepted makes llama.cpp refuse or abort.
///
/// The work is done in a process of its own, so that its memory is its own and an abort is a failed test.
/// `ALCOVE_FUZZ_SECONDS` makes it longer, with other seeds each time.
@Suite(.serialized) struct GGUFFuzzTests {
    @Test func tenThousandMutatedHeadersDoNoHarm() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let seconds = getenv("ALCOVE_FUZZ_SECONDS").flatMap { UInt64(String(cString: $0)) } ?? 0
            let seed = seconds > 0 ? UInt64.random(in: .min ... .max) : 20_261_130
            var mutator = GGUFMutator(seed: seed)
            let folder = GGUFFolder()
            var tally = FuzzTally()
            tally.read(folder.file(GGUFBuilder.tiny().bytes()))
            let peakBefore = ProcessMeter.peakBytes
            let deadline = Platform.monotonicNanoseconds + seconds * 1_000_000_000

            while tally.files < 10_000 || Platform.monotonicNanoseconds < deadline {
                let path = folder.file(mutator.next())
                tally.read(path)
            }

            let growth = ProcessMeter.peakBytes - peakBefore
            print("GGUF fuzz, seed \(seed): \(tally), \(growth / 1024) KiB more at the peak")
            #expect(tally.refusedByLlamaOnly == 0, "seed \(seed)")
            #expect(tally.slowest < 1_000_000_000, "seed \(seed)")
            #expect(growth < 50 << 20, "seed \(seed)")
            #expect(tally.accepted > 100 && tally.refused > 1000, "a fuzzer that finds only one kind tells nothing")
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }

    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable () -> [UInt8]
        /// Zeros after what `make` makes; they take no room on the disk.
        var zeros: UInt64 = 0
        let code: String?
        var testDescription: String { name }
    }

    static func builder(_ change: (inout GGUFBuilder) -> Void) -> [UInt8] {
        var builder = GGUFBuilder()
        change(&builder)
        return builder.bytes()
    }

    static let hostile = [
        Hostile(
            name: "16,384 tensors",
            make: {
                builder { builder in
                    let rest = String(repeating: "x", count: 57)
                    builder.tensors = (0..<16_384).map { .init("\(100_000 + $0)\(rest)", [1]) }
                }
            }, code: nil),
        Hostile(
            name: "16,384 keys",
            make: { builder { builder in (0..<16_384).forEach { builder.add("key.\($0)", .uint8(1)) } } },
            code: nil),
        Hostile(
            name: "1,000 keys of 64 KB",
            make: {
                builder { builder in
                    let rest = String(repeating: "x", count: 65_000)
                    (0..<1000).forEach { builder.add("\($0)\(rest)", .uint8(1)) }
                }
            }, code: "gguf_header_too_large"),
        Hostile(
            name: "60 texts of 1 MB",
            make: {
                builder { builder in
                    let text = String(repeating: "x", count: 1_000_000)
                    (0..<60).forEach { builder.add("\($0)", .string(text)) }
                }
            }, code: nil),
        Hostile(
            name: "16,000 arrays of 1,000 numbers",
            make: {
                builder { builder in
                    let bytes = [UInt8](repeating: 7, count: 1000)
                    (0..<16_000).forEach { builder.add("\($0)", .array(0, count: 1000, bytes: bytes)) }
                }
            }, code: nil),
        Hostile(
            name: "1,000,000 empty strings",
            make: { builder { $0.add("a", .array(8, count: 1_000_000, bytes: [])) } }, zeros: 8 * 1_000_000, code: nil),
        Hostile(
            name: "8 MB of yes and no", make: { builder { $0.add("a", .array(7, count: 8_000_000, bytes: [])) } },
            zeros: 8_000_000, code: nil),
        Hostile(
            name: "a header of 8 GB", make: { builder { $0.add("a", .array(10, count: 1 << 30, bytes: [])) } },
            zeros: 8 << 30, code: "gguf_header_too_large"),
    ]

    @Test(arguments: hostile) func hostileHeaderCostsLittle(_ c: Hostile) async throws {
        let folder = GGUFFolder()
        let bytes = c.make()
        let path = folder.file(bytes)
        truncate(path, off_t(bytes.count) + off_t(c.zeros))
        let tiny = folder.file("other.gguf", GGUFBuilder.tiny().bytes())
        let code = c.code

        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [path = path as String, tiny = tiny as String, code = code as String?] in
            _ = try GGUFHeader(path: tiny)
            let before = ProcessMeter.peakBytes
            let start = ProcessMeter.cpuNanoseconds
            var found: String?
            do {
                let header = try GGUFHeader(path: path)
                let summary = try ModelFileSummary(header)
                try? summary.checkLoadable(header)
                _ = try ModelInspection.json(path: path)
                _ = try ModelInspection.text(path: path)
            } catch let error as GGUFError {
                found = error.code
            }
            let growth = ProcessMeter.peakBytes - before
            let milliseconds = (ProcessMeter.cpuNanoseconds - start) / 1_000_000
            print("GGUF hostile header: \(growth / 1024) KiB, \(milliseconds) ms, \(found ?? "accepted")")
            #expect(found == code)
            #expect(growth < 50 << 20)
            #expect(milliseconds < 20_000)
        }
        print(c.name, String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }
}

struct FuzzTally: CustomStringConvertible {
    private(set) var files = 0
    private(set) var accepted = 0
    private(set) var loadable = 0
    private(set) var refused = 0
    private(set) var refusedByLlamaOnly = 0
    private(set) var refusedByUsOnly = 0
    private(set) var slowest: UInt64 = 0
    private var codes: [String: Int] = [:]

    /// Does with a file all that the program does, then lets llama.cpp look at it.
    mutating func read(_ path: String) {
        let start = ProcessMeter.cpuNanoseconds
        files += 1
        var isAccepted = false
        do throws(GGUFError) {
            let header = try GGUFHeader(path: path)
            isAccepted = true
            accepted += 1
            let summary = try ModelFileSummary(header)
            _ = try ModelInspection.json(path: path)
            _ = try ModelInspection.text(path: path)
            try summary.checkLoadable(header)
            loadable += 1
        } catch {
            if !isAccepted { refused += 1 }
            codes[error.code, default: 0] += 1
        }
        slowest = max(slowest, ProcessMeter.cpuNanoseconds - start)
        // Only ours: llama.cpp has asserts in its reader, and files we refuse never reach it.
        guard isAccepted else { return }
        if LlamaHeader(path: path) == nil { refusedByLlamaOnly += 1 }
    }

    var description: String {
        let list = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }
        return "\(files) files, \(accepted) accepted, \(loadable) loadable, slowest \(slowest / 1000) µs; "
            + list.joined(separator: ", ")
    }
}

enum ProcessMeter {
    /// Time this process has computed: a busy machine does not lengthen it.
    static var cpuNanoseconds: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// The most this process has had resident, ever; 0 where that cannot be told.
    ///
    /// Not `getrusage`: on Linux its figure comes along from the process that started this one.
    static var peakBytes: Int {
        guard let file = fopen("/proc/self/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return (Int(text.filter(\.isNumber)) ?? 0) * 1024
        }
        return 0
    }
}

/// Spoils sound files: bits, numbers that readers believe, pieces moved, lengths.
struct GGUFMutator {
    private var random: SeededGenerator
    private let parents: [(bytes: [UInt8], fields: [Int])]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        var aligned = GGUFBuilder.tiny()
        aligned.add("general.alignment", .uint32(64))
        aligned.alignment = 64
        var typed = GGUFBuilder()
        typed.add("general.architecture", .string("gemma"))
        typed.add("u8", .uint8(1))
        typed.add("u64", .uint64(1 << 40))
        typed.add("f64", .double(1))
        typed.add("flags", .array(7, count: 5, bytes: [1, 0, 1, 1, 0]))
        typed.add("wide", .array(10, count: 3, bytes: [UInt8](repeating: 3, count: 24)))
        typed.add("gemma.attention.head_count", .int32s([1, 2, 3]))
        typed.tensors = [
            .init("a", [256, 2], type: 12), .init("b", [2, 2, 2, 2], type: 1), .init("c", [64], type: 42),
        ]
        var vocabulary = GGUFBuilder.tiny()
        vocabulary.tensors = []
        vocabulary.set("tokenizer.ggml.tokens", .strings((0..<100).map { "token \($0)" }))
        parents = [GGUFBuilder.tiny(), aligned, typed, vocabulary].map { $0.layout() }
    }

    mutating func next() -> [UInt8] {
        let parent = parents[Int.random(in: 0..<parents.count, using: &random)]
        var bytes = parent.bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&bytes, fields: parent.fields) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8], fields: [Int]) {
        guard bytes.count > 40 else { return }
        let headerEnd = min(bytes.count, (fields.last ?? 24) + 12)
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            if let field = fields.randomElement(using: &random) { overwrite(&bytes, at: field, with: interesting()) }
        case 4, 5:
            let position = Int.random(in: 0..<headerEnd, using: &random)
            bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 6:
            bytes[Int.random(in: 4..<headerEnd, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        case 7:
            let from = Int.random(in: 0..<headerEnd, using: &random)
            let piece = Array(bytes[from..<min(bytes.count, from + Int.random(in: 1...64, using: &random))])
            bytes.insert(contentsOf: piece, at: Int.random(in: 4..<headerEnd, using: &random))
        case 8:
            let from = Int.random(in: 4..<headerEnd, using: &random)
            bytes.removeSubrange(from..<min(bytes.count, from + Int.random(in: 1...32, using: &random)))
        default: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        }
    }

    /// Numbers at the edges of what fits, and small ones that may pass for right.
    private mutating func interesting() -> [UInt8] {
        let edges: [UInt64] = [
            0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 31, 32, 33, 42, 43, 63, 64, 65, 127, 128, 142, 255, 256, 1024,
            65_535,
            65_536, 1 << 24, 1 << 30, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 60, (1 << 61) + 1, (1 << 63) - 1,
            1 << 63, .max - 31, .max - 7, .max,
        ]
        let number = edges.randomElement(using: &random) ?? 0
        return Bool.random(using: &random)
            ? littleEndian(number) : littleEndian(UInt32(truncatingIfNeeded: number))
    }

    private func overwrite(_ bytes: inout [UInt8], at position: Int, with piece: [UInt8]) {
        for (index, byte) in piece.enumerated() where position + index < bytes.count { bytes[position + index] = byte }
    }
}

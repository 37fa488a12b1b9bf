internal import CPosixShim

/// The memory of this process and of the machine at one moment, with the numbers for which systems end programs.
public struct MemoryReading: Sendable, Hashable {
    /// What counts against a limit of this process: memory of its own, also what was moved out to disk. Pages of files, as of
    /// a model that is mapped, do not count. On Apple's systems the footprint.
    public var chargedBytes: UInt64
    /// What this process has in memory, pages of files included.
    public var residentBytes: UInt64
    /// What of the machine's memory cannot be had any more; on Apple's systems what is wired.
    public var machineTakenBytes: UInt64?
    /// What a limit smaller than the machine allows this process: a control group's, or the process's own.
    public var limitBytes: UInt64?
    /// What this process may still take before the machine or its limit ends it.
    public var leftBytes: UInt64?

    /// What this process may still take without pushing out pages of files that it reads from, as of weights that are mapped:
    /// those count as free to the system. nil when the system does not say.
    public var spareBytes: UInt64?

    public init(
        chargedBytes: UInt64, residentBytes: UInt64, machineTakenBytes: UInt64? = nil, limitBytes: UInt64? = nil,
        leftBytes: UInt64? = nil, spareBytes: UInt64? = nil
    ) {
        self.chargedBytes = chargedBytes
        self.residentBytes = residentBytes
        self.machineTakenBytes = machineTakenBytes
        self.limitBytes = limitBytes
        self.leftBytes = leftBytes
        self.spareBytes = spareBytes
    }

    /// Whether so little is left that what only serves speed should be given back: a twentieth of what this process may have.
    public var isTight: Bool {
        guard let leftBytes else { return false }
        return leftBytes < min(limitBytes ?? .max, Platform.physicalBytes) / 20
    }

    /// The line of logs and of people.
    public var text: String {
        var parts = ["\(chargedBytes >> 20) MB charged to Alcove", "\(residentBytes >> 20) MB resident"]
        if let machineTakenBytes { parts.append("\(machineTakenBytes >> 20) MB of the machine taken") }
        if let leftBytes { parts.append("\(leftBytes >> 20) MB left") }
        if let limitBytes { parts.append("limited to \(limitBytes >> 20) MB") }
        return parts.joined(separator: ", ")
    }

    /// What this process may have at most: the machine's memory, or a smaller limit.
    public static var ownBytes: UInt64 { min(current.limitBytes ?? .max, Platform.physicalBytes) }
}

#if os(Linux)
extension MemoryReading {
    /// Measured now; some tens of microseconds.
    public static var current: MemoryReading {
        let own = fields(of: "/proc/self/status", unit: 1024)
        let machine = fields(of: "/proc/meminfo", unit: 1024)
        var reading = MemoryReading(
            chargedBytes: (own["RssAnon"] ?? 0) + (own["RssShmem"] ?? 0) + (own["VmSwap"] ?? 0),
            residentBytes: own["VmRSS"] ?? Platform.residentBytes)
        if let total = machine["MemTotal"], let available = machine["MemAvailable"] {
            reading.machineTakenBytes = total - min(total, available)
            reading.leftBytes = available
            reading.spareBytes = available - min(available, own["RssFile"] ?? 0)
        }
        // Kernels compare each limit with a count of its own.
        var limits: [(limit: UInt64, used: UInt64)] = []
        if let groupLimit { limits.append(groupLimit) }
        if let limit = processLimit(__rlimit_resource_t(RLIMIT_DATA.rawValue)) {
            limits.append((limit, own["VmData"] ?? 0))
        }
        if let limit = processLimit(__rlimit_resource_t(RLIMIT_AS.rawValue)) {
            limits.append((limit, own["VmSize"] ?? 0))
        }
        for (limit, used) in limits where limit < Platform.physicalBytes {
            reading.limitBytes = min(reading.limitBytes ?? .max, limit)
            reading.leftBytes = min(reading.leftBytes ?? .max, limit - min(limit, used))
            reading.spareBytes = min(reading.spareBytes ?? .max, limit - min(limit, used))
        }
        return reading
    }

    private static func processLimit(_ resource: __rlimit_resource_t) -> UInt64? {
        var limit = rlimit()
        // Without a limit the number is larger than any machine.
        return getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
    }

    /// The narrowest limit of the control groups around this process, and what counts against it. Pages of files that could go
    /// at once do not.
    private static var groupLimit: (limit: UInt64, used: UInt64)? {
        let lines = (text(of: "/proc/self/cgroup") ?? "").split(separator: "\n").map {
            $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }.filter { $0.count == 3 }
        let names: (top: String, limit: String, used: String, idle: String), group: Substring
        if let old = lines.first(where: { $0[1].split(separator: ",").contains("memory") }) {
            names = (
                "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            )
            group = old[2]
        } else if let new = lines.first(where: { $0[0] == "0" }) {
            names = ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
            group = new[2]
        } else {
            return nil
        }
        var narrowest: (limit: UInt64, used: UInt64)?
        var parts = group.split(separator: "/")
        while true {
            let folder = ([names.top] + parts.map(String.init)).joined(separator: "/")
            if let limit = number(of: folder + "/" + names.limit), limit < narrowest?.limit ?? .max,
                let used = number(of: folder + "/" + names.used)
            {
                let idle = fields(of: folder + "/memory.stat", unit: 1)[names.idle] ?? 0
                narrowest = (limit, used - min(used, idle))
            }
            if parts.popLast() == nil { return narrowest }
        }
    }

    private static func number(of path: String) -> UInt64? {
        text(of: path).flatMap { UInt64($0.prefix { $0.isNumber }) }
    }

    /// Lines of a name and a number.
    private static func fields(of path: String, unit: UInt64) -> [String: UInt64] {
        var fields: [String: UInt64] = [:]
        for line in (text(of: path) ?? "").split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ":" })
            guard words.count >= 2, let value = UInt64(words[1]), value < .max / unit else { continue }
            fields[String(words[0])] = value * unit
        }
        return fields
    }

    private static func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
#else
extension MemoryReading {
    /// Measured now.
    public static var current: MemoryReading {
        MemoryReading(
            chargedBytes: Platform.residentBytes, residentBytes: Platform.residentBytes,
            machineTakenBytes: alcove_wired_bytes())
    }
}
#endif

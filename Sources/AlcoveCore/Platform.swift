#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#else
#error("AlcoveCore: name the C library of this system here")
#endif

internal import CPosixShim

/// What differs between systems in one line each.
public enum Platform {
    /// The text of an errno value, for the end of a sentence.
    public static func describe(errno code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Bytes this process keeps resident; 0 when the system does not say.
    public static var residentBytes: UInt64 { alcove_resident_bytes() }

    /// Nanoseconds of a clock that never goes back; for limits and durations, never for dates.
    public static var monotonicNanoseconds: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }

    /// Random bytes of the system's own source, fit for tokens.
    public static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Gives memory that was freed back to the system, where the C library keeps it for itself.
    public static func returnFreedMemory() { alcove_return_freed_memory() }

    /// Memory of the machine, in bytes.
    public static var physicalBytes: UInt64 {
        #if canImport(Darwin)
        var bytes: UInt64 = 0
        var size = MemoryLayout<UInt64>.size
        return sysctlbyname("hw.memsize", &bytes, &size, nil, 0) == 0 ? bytes : 4 << 30
        #else
        return UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))) * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
        #endif
    }

    /// Processor cores that are switched on, at least 1.
    public static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}

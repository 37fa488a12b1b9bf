import AlcoveCore
import Testing

/// The numbers for which systems end programs.
@Suite(.serialized) struct MemoryReadingTests {
    @Test func whatIsTakenIsCharged() {
        let before = MemoryReading.current
        let size = 96 << 20
        let taken = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
        memset(taken, 1, size)
        let during = MemoryReading.current
        #expect(taken.load(fromByteOffset: size - 1, as: UInt8.self) == 1)
        taken.deallocate()

        #expect(during.chargedBytes >= before.chargedBytes + UInt64(size) * 9 / 10)
        #expect(during.residentBytes >= during.chargedBytes - (during.chargedBytes / 10))
    }

    @Test func anotherPartOfTheMachineIsTakenByOthers() throws {
        let reading = MemoryReading.current
        let taken = try #require(reading.machineTakenBytes)
        #expect(taken > 0 && taken < Platform.physicalBytes)
        #if os(Linux)
        #expect(try #require(reading.leftBytes) <= Platform.physicalBytes)
        #endif
    }

    #if os(Linux)
    /// A limit of the process, as `ulimit -d` sets it: what is left is counted against it.
    @Test func aLimitOfTheProcessCounts() throws {
        let resource = __rlimit_resource_t(RLIMIT_DATA.rawValue)
        var old = rlimit()
        #expect(getrlimit(resource, &old) == 0)
        defer { setrlimit(resource, &old) }
        let limit = Platform.physicalBytes - (1 << 30)
        var new = rlimit(rlim_cur: rlim_t(limit), rlim_max: old.rlim_max)
        #expect(setrlimit(resource, &new) == 0)

        let reading = MemoryReading.current

        let found = try #require(reading.limitBytes), left = try #require(reading.leftBytes)
        #expect(found <= limit)
        #expect(left < limit)
        #expect(MemoryReading.ownBytes == found)
        #expect(reading.text.hasSuffix("limited to \(found >> 20) MB"))
    }
    #endif

    private static let lefts: [(UInt64?, Bool)] = [(nil, false), (62_914_560, false), (41_943_040, true), (0, true)]

    @Test(arguments: lefts) func itIsTightWhenATwentiethIsLeft(left: UInt64?, isTight: Bool) {
        let reading = MemoryReading(
            chargedBytes: 1, residentBytes: 1, limitBytes: 1000 << 20, leftBytes: left)
        #expect(reading.isTight == isTight)
    }
}

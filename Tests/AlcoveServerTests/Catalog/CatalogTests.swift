import AlcoveCore
import Testing

@testable import AlcoveServer

struct CatalogTests {
    @Test(
        arguments: [
            (3_000_000_000, 0), (3_250_000_000, 4), (4_000_000_000, 4), (7_900_000_000, 8), (12_260_000_000, 12),
            (15_000_000_000, 12), (15_250_000_000, 16), (25_276_502_016, 24), (2_000_000_000_000, 1024),
        ] as [(UInt64, Int)])
    func tiersForgiveThreeQuartersOfAGigabyte(_ bytes: UInt64, _ tier: Int) {
        #expect(DeviceMemory(physicalBytes: bytes, freeBytes: nil).tier == tier)
    }

    @Test func thisDeviceIsMeasured() {
        let memory = DeviceMemory.current

        #expect(memory.physicalBytes > 500_000_000)
        #if os(Linux)
        #expect(memory.freeBytes.map { $0 > 0 && $0 <= memory.physicalBytes } ?? false)
        #endif
    }

    @Test func anEstimateIsWeightsCacheAndComputing() {
        let shape = ModelShape(
            weightBytes: 1_000, cacheBytesPerToken: 10, vocabularySize: 100, embeddingLength: 50, contextLength: 4_096)

        let asked = MemoryEstimate(shape: shape, bytes: 900, context: 2_048, cacheType: "q8_0")
        let unasked = MemoryEstimate(shape: shape, bytes: 900, context: 0, cacheType: "f16")
        let long = MemoryEstimate(shape: shape, bytes: 900, context: 100_000, cacheType: "f16")
        let unknown = MemoryEstimate(shape: nil, bytes: 900, context: 1_000, cacheType: "f16")

        #expect(asked.weightBytes == 1_000 && asked.cacheBytes == 32_640 && !asked.guessesCache)
        #expect(asked.computeBytes == 512 * 4 * (100 + 8 * 50))
        #expect(asked.totalBytes == 1_000 + 32_640 + 1_024_000)
        #expect(unasked.cacheBytes == 122_880)
        #expect(long.cacheBytes == 122_880)
        #expect(unknown.weightBytes == 900 && unknown.cacheBytes == 196_608_000 && unknown.guessesCache)
    }

    @Test func whetherItFitsIsSaidWithBothNumbers() {
        let estimate = MemoryEstimate(
            shape: ModelShape(
                weightBytes: 5_000_000_000, cacheBytesPerToken: 0, vocabularySize: 0, embeddingLength: 0,
                contextLength: 1), bytes: 0, context: 1, cacheType: "f16")
        func fit(_ tier: Int, free: UInt64?) -> Fit {
            Fit(
                minDeviceMemoryGB: tier, estimate: estimate,
                device: DeviceMemory(physicalBytes: 8_000_000_000, freeBytes: free))
        }

        #expect(fit(8, free: 6_000_000_000).sentence == "It needs about 5.0 GB, and 6.0 GB are free.")
        #expect(fit(8, free: 6_000_000_000).verdict == .fits)
        #expect(
            fit(8, free: 2_000_000_000).sentence
                == "It needs about 5.0 GB, and 2.0 GB are free now: close other programs first.")
        #expect(fit(8, free: 2_000_000_000).verdict == .tight)
        #expect(
            fit(12, free: 6_000_000_000).sentence
                == "Too big: it is made for 12 GB of memory, and this device has 8.0 GB.")
        #expect(fit(8, free: nil).sentence == "It needs about 5.0 GB of this device's 8.0 GB.")
    }

    @Test func builtInEntriesAreOfTheSchemaTheyAreTheModelFor() {
        for entry in BuiltInCatalog.entries {
            #expect(CatalogEntry.isID(entry.id))
            #expect(entry.files.filter { $0.role == .weights }.count == 1)
            for file in entry.files {
                #expect(CatalogFile.isName(file.name))
                #expect(file.sha256?.count == 64 && file.url != nil && file.bytes > 0)
            }
        }
        #expect(Set(BuiltInCatalog.entries.map(\.id)).count == 5)
    }

    @Test(arguments: [
        "", ".gguf", "../x.gguf", "a/b.gguf", "a\\b.gguf", "x.gguf.part", "x.txt", "x\u{0}.gguf", "x\n.gguf",
        "x\u{202E}.gguf", "a:b.gguf", String(repeating: "x", count: 300) + ".gguf",
    ]) func namesThatLeadElsewhereAreNone(_ name: String) {
        #expect(!CatalogFile.isName(name))
    }
}

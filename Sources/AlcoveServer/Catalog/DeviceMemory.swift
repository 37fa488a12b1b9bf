internal import AlcoveCore

/// The memory of this device: what it has, and what is free now.
package struct DeviceMemory: Sendable, Hashable {
    package var physicalBytes: UInt64
    /// What a new program may take without pushing others out; nil when the system does not say.
    package var freeBytes: UInt64?

    package init(physicalBytes: UInt64, freeBytes: UInt64?) {
        self.physicalBytes = physicalBytes
        self.freeBytes = freeBytes
    }

    /// Sizes that devices are sold with, in gigabytes.
    static let tiers = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]

    /// The highest tier the device reaches; firmware and graphics may have taken up to three quarters of a gigabyte. 0 below
    /// the lowest.
    package var tier: Int {
        let gigabytes = Double(physicalBytes) / 1e9 + 0.75
        return DeviceMemory.tiers.last { Double($0) <= gigabytes } ?? 0
    }

    /// Measured now.
    package static var current: DeviceMemory {
        let pages = UInt64(max(0, sysconf(Int32(_SC_PHYS_PAGES)))), size = UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
        return DeviceMemory(physicalBytes: pages * size, freeBytes: available)
    }

    /// Darwin tells a program on a phone its own limit, and a Mac nothing that could be promised.
    private static var available: UInt64? { MemoryReading.current.leftBytes }
}

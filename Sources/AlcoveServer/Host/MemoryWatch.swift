package import AlcoveAgent
package import AlcoveCore
internal import Synchronization

/// Measures the memory of this process when it is likely to have changed, and has what only serves speed given back when little
/// is left.
package final class MemoryWatch: Sendable {
    package enum Moment: String, Sendable {
        case afterLoading = "after loading"
        case afterWarmUp = "after the warm-up"
        case duringATurn = "during a turn"
        case afterATurn = "after a turn"
        /// That a program asked of the model itself.
        case afterAnAnswer = "after an answer"
        case beforeGivingBack = "little is left"
        case afterGivingBack = "after giving back"
    }

    package struct Note: Sendable {
        package var moment: Moment
        package var reading: MemoryReading
    }

    /// How many notes are kept.
    static let kept = 16
    static let interval = Duration.seconds(30)

    private let measure: @Sendable () -> MemoryReading
    private let giveBack: @Sendable () async -> Int
    private let write: @Sendable (String) -> Void
    private let clock: any Clock<Duration>
    private let state = Mutex((notes: [Note](), isGivingBack: false))

    /// - Parameters:
    ///   - giveBack: has the model give back what only serves speed, and tells how many bytes that were.
    ///   - write: takes a line for the log.
    package init(
        clock: any Clock<Duration> = ContinuousClock(),
        measure: @escaping @Sendable () -> MemoryReading = { MemoryReading.current },
        giveBack: @escaping @Sendable () async -> Int, write: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.clock = clock
        self.measure = measure
        self.giveBack = giveBack
        self.write = write
    }

    /// The newest last.
    package var notes: [Note] { state.withLock { $0.notes } }

    package func look(_ moment: Moment) async {
        let reading = note(moment)
        if reading.isTight { _ = await giveMemoryBack() }
    }

    /// - Returns: about how many bytes were given back; 0 also while somebody else has it done.
    package func giveMemoryBack() async -> Int {
        let isFirst = state.withLock { state in
            defer { state.isGivingBack = true }
            return !state.isGivingBack
        }
        guard isFirst else { return 0 }
        note(.beforeGivingBack)
        let bytes = await giveBack()
        note(.afterGivingBack)
        state.withLock { $0.isGivingBack = false }
        return bytes
    }

    /// Looks each half minute of a turn, and after it.
    package func follow(_ turn: Turn) {
        Task { [self] in
            let ticks = Task { [self] in
                while true {
                    try await clock.sleep(for: MemoryWatch.interval)
                    await look(.duringATurn)
                }
            }
            await turn.waitForEnd()
            ticks.cancel()
            await look(.afterATurn)
        }
    }

    @discardableResult private func note(_ moment: Moment) -> MemoryReading {
        let reading = measure()
        state.withLock { state in
            state.notes = state.notes.suffix(MemoryWatch.kept - 1) + [Note(moment: moment, reading: reading)]
        }
        write("\(MemoryWatch.word)\(moment.rawValue): \(reading.text)")
        return reading
    }

    /// What lines of the log begin with.
    package static let word = "memory "
}

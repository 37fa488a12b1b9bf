/// Notices a run that goes in circles: the same call with the same result again and again.
struct CallRepeats {
    /// At the third equal result the run is stopped, also when each call "succeeded".
    static let limit = 3

    private var last: [String: (result: Int, times: Int)] = [:]
    private var made: [String: Int] = [:]

    /// How often this exact call was made.
    func count(of signature: String) -> Int { made[signature] ?? 0 }

    /// - Returns: how often in a row this call has given this result.
    mutating func note(_ signature: String, _ result: String) -> Int {
        made[signature, default: 0] += 1
        let hash = result.hashValue
        let times = last[signature]?.result == hash ? (last[signature]?.times ?? 0) + 1 : 1
        last[signature] = (hash, times)
        return times
    }
}

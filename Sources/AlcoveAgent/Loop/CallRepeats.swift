/// Notices a run that goes in circles: the same call with the same result again and again.
struct CallRepeats {
    /// At the third equal result the run is stopped, also when each call "succeeded".
    static let limit = 3

    private var last: [String: (result: String, times: Int)] = [:]

    /// What this exact call gave when it was made; nil when it was not.
    func result(of signature: String) -> String? { last[signature]?.result }

    /// - Returns: how often in a row this call has given this result.
    mutating func note(_ signature: String, _ result: String) -> Int {
        let times = last[signature]?.result == result ? (last[signature]?.times ?? 0) + 1 : 1
        last[signature] = (result, times)
        return times
    }
}

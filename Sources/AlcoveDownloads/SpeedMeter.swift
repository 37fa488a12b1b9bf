/// How fast bytes come: an average over the last seconds, so that the time left does not jump.
package struct SpeedMeter: Sendable {
    /// Nanoseconds that count.
    private static let window: UInt64 = 5_000_000_000
    private static let spacing: UInt64 = 200_000_000

    private var samples: [(time: UInt64, bytes: UInt64)] = []
    private var phase = DownloadProgress.Phase.downloading

    package init() {}

    /// Notes where a download is, and answers bytes a second; nil while too little is known.
    ///
    /// - Parameter now: nanoseconds of a clock that never goes back.
    package mutating func note(_ bytes: UInt64, phase: DownloadProgress.Phase, at now: UInt64) -> Double? {
        // Bytes that were there before, or that are only read again, are no speed.
        if phase != self.phase || samples.last.map({ bytes < $0.bytes }) ?? false {
            samples = []
            self.phase = phase
        }
        if samples.last.map({ now - $0.time >= SpeedMeter.spacing }) ?? true { samples.append((now, bytes)) }
        while samples.count > 2, now - samples[0].time > SpeedMeter.window { samples.removeFirst() }
        guard let first = samples.first, now > first.time, now - first.time >= SpeedMeter.spacing else { return nil }
        return Double(bytes - first.bytes) / (Double(now - first.time) / 1e9)
    }

    /// Seconds until the end; nil when nobody can say.
    package static func secondsLeft(_ progress: DownloadProgress, rate: Double?) -> Double? {
        guard let rate, rate > 0, let total = progress.total, total >= progress.received else { return nil }
        return Double(total - progress.received) / rate
    }
}

/// Sizes and progress as people read them.
package enum TransferText {
    /// Decimal units, as file managers have them.
    package static func bytes(_ count: UInt64) -> String {
        switch count {
        case 1_000_000_000...: tenths(count, of: 1_000_000_000) + " GB"
        case 1_000_000...: tenths(count, of: 1_000_000) + " MB"
        case 1_000...: tenths(count, of: 1_000) + " kB"
        default: "\(count) bytes"
        }
    }

    private static func tenths(_ count: UInt64, of unit: UInt64) -> String {
        let tenths = count / (unit / 10)
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// `1.2 GB of 4.9 GB (24 %), 11.3 MB/s, 5 min left`
    package static func progress(_ progress: DownloadProgress, _ rate: Double?) -> String {
        var text = bytes(progress.received)
        if let total = progress.total {
            let percent = total > 0 ? Int(Double(progress.received) / Double(total) * 100) : 100
            text += " of \(bytes(total)) (\(percent) %)"
        }
        if progress.phase == .waiting {
            return text + ", trying again" + (progress.reason.map { ": \($0)" } ?? "")
        }
        if progress.phase == .verifying { return "checking: " + text }
        if let rate { text += ", \(bytes(UInt64(min(rate, 1e15))))/s" }
        if let left = SpeedMeter.secondsLeft(progress, rate: rate) { text += ", \(duration(left)) left" }
        return text
    }

    private static func duration(_ seconds: Double) -> String {
        let seconds = Int(min(seconds, 1e8).rounded(.up))
        switch seconds {
        case ..<90: return "\(seconds) s"
        case ..<5_400: return "\((seconds + 30) / 60) min"
        default: return "\((seconds + 1_800) / 3_600) h"
        }
    }
}

internal import AlcoveCore

/// Tells the failures that only a new backend cures from all others.
package enum BackendFault {
    /// What libraries and systems say when the processor was taken away, in small letters.
    private static let phrases = [
        "recreate the backend", "cannot recover in this process", "backend is in error state",
        "backgroundexecutionnotpermitted", "to submit gpu work from background", "victim of gpu error",
    ]

    package static func isNamed(in text: String) -> Bool {
        let text = text.lowercased()
        return phrases.contains { text.contains($0) }
            || (text.contains("command buffer") && text.contains("failed with status"))
    }

    /// - Parameter gateWasClosed: while this was computed. A step that dies then died of it, whatever it says.
    package static func isMeant(by error: any Error, gateWasClosed: Bool) -> Bool {
        if error is CancellationError { return false }
        if let known = error as? any UserFacingError {
            // A refusal of what was asked would come again from the best of backends.
            if known.place == .request || known.place == .missing { return false }
            // A worker on another machine that is gone is cured by connecting anew.
            if known.code == "worker_lost" { return true }
            return gateWasClosed || isNamed(in: known.sentence) || isNamed(in: "\(error)")
        }
        return gateWasClosed || isNamed(in: "\(error)")
    }
}

package import AlcoveCore

/// Runs downloads where they may block: on a thread of their own.
package enum DownloadThread {
    /// - Parameter progress: called often, on that thread.
    /// - Throws: `DownloadError`.
    package static func run(
        _ request: DownloadRequest, stop: StopSignal, fetch: (any HTTPFetch)? = nil,
        progress: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws -> UInt64 {
        let download = FileDownload(request, fetch: fetch ?? standardFetch)
        return try await withCheckedThrowingContinuation { continuation in
            let isStarted = startThread(name: "alcove.download", stackBytes: 1 << 20) {
                continuation.resume(with: Result { try download.run(stop: stop, progress: progress) })
            }
            if !isStarted {
                continuation.resume(
                    throwing: DownloadError.file(path: request.path, cause: "the system gives no thread"))
            }
        }
    }

    /// The HTTP client of this system.
    package static var standardFetch: any HTTPFetch {
        #if canImport(CCurl)
        CurlFetch()
        #else
        #error("Give this system a client behind HTTPFetch; it must ask the gate about the connected address.")
        #endif
    }
}

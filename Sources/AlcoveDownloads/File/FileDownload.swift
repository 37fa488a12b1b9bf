package import AlcoveCore
internal import Dispatch

/// Brings one file: into `NAME.part`, on from where it stopped, checked, and only then under its name.
package struct FileDownload: Sendable {
    /// Most redirects of one request.
    static let redirectLimit = 10
    /// How often a server may answer with what makes us begin anew.
    static let restartLimit = 3

    package let request: DownloadRequest
    private let fetch: any HTTPFetch

    package init(_ request: DownloadRequest, fetch: any HTTPFetch) {
        self.request = request
        self.fetch = fetch
    }

    /// Brings it. Blocks: call it on a thread of its own.
    ///
    /// A stop takes effect at once and keeps what has arrived.
    ///
    /// - Parameter progress: called often, on the calling thread.
    /// - Returns: the length of the file.
    package func run(
        stop: StopSignal, progress: (DownloadProgress) -> Void
    ) throws(DownloadError) -> UInt64 {
        if let size = try finishedSize(stop) { return size }
        let part = try PartFile(for: request.path)
        var attempts = AttemptCounter(schedule: request.retries)
        var isJoined = try prepare(part)
        while true {
            if stop.isSet { throw .cancelled(name: request.name) }
            if let total = part.note?.total ?? request.expectedBytes, part.length == total, part.note != nil { break }
            let before = part.length
            // Joining parts without a validator is a guess that the hash will judge.
            if before > 0, part.note?.validator == nil, request.expectedSHA256 != nil { isJoined = true }
            let end = try attempt(part, stop, progress)
            if part.beganAnew { isJoined = false }
            switch end {
            case .complete:
                if let total = part.note?.total ?? request.expectedBytes, part.length < total {
                    try pause(&attempts, part, before, "the connection was closed early", nil, stop, progress)
                    continue
                }
            case .restart:
                try part.reset()
                isJoined = false
                attempts.restarts += 1
                if attempts.restarts > FileDownload.restartLimit { throw .confused(url: request.address.shown) }
                continue
            case .retry(let reason, let after):
                try pause(&attempts, part, before, reason, after, stop, progress)
                continue
            }
            break
        }
        do {
            return try finish(part, stop, progress)
        } catch .wrongHash where isJoined {
            // The parts were of two versions; a whole one may be right.
            return try FileDownload(request, fetch: fetch).run(stop: stop, progress: progress)
        }
    }

    /// The length of the finished file when it is there and known to be right.
    private func finishedSize(_ stop: StopSignal) throws(DownloadError) -> UInt64? {
        guard let hash = request.expectedSHA256, let file = open(request.path) else { return nil }
        defer { close(file.descriptor) }
        if let expected = request.expectedBytes, file.size != expected { return nil }
        return FileHash.sha256(of: file.descriptor, stop: stop) == hash ? file.size : nil
    }

    private func open(_ path: String) -> (descriptor: Int32, size: UInt64)? {
        let descriptor = AlcoveCore.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt64(status.st_size))
    }

    /// Decides what of an older part can be used.
    private func prepare(_ part: PartFile) throws(DownloadError) -> Bool {
        let isSame = part.note?.url == request.address.text && part.note?.validator != nil
        if part.length > 0, part.note?.url != request.address.text, request.expectedSHA256 == nil { try part.reset() }
        let total = request.expectedBytes ?? part.note?.total
        if let total, part.length > total { try part.reset() }
        if let expected = request.expectedBytes, let total = part.note?.total, total != expected { try part.reset() }
        if part.length == 0 || isSame || request.expectedSHA256 == nil { return false }
        try part.set(PartFile.Note(url: request.address.text, validator: nil, total: request.expectedBytes))
        return true
    }

    // MARK: One attempt

    private enum AttemptEnd {
        case complete, restart
        case retry(reason: String, after: Int?)
    }

    /// From the first address through its redirects to the bytes.
    private func attempt(
        _ part: PartFile, _ stop: StopSignal, _ progress: (DownloadProgress) -> Void
    ) throws(DownloadError) -> AttemptEnd {
        // Without a validator only a hash can tell whether pieces belong together.
        let mayJoin = part.note?.validator != nil || request.expectedSHA256 != nil
        var state = RequestState(
            address: request.address, name: request.name, position: mayJoin ? part.length : 0,
            validator: part.note?.validator,
            knownTotal: part.note?.total, expectedBytes: request.expectedBytes,
            checksHash: request.expectedSHA256 != nil)
        for _ in 0...FileDownload.redirectLimit {
            let (plan, end) = try send(state, part, stop, progress)
            switch plan {
            case .redirect(let location):
                let next = try state.address.resolving(location)
                guard next.scheme == .https || state.address.scheme == .http else {
                    throw .badRedirect(
                        from: state.address.shown, reason: "leads from https to the unprotected \(next.shown)")
                }
                state.address = next
                state.isRedirected = true
                continue
            case .complete: return .complete
            case .restart: return .restart
            case .retry(let reason, let after): return .retry(reason: reason, after: after)
            case .fail(let error): throw error
            case .write, nil: return end
            }
        }
        throw .tooManyRedirects(from: request.address.shown, limit: FileDownload.redirectLimit)
    }

    private func send(
        _ state: RequestState, _ part: PartFile, _ stop: StopSignal, _ progress: (DownloadProgress) -> Void
    ) throws(DownloadError) -> (ResponsePlan?, AttemptEnd) {
        var get = FetchRequest(address: state.address)
        get.headers = [("Accept", "*/*"), ("Accept-Encoding", "identity")]
        if state.position > 0 {
            get.headers.append(("Range", "bytes=\(state.position)-"))
            if let validator = state.validator { get.headers.append(("If-Range", validator.text)) }
        }
        if let authorization = request.authorization, state.address.origin == request.address.origin {
            get.headers.append(("Authorization", authorization))
        }
        let result = withoutActuallyEscaping(progress) { progress in
            let writer = ResponseWriter(part, state, url: request.address.text, progress: progress)
            var error: FetchError?
            do throws(FetchError) {
                try fetch.get(get, gate: request.gate, stop: stop, receiver: writer)
            } catch let caught {
                error = caught
            }
            return (plan: writer.plan, fault: writer.fault, error: error)
        }
        if let fault = result.fault { throw fault }
        switch result.error {
        case nil: return (result.plan, .complete)
        case .stopped: throw .cancelled(name: request.name)
        case .refusedAddress(let address): throw .privateAddress(host: state.address.host, address: address)
        case .untrusted(let reason): throw .untrusted(host: state.address.host, reason: reason)
        case .unreachable(let reason): return (nil, .retry(reason: "\(state.address.host): \(reason)", after: nil))
        case .interrupted(let reason):
            if let plan = result.plan, case .write = plan { return (plan, .retry(reason: reason, after: nil)) }
            return (result.plan, .retry(reason: reason, after: nil))
        }
    }

    /// Waits before the next attempt.
    ///
    /// - Throws: when there is to be none.
    private func pause(
        _ attempts: inout AttemptCounter, _ part: PartFile, _ before: UInt64, _ reason: String, _ after: Int?,
        _ stop: StopSignal, _ progress: (DownloadProgress) -> Void
    ) throws(DownloadError) {
        let gained = part.length > before ? part.length - before : 0
        let delay = attempts.delay(gained: gained, total: part.note?.total ?? request.expectedBytes, asked: after)
        guard let delay else {
            throw .gaveUp(
                url: request.address.shown, attempts: attempts.made, reason: reason, received: part.length)
        }
        guard delay > 0 else { return }
        let total = part.note?.total ?? request.expectedBytes
        progress(DownloadProgress(phase: .waiting, received: part.length, total: total, reason: reason))
        let woken = DispatchSemaphore(value: 0)
        stop.whenSet { woken.signal() }
        _ = woken.wait(timeout: .now() + delay)
        if stop.isSet { throw .cancelled(name: request.name) }
    }

    // MARK: The end

    /// Checks the whole file and puts it into its place.
    private func finish(
        _ part: PartFile, _ stop: StopSignal, _ progress: (DownloadProgress) -> Void
    ) throws(DownloadError) -> UInt64 {
        let length = part.length
        if length == 0, request.expectedBytes ?? 0 > 0 || request.expectedSHA256.map({ $0 != FileHash.empty }) ?? false
        {
            part.remove()
            throw .emptyFile(name: request.name)
        }
        if let expected = request.expectedBytes, length != expected {
            part.remove()
            throw .wrongSize(name: request.name, expected: expected, actual: length)
        }
        if let expected = request.expectedSHA256 {
            var hash = FileHash(), checked: UInt64 = 0
            progress(DownloadProgress(phase: .verifying, received: 0, total: length))
            try part.readPieces { bytes in
                hash.update(bytes)
                checked += UInt64(bytes.count)
                progress(DownloadProgress(phase: .verifying, received: checked, total: length))
                return !stop.isSet
            }
            if stop.isSet { throw .cancelled(name: request.name) }
            let actual = hash.hex
            if actual != expected {
                part.remove()
                throw .wrongHash(name: request.name, expected: expected, actual: actual)
            }
        }
        try part.install()
        return length
    }
}

/// Counts attempts that bring nothing; those that bring much are forgiven.
struct AttemptCounter {
    let schedule: RetrySchedule
    private(set) var made = 0
    private var fruitless = 0
    var restarts = 0

    init(schedule: RetrySchedule) { self.schedule = schedule }

    /// Seconds until the next attempt; nil when there is to be none.
    mutating func delay(gained: UInt64, total: UInt64?, asked: Int?) -> Double? {
        made += 1
        if RetrySchedule.isFruitful(gained, of: total) {
            fruitless = 0
            return asked == nil ? 0 : schedule.delay(after: 0, asked: asked)
        }
        fruitless += 1
        return fruitless >= schedule.attempts ? nil : schedule.delay(after: fruitless, asked: asked)
    }
}

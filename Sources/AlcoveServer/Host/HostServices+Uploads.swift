internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage

extension HostServices {
    /// Takes a file of this device in as an upload, and answers what an upload answers.
    func takeIn(path: String, name: String, stem: String) async throws -> JSONValue {
        let limits = await uploadLimits()
        let receiver = UploadReceiver(store: uploads, limits: limits)
        do {
            let file = try await receiver.receive(path: path, name: name, stem: stem)
            let digest = try await UploadDigest(
                of: file, decoder: decoder, modelSees: await model.ready?.model.description.media.sees ?? false)
            try await uploads.keep([file], with: digest.derived, limits)
            await receiver.finish()
            let context = await model.ready?.model.description.contextLength
            return UploadReply.json(file, digest, contextLimit: context)
        } catch {
            await receiver.discard()
            throw error
        }
    }

    /// The limits as the settings have them now.
    func uploadLimits() async -> UploadLimits {
        var limits = UploadLimits()
        limits.quotaBytes = board.current.uploadQuotaMB << 20
        return limits
    }

    /// Removes uploads that nothing in the store mentions and that nobody has used for a day.
    ///
    /// - Returns: how many went.
    @discardableResult
    package func sweepUploads(graceSeconds: Int = UploadLimits().graceSeconds) async throws -> Int {
        let stale = await uploads.stale(graceSeconds: graceSeconds)
        if stale.isEmpty { return 0 }
        let mentioned = try await database.mentions(of: stale)
        return await uploads.sweep(stale.subtracting(mentioned), graceSeconds: graceSeconds)
    }

    /// Sweeps now and every hour, until the task is cancelled.
    package func sweepUploadsRegularly(clock: any Clock<Duration> = ContinuousClock()) async {
        while !Task.isCancelled {
            // A store that cannot be read now may be read in an hour; nothing is removed without having asked it.
            _ = try? await sweepUploads()
            await staging.forgetLost()
            do { try await clock.sleep(for: .seconds(3600)) } catch { return }
        }
    }
}

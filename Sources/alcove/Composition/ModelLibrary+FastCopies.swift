internal import AlcoveEngine

extension ModelLibrary {
    var fastCopies: FastCopyStore { FastCopyStore(folder: folders.models) }

    /// Whether a copy in another quantisation would be quicker; nil when the file cannot be loaded.
    func fastCopyAdvice(_ path: String) -> FastCopyAdvice? {
        guard let header = try? GGUFHeader(path: path) else { return nil }
        let advice = FastCopyAdvice(header)
        return advice.isWorthIt ? advice : nil
    }

    func fastCopyMaker(threads: Int?) -> FastCopyMaker {
        FastCopyMaker(
            store: fastCopies, worker: [resources.program, "plumbing", "fast-copy-worker"], threads: threads)
    }
}

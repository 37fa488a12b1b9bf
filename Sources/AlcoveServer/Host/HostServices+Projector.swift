internal import AlcoveAgent
internal import AlcoveCore

/// What is known of the projector of the model that answers.
struct ProjectorState: Sendable {
    /// The entry of the catalogue that the loaded model is.
    var entry: CatalogEntry?
    /// Whether the entry has a projector, and whether it is on this device.
    var isKnown = false
    var isHere = false
    var isLoaded = false

    /// What to try when a picture cannot be seen; nil when this model cannot be made to see.
    var advice: String? {
        guard let entry, isKnown, !isLoaded else { return nil }
        return isHere
            ? "Its projector is on this device: load \(entry.name) again."
            : "It can see with its projector: bring it with `alcove pull \(entry.id)` or from Models, and load the model again."
    }
}

extension HostServices {
    var projector: ProjectorState {
        get async {
            guard case .loaded(let path, let loaded) = await model.state else { return ProjectorState() }
            var state = ProjectorState()
            state.isLoaded = loaded.model.description.media.sees
            guard let catalog, let entry = catalog.catalog().entry(ofFile: path, in: catalog.store)?.entry,
                let file = entry.files.first(where: { $0.role == .projector })
            else { return state }
            state.entry = entry
            state.isKnown = true
            state.isHere = catalog.store.isComplete(file, in: entry)
            return state
        }
    }
}

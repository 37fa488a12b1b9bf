/// What a call does to the world; the policy decides by it.
package enum ToolEffect: String, Sendable, Hashable, CaseIterable {
    /// Looks at the workspace or the store and changes nothing.
    case reads
    case writesWorkspace = "writes_workspace"
    /// Changes what Alcove keeps: tasks, knowledge, memories.
    case writesStore = "writes_store"
    /// Deletes from what Alcove keeps.
    case deletesFromStore = "deletes_from_store"
    /// Looks at what is the person's and not Alcove's.
    case readsCalendar = "reads_calendar"
    case network
    case runsCode = "runs_code"

    /// In words, for the card a person decides on.
    package var words: String {
        switch self {
        case .reads: "reads"
        case .writesWorkspace: "changes files of this chat"
        case .writesStore: "changes what Alcove keeps"
        case .deletesFromStore: "deletes from what Alcove keeps"
        case .readsCalendar: "reads your calendar"
        case .network: "uses the network"
        case .runsCode: "runs code on this device"
        }
    }
}

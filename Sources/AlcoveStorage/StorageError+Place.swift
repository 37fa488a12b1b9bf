public import AlcoveCore

extension StorageError {
    public var place: ErrorPlace {
        switch self {
        case .chatMissing, .turnMissing: .missing
        case .inUse, .locked, .interrupted, .closed: .busy
        case .corrupt, .notADatabase, .foreign, .newer: .data
        case .diskFull: .space
        default: .host
        }
    }
}

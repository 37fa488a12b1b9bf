public import AlcoveCore

/// Why the store cannot be opened, read or written.
public enum StorageError: UserFacingError, Equatable {
    /// The folder cannot be made or written; the cause is the system's own word for it.
    case folderUnusable(path: String, cause: String)
    /// Another Alcove holds the folder; the process is 0 when it did not leave its number.
    case inUse(path: String, process: Int)
    /// Some other program holds the database longer than we wait.
    case locked(path: String)
    case diskFull(path: String)
    case readOnly(path: String)
    /// The file, or a part of it, is not what was written.
    case corrupt(path: String, cause: String)
    case notADatabase(path: String)
    /// A healthy database of some other program.
    case foreign(path: String)
    /// Made by a later Alcove, whose tables this one does not know.
    case newer(path: String, found: Int, known: Int)
    /// The system could not read or write the file.
    case inputOutput(path: String, cause: String)
    /// The operation was stopped on purpose.
    case interrupted
    case closed(path: String)
    case chatMissing(ChatID)
    case turnMissing(TurnID)
    /// Events of one turn must follow each other without a gap, or a replay would lie.
    case eventsOutOfOrder(TurnID, expected: Int64, found: Int64)
    /// Anything SQLite refused that none of the above names: in practice a mistake of ours.
    case refused(path: String, code: Int32, cause: String)

    public var code: String {
        switch self {
        case .folderUnusable: "storage_folder_unusable"
        case .inUse: "storage_in_use"
        case .locked: "storage_locked"
        case .diskFull: "storage_full"
        case .readOnly: "storage_read_only"
        case .corrupt: "storage_corrupt"
        case .notADatabase: "storage_not_a_database"
        case .foreign: "storage_foreign"
        case .newer: "storage_newer"
        case .inputOutput: "storage_io"
        case .interrupted: "storage_interrupted"
        case .closed: "storage_closed"
        case .chatMissing: "chat_missing"
        case .turnMissing: "turn_missing"
        case .eventsOutOfOrder: "turn_events_out_of_order"
        case .refused: "storage_refused"
        }
    }

    public var message: String {
        switch self {
        case .folderUnusable(let path, let cause): "Alcove cannot keep its data in \(path): \(cause)."
        case .inUse(let path, 0): "Another Alcove is already using \(path)."
        case .inUse(let path, let process): "Another Alcove, process \(process), is already using \(path)."
        case .locked(let path): "Another program is holding the database \(path) locked."
        case .diskFull(let path): "There is no room left on the disk for the database \(path); nothing was changed."
        case .readOnly(let path): "The database \(path) cannot be written: it or its folder is read-only."
        case .corrupt(let path, let cause): "The database \(path) is damaged: \(cause)."
        case .notADatabase(let path): "The file \(path) is not a database."
        case .foreign(let path): "The database \(path) belongs to another program."
        case .newer(let path, let found, let known):
            "The database \(path) was written by a newer Alcove: it has layout \(found), and this one knows \(known)."
        case .inputOutput(let path, let cause): "The database \(path) could not be read or written: \(cause)."
        case .interrupted: "The search in the database was stopped."
        case .closed(let path): "The database \(path) has been closed."
        case .chatMissing(let id): "There is no chat \(id)."
        case .turnMissing(let id): "There is no turn \(id)."
        case .eventsOutOfOrder(let id, let expected, let found):
            "The next event of turn \(id) must have number \(expected), not \(found)."
        case .refused(let path, let code, let cause): "The database \(path) refused a request: \(cause) (code \(code))."
        }
    }

    public var hint: String? {
        switch self {
        case .folderUnusable: "Choose a folder you may write, with --root."
        case .inUse: "Use that one, end it, or choose another folder with --root."
        case .locked: "Close the program that has it open, and try again."
        case .diskFull: "Delete chats, attachments or models you do not need, and try again."
        case .readOnly: "Make it writable, or choose another folder with --root."
        case .corrupt, .notADatabase: "Restart Alcove: the file is kept aside and a fresh one begun."
        case .foreign: "Move that file away, or choose another folder with --root."
        case .newer: "Update Alcove, or choose another folder with --root."
        case .inputOutput: "Check the disk, and try again."
        case .interrupted, .closed, .chatMissing, .turnMissing, .eventsOutOfOrder, .refused: nil
        }
    }
}

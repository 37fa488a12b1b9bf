/// A result code of SQLite; one we do not know is a value, not a crash.
///
/// The low byte is the primary code, the rest says more: https://www.sqlite.org/rescode.html
struct SQLiteCode: RawRepresentable, Hashable {
    let rawValue: Int32

    /// The code without its extension.
    var primary: SQLiteCode { SQLiteCode(rawValue: rawValue & 0xFF) }

    static let ok = SQLiteCode(rawValue: 0)
    static let permission = SQLiteCode(rawValue: 3)
    static let busy = SQLiteCode(rawValue: 5)
    static let locked = SQLiteCode(rawValue: 6)
    static let readOnly = SQLiteCode(rawValue: 8)
    static let interrupted = SQLiteCode(rawValue: 9)
    static let inputOutput = SQLiteCode(rawValue: 10)
    static let corrupt = SQLiteCode(rawValue: 11)
    static let full = SQLiteCode(rawValue: 13)
    static let cannotOpen = SQLiteCode(rawValue: 14)
    static let notADatabase = SQLiteCode(rawValue: 26)
    static let row = SQLiteCode(rawValue: 100)
    static let done = SQLiteCode(rawValue: 101)
}

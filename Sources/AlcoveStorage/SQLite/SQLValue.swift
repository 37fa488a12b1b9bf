/// A value as SQLite keeps it.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// Something that can take the place of a `?` in a statement.
package protocol SQLBindable: Sendable {
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLBindable {
    package var sqlValue: SQLValue { self }
}
extension Int64: SQLBindable {
    package var sqlValue: SQLValue { .integer(self) }
}
extension Int: SQLBindable {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
}
extension Bool: SQLBindable {
    package var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}
extension Double: SQLBindable {
    package var sqlValue: SQLValue { .real(self) }
}
extension String: SQLBindable {
    package var sqlValue: SQLValue { .text(self) }
}
extension [UInt8]: SQLBindable {
    package var sqlValue: SQLValue { .blob(self) }
}

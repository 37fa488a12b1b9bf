/// The files a patch is applied to.
///
/// A place is the one name of a file: two paths that lead to the same file give the same place, so that two sections of a
/// patch see each other's work.
package protocol PatchFiles {
    /// Where a path leads, links followed. The path is relative, plain and without `..`: see `PatchPath`.
    ///
    /// - Throws: when it leads out of what may be changed.
    func place(of path: String, for use: PatchUse) throws(PatchError) -> String

    /// The whole file at a place; nil when there is none.
    ///
    /// - Throws: when what is there is no file, or cannot be read.
    func read(_ place: String) throws(PatchError) -> [UInt8]?

    /// Makes all changes or none.
    ///
    /// - Throws: when one cannot be made; the others are taken back by then.
    func commit(_ changes: [PatchChange]) throws(PatchError)
}

extension PatchFiles {
    package func place(of path: String, for use: PatchUse) throws(PatchError) -> String { path }
}

/// What a path is needed for.
package enum PatchUse: Sendable {
    case contents
    /// The name itself goes away: a link is not followed but refused.
    case removal
}

/// The file at one place before and after; nil is no file.
package struct PatchChange: Sendable, Equatable {
    package var place: String
    /// What was read when the patch was worked out; a commit refuses when it is no longer so.
    package var before: [UInt8]?
    package var after: [UInt8]?
    /// The place whose access rights a new file gets, for a move.
    package var modeFrom: String?

    package init(place: String, before: [UInt8]?, after: [UInt8]?, modeFrom: String? = nil) {
        self.place = place
        self.before = before
        self.after = after
        self.modeFrom = modeFrom
    }
}

/// Which paths a patch may name.
package enum PatchPath {
    /// The path without `.` and doubled slashes.
    ///
    /// - Throws: for absolute paths, drive letters, UNC names, `..`, control characters and text that is not UTF-8.
    package static func plain(_ bytes: some Collection<UInt8>) throws(PatchError) -> String {
        guard let path = String(validating: bytes, as: UTF8.self) else {
            throw .badPath(path: String(decoding: bytes, as: UTF8.self), reason: "it is not UTF-8")
        }
        let units = Array(path.utf8)
        let shown = String(
            decoding: units.prefix(200).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
        func refuse(_ reason: String) -> PatchError { .badPath(path: shown, reason: reason) }

        if units.isEmpty { throw refuse("it is empty") }
        if units.contains(where: { $0 < 0x20 || $0 == 0x7F }) { throw refuse("it holds a control character") }
        if path.hasPrefix("/") || path.hasPrefix("\\") { throw refuse("it is absolute") }
        if path.hasPrefix("~/") || path == "~" { throw refuse("it is in the home folder") }
        if units.count >= 2, units[1] == UInt8(ascii: ":"), UnicodeScalar(units[0]).properties.isAlphabetic {
            throw refuse("it names a drive")
        }
        if units.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }).contains(
            where: { $0.elementsEqual("..".utf8) })
        {
            throw refuse("it leads out with ..")
        }
        if units.last == UInt8(ascii: "/") { throw refuse("it names a folder") }
        let parts = units.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        if parts.isEmpty { throw refuse("it names a folder") }
        return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }
}

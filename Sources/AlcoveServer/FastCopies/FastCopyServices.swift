package import AlcoveCore

/// What the routes of fast copies work with; the live parts are the program's.
package struct FastCopyServices: Sendable {
    /// How far a making is: a word for what is done now, and the part of it that is done.
    package struct Progress: Sendable, Hashable {
        package var phase: String
        package var fraction: Double

        package init(phase: String, fraction: Double) {
            self.phase = phase
            self.fraction = fraction
        }
    }

    package struct Removed: Sendable {
        package var name: String
        package var path: String

        package init(name: String, path: String) {
            self.name = name
            self.path = path
        }
    }

    /// `fastCopies` and `slowModels`, for the list of models.
    package let facts: @Sendable () -> JSONObject
    /// The copies that a removal of this file would delete.
    package let copies: @Sendable (_ path: String) throws -> [Removed]
    package let remove: @Sendable (_ path: String) throws -> [Removed]
    package let jobs: FastCopyJobs

    /// - Parameter make: makes a copy of the file as the type that is named, nil for the usual one, and tells what it is.
    package init(
        facts: @escaping @Sendable () -> JSONObject, copies: @escaping @Sendable (_ path: String) throws -> [Removed],
        remove: @escaping @Sendable (_ path: String) throws -> [Removed], make: @escaping FastCopyJobs.Make
    ) {
        self.facts = facts
        self.copies = copies
        self.remove = remove
        jobs = FastCopyJobs(make: make)
    }
}

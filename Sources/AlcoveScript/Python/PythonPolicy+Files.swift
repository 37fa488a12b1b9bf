internal import AlcoveCore
internal import AlcoveSandbox

extension PythonPolicy {
    /// - Parameter path: nil for a descriptor, which was opened under this same policy.
    func file(_ path: String?, isChange: Bool) -> Refusal? {
        guard let path, !path.isEmpty else { return nil }
        let real = PythonPolicy.real(path)
        let workspace = PythonPolicy.real(place.workspace)
        if PythonPolicy.isWithin(real, workspace) || real == "/dev/null" { return nil }
        let isReadable = readable.contains { PythonPolicy.isWithin(real, $0) || PythonPolicy.isWithin(path, $0) }
        if isReadable {
            guard isChange else { return nil }
            return Refusal(sentence: ConfinementError.readOnly(path: path).sentence, path: path)
        }
        return Refusal(sentence: ConfinementError.outside(path: path).sentence, path: path)
    }

    /// A link is made only where it leads to what may be read.
    func link(_ target: String?, _ path: String?) -> Refusal? {
        if let refusal = file(path, isChange: true) { return refusal }
        guard let target, let path else { return nil }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        return file(target.hasPrefix("/") ? target : folder + target, isChange: false)
    }

    static func isWithin(_ path: String, _ folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// The path with its links followed; what is missing at the end stays as it is.
    static func real(_ path: String) -> String {
        var missing: [Substring] = []
        var at = path[...]
        while true {
            if let found = realpath(at.isEmpty ? "." : String(at), nil) {
                defer { free(found) }
                let known = String(cString: found)
                if missing.isEmpty { return known }
                return ([known == "/" ? "" : known] + missing.reversed().map(String.init)).joined(separator: "/")
            }
            while at.count > 1, at.last == "/" { at.removeLast() }
            guard let slash = at.lastIndex(of: "/") else {
                missing.append(at)
                at = ""
                continue
            }
            let name = at[at.index(after: slash)...]
            // Above what is not there could be anything.
            if name == ".." { return "/" }
            if name != "." { missing.append(name) }
            at = slash == at.startIndex ? "/" : at[..<slash]
            if at == "/", missing.isEmpty { return "/" }
        }
    }
}

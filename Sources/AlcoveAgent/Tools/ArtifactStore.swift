package import AlcoveCore
internal import AlcoveSandbox

/// Copies of files that tools made, kept as they were then, by turn.
package struct ArtifactStore: Sendable {
    /// Largest file that is kept.
    static let fileLimit = 256 << 20
    /// Most files of one call.
    static let callLimit = 50

    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// Takes copies; what cannot be copied is left out.
    func capture(_ files: [String], from workspace: String, turn: TurnID, call: String) -> [ArtifactNote] {
        let source = ConfinedPaths(workspace: workspace)
        mkdir(folder, 0o700)
        let place = folder + "/" + turn.text
        mkdir(place, 0o700)
        let target = ConfinedPaths(workspace: place)
        return files.prefix(ArtifactStore.callLimit).compactMap { path in
            guard let bytes = try? source.read(path, limit: ArtifactStore.fileLimit) else { return nil }
            do throws(ConfinementError) {
                // A file that a later call changes again takes the place of its earlier copy in this turn.
                do throws(ConfinementError) {
                    try target.create(path, bytes, makingFolders: true)
                } catch {
                    try target.replace(path, bytes)
                }
            } catch {
                return nil
            }
            return ArtifactNote(
                call: call, name: path, bytes: bytes.count,
                url: "/api/code/artifacts/\(turn.text)/\(ArtifactStore.escaped(path))")
        }
    }

    /// Removes the copies of a turn.
    package func forget(_ turn: TurnID) {
        try? ConfinedPaths(workspace: folder).remove(turn.text, recursively: true)
    }

    /// The files of a turn.
    package func list(_ turn: TurnID) -> [ArtifactNote] {
        WorkspaceScan.files(ConfinedPaths(workspace: folder + "/" + turn.text)).map { file in
            ArtifactNote(
                call: "", name: file.path, bytes: file.bytes,
                url: "/api/code/artifacts/\(turn.text)/\(ArtifactStore.escaped(file.path))")
        }
    }

    static func escaped(_ path: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
        return path.utf8.reduce(into: "") { out, byte in
            if plain.contains(byte) {
                out.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                out += "%" + hexText([byte]).uppercased()
            }
        }
    }
}

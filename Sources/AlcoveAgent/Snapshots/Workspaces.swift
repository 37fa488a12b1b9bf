package import AlcoveCore
internal import AlcoveSandbox

/// The folders in which chats keep their own files.
package struct Workspaces: Sendable {
    package let folder: String

    package init(folder: String) { self.folder = folder }

    /// The folder of a chat; made when it is first needed.
    package func path(of chat: ChatID) -> String {
        mkdir(folder, 0o700)
        mkdir("\(folder)/\(chat.text)", 0o700)
        return "\(folder)/\(chat.text)"
    }

    /// Removes a chat's folder with all that is in it.
    package func forget(_ chat: ChatID) {
        let paths = ConfinedPaths(workspace: folder)
        try? paths.remove(chat.text, recursively: true)
        // Which upload became which of its files.
        try? paths.remove(chat.text + ".files.json")
    }
}

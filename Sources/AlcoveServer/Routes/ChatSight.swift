internal import AlcoveCore
internal import AlcoveStorage

/// What a window shows of a chat. Whatever takes something away says so, and is refused where the chat has gone on
/// elsewhere: nobody takes back what they have not seen.
struct ChatSight: Sendable {
    /// How many messages it shows.
    var count: Int
    /// The words of the last of them, or how they begin: an answer that was stopped may hold a little more than was shown.
    var end: String?

    /// The members `seen` and `seenEnd` of a body; nil when it has no `seen`, which asks for no check.
    init?(_ body: JSONObject) throws(InputError) {
        guard let value = body["seen"], !value.isNull else { return nil }
        guard let count = value.int, (0...Int(Int32.max)).contains(count) else {
            throw InputError(
                code: "bad_number", message: "\"seen\" should be a whole number from 0 to \(Int32.max).")
        }
        let end = body["seenEnd"] ?? .null
        guard end.isNull || end.string != nil else {
            throw InputError(code: "bad_field", message: "\"seenEnd\" should be text.")
        }
        self.count = count
        self.end = end.string
    }

    /// - Parameter mayLack: Whether the chat may hold fewer messages than the window shows: a message brings them again.
    /// - Throws: `HTTPError` 409 `chat_changed`.
    func check(_ chat: ChatID, in chats: ChatStore, mayLack: Bool = false) async throws {
        let kept = try await chats.end(of: chat)
        if kept.count < count, mayLack { return }
        let endsSo = end.map { end in kept.content?.utf8.starts(with: end.utf8) ?? true } ?? true
        if kept.count == count, endsSo { return }
        throw HTTPError(
            409, code: "chat_changed", "This chat is not as it was shown here; here is how it stands now.",
            hint: "Do it again if it still fits.")
    }
}

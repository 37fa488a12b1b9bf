internal import AlcoveCore
internal import AlcoveStorage

/// The surfaces' holds on chats. A session lives as long as the program at most; the chat it holds is kept.
package actor Sessions {
    private var chats: [SessionID: ChatID] = [:]
    private var order: [SessionID] = []
    /// The chat that was opened last, which a page that comes back goes on with.
    private(set) var current: ChatID?

    /// Most sessions remembered; a page that was left for so long makes a new one.
    static let capacity = 1_000

    package init() {}

    func bind(_ chat: ChatID) -> SessionID {
        let session = SessionID()
        chats[session] = chat
        order.append(session)
        if order.count > Sessions.capacity { chats[order.removeFirst()] = nil }
        current = chat
        return session
    }

    func chat(of session: SessionID) -> ChatID? { chats[session] }

    func release(_ session: SessionID) -> Bool {
        order.removeAll { $0 == session }
        return chats.removeValue(forKey: session) != nil
    }

    /// Forgets a deleted chat.
    func forget(_ chat: ChatID) {
        for (session, held) in chats where held == chat { _ = release(session) }
        if current == chat { current = nil }
    }
}

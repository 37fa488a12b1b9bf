internal import AlcoveCore
internal import AlcoveStorage

/// Takes the chats of a file in, each in a transaction of its own: a file that breaks off leaves whole chats only.
struct ChatImport {
    /// Largest chat, in bytes of JSON.
    static let chatBytes = 64 << 20
    /// Most messages of one chat.
    static let messages = 100_000
    /// Most chats that are named as not taken in; a file of nothing but such could otherwise fill the answer.
    private static let failuresTold = 100

    let chats: ChatStore
    private var imported = 0
    private var unchanged = 0
    private var failures = 0
    private var failed: [JSONValue] = []
    /// Why no more is taken in.
    private var stop: (any UserFacingError)?

    init(_ chats: ChatStore) { self.chats = chats }

    /// Reads a body to its end.
    ///
    /// - Throws: when there was no chat in it at all.
    mutating func read(_ body: HTTPRequestBody) async throws -> JSONValue {
        var splitter = ChatFileSplitter(limit: ChatImport.chatBytes)
        do {
            for try await chunk in body.chunks() where stop == nil {
                var found: [ChatFileSplitter.Found] = []
                var broken: BrokenChatFile?
                do {
                    try splitter.append(chunk) { found.append($0) }
                } catch {
                    broken = error
                }
                // Also those of a piece that breaks off later on.
                for value in found { try await take(value, isOnlyOne: false) }
                if stop == nil { stop = broken }
            }
            if stop == nil, let last = try splitter.finish() { try await take(last, isOnlyOne: true) }
        } catch let error as BrokenChatFile {
            stop = error
        }
        if let stop {
            if imported + unchanged + failures == 0 { throw stop }
            // Always told, and last, however many chats were named before it.
            failures += 1
            failed.append(["title": .null, "error": .string(stop.sentence)])
        }
        var answer: JSONObject = [
            "imported": JSONValue(imported), "unchanged": JSONValue(unchanged), "failed": .array(failed),
        ]
        if stop != nil { answer["complete"] = false }
        if failures > failed.count { answer["failedCount"] = JSONValue(failures) }
        return .object(answer)
    }

    /// - Parameter isOnlyOne: The whole file is this value, and must be a chat.
    private mutating func take(_ found: ChatFileSplitter.Found, isOnlyOne: Bool) async throws {
        if stop != nil { return }
        switch found {
        case .tooLong(let offset):
            let what = InputError(
                code: "chat_too_long",
                message:
                    "The chat at byte \(offset) is longer than the \(ChatImport.chatBytes >> 20) MB a chat may have.")
            if isOnlyOne { throw what }
            fail(title: nil, what.sentence)
        case .chat(let bytes, let offset):
            let json: JSONValue
            do {
                json = try JSONValue(parsing: bytes)
            } catch {
                let what = BrokenChatFile(offset: offset + error.offset, reason: error.reason)
                if isOnlyOne { throw what }
                return fail(title: nil, what.message)
            }
            if isOnlyOne, json["messages"]?.array == nil {
                throw InputError(
                    code: "no_chats", message: "There is no chat in this file.",
                    hint:
                        "A file of chats is what Export gives: an object with \"messages\", or with \"conversations\"."
                )
            }
            await keep(json)
        }
    }

    private mutating func keep(_ json: JSONValue) async {
        do {
            if let count = json["messages"]?.array?.count, count > ChatImport.messages {
                throw InputError(
                    code: "too_many_messages",
                    message: "It has \(count) messages, and a chat that is taken in may have \(ChatImport.messages).")
            }
            guard let messages = json["messages"]?.array else {
                throw InputError(code: "no_messages", message: "It has no messages.")
            }
            // An empty chat would be the next "New chat", under a title of its own.
            if messages.isEmpty {
                unchanged += 1
                return
            }
            var document = try ChatDocument(json: json)
            document.title = document.title.map(ConversationRoutes.shortened)
            // A chat without an id gets one from what it holds, so that it comes in once however often it comes.
            if document.id == nil { document.id = ChatID(String(SHA256.hex(json.bytes()).prefix(32))) }
            if let id = document.id, let ours = try await chats.chat(id),
                document.updatedAt.map({ ours.updatedAt >= $0 }) ?? true
            {
                unchanged += 1
                return
            }
            _ = try await chats.importChat(document)
            imported += 1
        } catch let error as StorageError where error.place == .space {
            // The next one would have no room either.
            stop = error
        } catch {
            fail(
                title: json["title"]?.string,
                (error as? any UserFacingError)?.sentence ?? "It cannot be read as a chat.")
        }
    }

    private mutating func fail(title: String?, _ sentence: String) {
        failures += 1
        guard failed.count < ChatImport.failuresTold else { return }
        failed.append(["title": JSONValue(title), "error": .string(sentence)])
    }
}

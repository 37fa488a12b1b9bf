internal import AlcoveCore
internal import AlcoveStorage

// Writes chats and messages for ever and prints each one once the store has acknowledged it. Its parent kills it.
//
//     storage-kill-child FOLDER SEED [FILE-SIZE-LIMIT]
//
// A line is `chat ID COUNT` (so many messages are in it), `name ID TEXT`, or `gone ID`. With a limit, no file may grow
// past so many bytes, as on a full disk: it then prints the error's code as `error CODE` and ends.

/// Straight to the pipe: what waits in a buffer would be lost with the process.
func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let seed = UInt64(arguments[2]) else { exit(64) }

struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
var random = Seeded(state: seed)

do {
    let database = try await Database.open(folder: arguments[1])
    if arguments.count > 3, let bytes = UInt(arguments[3]) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        #if os(Linux)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
        setrlimit(RLIMIT_FSIZE, &limit)
        #endif
    }
    let store = ChatStore(database)
    say("ready")
    while true {
        let chat = try await store.create()
        say("chat \(chat.id) 0")
        var drafts: [MessageDraft] = []
        for count in 1...Int.random(in: 2...8, using: &random) {
            let size = Int.random(in: 1...20_000, using: &random)
            let text = "message \(count) of \(chat.id) " + String(repeating: "wörter ", count: size / 8)
            drafts.append(MessageDraft(role: count % 2 == 1 ? .user : .assistant, content: text))
            if Bool.random(using: &random) {
                try await store.replaceMessages(of: chat.id, with: drafts)
            } else {
                _ = try await store.append(drafts[count - 1], to: chat.id)
            }
            say("chat \(chat.id) \(count)")
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
            _ = try await store.rename(chat.id, to: "Named \(chat.id)")
            say("name \(chat.id) Named \(chat.id)")
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            _ = try await store.delete(chat.id)
            say("gone \(chat.id)")
        }
    }
} catch {
    say("error \((error as? any UserFacingError)?.code ?? "\(error)")")
    exit(1)
}

internal import AlcoveAgent
internal import AlcoveCore
internal import AlcoveStorage
internal import AlcoveWorkspace

/// The body of `POST /api/chat`, read and checked.
struct ChatOrder: Sendable {
    var session: String?
    /// The whole history as it was sent, with whatever else is in it: this is what is kept.
    var drafts: [MessageDraft]
    /// What the sender has seen of the chat; nil asks for no such check.
    var sight: ChatSight?
    var thinkingGiven: Bool?
    /// Whether a message that is wholly an explicit command is done as one.
    var takesCommands: Bool
    var skills: [String]?
    /// What was shared and is sent with this message; at most one.
    var shared: [String]
    /// The person's files, by the place of their message.
    private(set) var attachments: [Int: MessageAttachments] = [:]
    private var request: TurnRequest
    private let body: JSONObject

    /// Most messages of one chat.
    static let messageLimit = 10_000

    init(body: JSONObject) throws(InputError) {
        for key in ["model", "backend"] where body[key].map({ !$0.isNull }) ?? false {
            throw InputError(
                code: "model_named", message: "A message does not choose the \(key); the loaded model answers.",
                hint: "Load another model first.")
        }
        guard let list = body["messages"]?.array, !list.isEmpty else {
            throw InputError(code: "no_messages", message: "\"messages\" should be a list with at least one message.")
        }
        guard list.count <= ChatOrder.messageLimit else {
            throw InputError(
                code: "too_many_messages",
                message: "The chat has \(list.count) messages; \(ChatOrder.messageLimit) is the most.",
                hint: "Begin a new chat.")
        }
        var messages: [Message] = []
        for (index, item) in list.enumerated() {
            let message: Message
            do throws(InputError) {
                message = try ChatOrder.message(item, at: index)
            } catch {
                // A kept message of an older program, or a damaged one, would end its chat for good: it stays kept, and
                // the model does not read it.
                if index < list.count - 1, item["id"]?.string != nil { continue }
                throw error
            }
            messages.append(message)
            let attached = try MessageAttachments(item, at: index)
            if message.role == .user, attached != MessageAttachments() { attachments[messages.count - 1] = attached }
        }
        session = try ChatOrder.text(body, "sessionId")
        sight = try ChatSight(body)
        thinkingGiven = try ChatOrder.flag(body, "think")
        skills = try ChatOrder.names(body, "skills")
        shared = try ChatOrder.names(body, "shareIds") ?? []
        drafts = list.map { MessageDraft(json: MessageAttachments.stored($0)) }
        var profile: RunProfile?
        if let name = try ChatOrder.text(body, "profile") {
            guard let known = RunProfile.named(name) else {
                throw InputError(
                    code: "bad_profile", message: "\"profile\" should be agent or assistant, not \"\(name)\".")
            }
            profile = known
        }
        takesCommands = try ChatOrder.flag(body, "commands") ?? (profile == .assistant)
        let choice = try ChatOrder.text(body, "tool_choice") ?? "auto"
        guard ["auto", "required"].contains(choice) else {
            throw InputError(
                code: "bad_tool_choice", message: "\"tool_choice\" should be auto or required.",
                hint: "A message without a profile has no tools.")
        }
        self.body = body
        _ = try ChatOrder.sampling(body, SamplingOptions())
        request = TurnRequest(
            messages: messages, thinking: thinkingGiven ?? false,
            maxTokens: try ChatOrder.whole(body, ["maxTokens", "max_tokens"], 1...1_000_000),
            toolChoice: choice == "required" ? .required : .auto, profile: profile)
    }

    /// What the messages say, without their files.
    var texts: [String] { request.messages.map { $0.content ?? "" } }

    /// What an explicit command of the assistant's comes to; nil for everything else.
    var plan: CommandPlan? {
        guard takesCommands, attachments.isEmpty, shared.isEmpty, let last = request.messages.last,
            last.role == .user
        else { return nil }
        return CommandPlan(last.content ?? "")
    }

    /// Whether the turn may call tools.
    var hasTools: Bool { request.profile != nil }

    /// Puts what was made ready of the files into the request.
    mutating func take(_ ready: AttachmentOrder.Ready) {
        for (index, content) in ready.contents { request.messages[index].content = content }
        for (index, media) in ready.media { request.messages[index].media = media }
        request.attachedFiles = ready.staged
    }

    /// The request for a model: what the body does not say of sampling, the model's makers do, and the settings the rest.
    func turn(for model: ModelDescription, settings: HostSettings) throws(InputError) -> TurnRequest {
        var request = request
        request.maxTokens = request.maxTokens ?? settings.maxTokens
        request.thinking = thinkingGiven ?? settings.thinkByDefault
        request.speculates = settings.speculates
        request.profile = request.profile?.limited(by: settings.runLimits)
        if let words = settings.systemPrompt, plan == nil, request.messages.first?.role != .system {
            request.messages.insert(Message(role: .system, content: words), at: 0)
        }
        request.sampling = try ChatOrder.sampling(body, model.sampling)
        return request
    }

    private static func message(_ json: JSONValue, at index: Int) throws(InputError) -> Message {
        guard let name = json["role"]?.string, let role = Role(rawValue: name) else {
            let names = Role.allCases.map(\.rawValue).joined(separator: ", ")
            throw InputError(code: "bad_role", message: "messages[\(index)].role should be one of \(names).")
        }
        let content = json["content"] ?? .null
        guard content.isNull || content.string != nil else {
            throw InputError(code: "bad_content", message: "messages[\(index)].content should be text.")
        }
        return Message(role: role, content: content.string)
    }

    private static func text(_ body: JSONObject, _ key: String) throws(InputError) -> String? {
        guard let value = body[key], !value.isNull else { return nil }
        guard let text = value.string else {
            throw InputError(code: "bad_field", message: "\"\(key)\" should be text.")
        }
        return text
    }

    private static func flag(_ body: JSONObject, _ key: String) throws(InputError) -> Bool? {
        guard let value = body[key], !value.isNull else { return nil }
        guard let flag = value.bool else {
            throw InputError(code: "bad_field", message: "\"\(key)\" should be true or false.")
        }
        return flag
    }

    private static func names(_ body: JSONObject, _ key: String) throws(InputError) -> [String]? {
        guard let value = body[key], !value.isNull else { return nil }
        guard let items = value.array, items.allSatisfy({ $0.string != nil }) else {
            throw InputError(code: "bad_field", message: "\"\(key)\" should be a list of names.")
        }
        return items.compactMap(\.string)
    }

    /// The first of several spellings of a whole number that is there.
    private static func whole(
        _ body: JSONObject, _ keys: [String], _ range: ClosedRange<Int>
    ) throws(InputError) -> Int? {
        for key in keys {
            guard let value = body[key], !value.isNull else { continue }
            guard let number = value.int, range.contains(number) else {
                throw InputError(
                    code: "bad_number",
                    message: "\"\(key)\" should be a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return number
        }
        return nil
    }

    /// The first of several spellings of a number that is there.
    private static func number(
        _ body: JSONObject, _ keys: [String], _ range: ClosedRange<Double>
    ) throws(InputError) -> Double? {
        for key in keys {
            guard let value = body[key], !value.isNull else { continue }
            guard let number = value.double, range.contains(number) else {
                throw InputError(
                    code: "bad_number",
                    message:
                        "\"\(key)\" should be a number from \(short(range.lowerBound)) to \(short(range.upperBound)).")
            }
            return number
        }
        return nil
    }

    /// `5` rather than `5.0`.
    private static func short(_ number: Double) -> String { Int(exactly: number).map { "\($0)" } ?? "\(number)" }

    private static func sampling(
        _ body: JSONObject, _ options: SamplingOptions
    ) throws(InputError) -> SamplingOptions {
        var options = options
        if let value = try number(body, ["temperature"], 0...5) { options.temperature = Float(value) }
        if let value = try whole(body, ["topK", "top_k"], 0...100_000) { options.topK = value }
        if let value = try number(body, ["topP", "top_p"], 0...1) { options.topP = Float(value) }
        if let value = try number(body, ["minP", "min_p"], 0...1) { options.minP = Float(value) }
        if let value = try number(body, ["repetitionPenalty", "repetition_penalty", "repeat_penalty"], 0.1...5) {
            options.repetitionPenalty = Float(value)
        }
        if let value = try number(body, ["frequencyPenalty", "frequency_penalty"], -2...2) {
            options.frequencyPenalty = Float(value)
        }
        if let value = try number(body, ["presencePenalty", "presence_penalty"], -2...2) {
            options.presencePenalty = Float(value)
        }
        if let value = try whole(body, ["seed"], 0...Int(UInt32.max)) { options.seed = UInt32(value) }
        return options
    }
}

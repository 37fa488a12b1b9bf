package import AlcoveCore
package import AlcoveStorage

/// One thing the agent can do: declared to the model, checked, decided on, run, receipted.
package protocol Tool: Sendable {
    /// Name, description and JSON schema. The description says what it does in plain general words: no vendor, no
    /// product, no recipe for a task.
    var declaration: ToolDeclaration { get }
    /// Other names models use for it.
    var aliases: [String] { get }
    var effect: ToolEffect { get }
    /// Most characters of its result that the model is shown.
    var observationLimit: Int { get }
    /// Profiles that have it; nil is every one.
    var profiles: Set<String>? { get }

    /// What is declared in a chat to which the person attached files of these names.
    func declaration(attached names: [String]) -> ToolDeclaration

    /// Puts names that models use for its arguments right, before anything is checked.
    func rewrite(_ arguments: JSONObject) -> JSONObject

    /// One line for people: the command, the path, the size.
    func detail(of arguments: JSONObject) -> String

    /// What a call would do, as far as it can be told beforehand, for the person who decides; nil when its arguments say it
    /// all. The call is given the same words, and does nothing when they are not true any more.
    ///
    /// - Throws: when the call could not be done.
    func preview(_ arguments: JSONObject) async throws -> String?

    /// Runs a call that was checked, allowed and, where needed, approved. A failure is a result, not an error.
    func run(_ arguments: JSONObject, in context: ToolContext) async -> ToolResult
}

extension Tool {
    package var aliases: [String] { [] }
    package func declaration(attached names: [String]) -> ToolDeclaration { declaration }
    package var observationLimit: Int { 16_000 }
    package var profiles: Set<String>? { nil }
    package func rewrite(_ arguments: JSONObject) -> JSONObject { arguments }
    package func detail(of arguments: JSONObject) -> String { "" }
    package func preview(_ arguments: JSONObject) async throws -> String? { nil }
}

/// What a tool gets beside its arguments.
package struct ToolContext: Sendable {
    /// Set when the turn is to stop.
    package var stop: StopSignal
    /// The chat's own folder; nil in a session that keeps nothing.
    package var workspace: String?
    package var switches: Switches
    /// Whose call it is, for what a tool keeps to say where it comes from; nil where nothing is kept of it.
    package var chat: ChatID?
    package var turn: TurnID?
    package var receipt: ReceiptID?
    /// The person's message that the call comes from.
    package var message: String?
    /// What the person was shown of what it would do.
    package var preview: String?
    /// Whether somebody sees what is done.
    package var isAttended: @Sendable () -> Bool = { true }
    /// Takes what the tool writes while it runs.
    package var output: @Sendable (String) -> Void

    package init(
        stop: StopSignal, workspace: String?, switches: Switches, output: @escaping @Sendable (String) -> Void
    ) {
        self.stop = stop
        self.workspace = workspace
        self.switches = switches
        self.output = output
    }
}

/// What came of a call.
package struct ToolResult: Sendable {
    package var succeeded: Bool
    /// What the model is told.
    package var text: String
    /// Files it made or changed, by their names in the workspace.
    package var files: [String]
    /// A change of the store, made in the same transaction as the receipt: both are there, or neither.
    package var change: (@Sendable (Transaction) throws -> Void)?
    /// It was ended because it took too long.
    package var hasTimedOut = false

    package init(
        succeeded: Bool, text: String, files: [String] = [], change: (@Sendable (Transaction) throws -> Void)? = nil
    ) {
        self.succeeded = succeeded
        self.text = text
        self.files = files
        self.change = change
    }

    package static func failed(_ text: String) -> ToolResult { ToolResult(succeeded: false, text: text) }
}

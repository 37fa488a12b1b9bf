internal import AlcoveCore

/// What a person reads before deciding: the whole payload, argument by argument.
enum ApprovalText {
    static func make(_ call: CheckedCall) -> String {
        let arguments = call.arguments.value.members
        if arguments.count == 1, let text = arguments[0].value.string { return text }
        return arguments.map { key, value in
            "\(key): \(value.string ?? value.text())"
        }.joined(separator: "\n")
    }
}

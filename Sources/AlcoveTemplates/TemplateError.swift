public import AlcoveCore

/// Why a conversation could not be put into a model's prompt, or a model's answer not be read.
public enum TemplateError: UserFacingError, Equatable {
    /// The template itself refuses this conversation, in its own words.
    case refused(words: String)
    /// The template is faulty; `line` is where, when it is known.
    case fault(reason: String, line: Int?)
    /// What was passed to the template cannot be read.
    case badInput(reason: String)
    /// The library changed the rendered text after marking it, so that input and template cannot be told apart.
    case unmarked
    /// The trial of an untrusted template ran into one of its limits.
    case tooCostly(reason: String)
    /// The template cannot be tried here, and it is not one we know.
    case untried(reason: String)
    /// A file that should hold a template or a tool schema cannot be compiled into a grammar.
    case badSchema(reason: String)

    public var code: String {
        switch self {
        case .refused: "template_refused"
        case .fault: "template_fault"
        case .badInput: "template_input"
        case .unmarked: "template_unmarked"
        case .tooCostly: "template_too_costly"
        case .untried: "template_untried"
        case .badSchema: "bad_schema"
        }
    }

    public var message: String {
        switch self {
        case .refused(let words): "The model's chat template refuses this conversation: \(words)"
        case .fault(let reason, let line?): "The model's chat template fails at line \(line): \(reason)."
        case .fault(let reason, nil): "The model's chat template fails: \(reason)."
        case .badInput(let reason): "The conversation cannot be read: \(reason)."
        case .unmarked: "The model's chat template rewrites its text so that your words cannot be told from its own."
        case .tooCostly(let reason): "The model's chat template was stopped: \(reason)."
        case .untried(let reason): "The model's chat template could not be tried safely: \(reason)."
        case .badSchema(let reason): "The schema cannot be made into a grammar: \(reason)."
        }
    }

    public var place: ErrorPlace {
        switch self {
        case .refused, .badInput, .badSchema: .request
        case .fault, .unmarked, .tooCostly: .data
        case .untried: .host
        }
    }

    public var hint: String? {
        switch self {
        case .refused: "Change the messages it names, or choose another model."
        case .fault, .unmarked, .tooCostly: "Get the model from another source, or choose another model."
        case .badInput, .untried, .badSchema: nil
        }
    }
}

extension TemplateError {
    /// From a failure document of the library's door (Native/llama/alcove_chat.h).
    init(failure: JSONValue) {
        let text = failure["error"]?.string ?? "an unknown fault"
        // Inside a template the library's own word for it comes with a trace of where memory ran out.
        if text.contains("std::bad_alloc") {
            self = .tooCostly(reason: "it needs more memory than it may have")
            return
        }
        switch failure["kind"]?.string {
        case "raised": self = .refused(words: text)
        case "schema": self = .badSchema(reason: TemplateError.tidy(text))
        case "input": self = .badInput(reason: TemplateError.tidy(text))
        default: self = .fault(reason: TemplateError.tidy(text), line: TemplateError.line(in: text))
        }
    }

    /// The library's trace is several lines; the last one says what went wrong.
    private static func tidy(_ text: String) -> String {
        let lines = text.split(separator: "\n").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
        var last = lines.last { $0.hasPrefix("Error: ") } ?? lines.first { !$0.hasPrefix("---") } ?? "an unknown fault"
        if last.hasSuffix(":"), let index = lines.firstIndex(of: last), index + 1 < lines.count {
            last = lines[index + 1]  // a headline; what is wrong stands below it
        }
        if last.hasPrefix("Error: ") { last.removeFirst("Error: ".count) }
        while last.last == "." { last.removeLast() }
        return last
    }

    /// "at line 3, column 7 in source" names the place.
    private static func line(in text: String) -> Int? {
        guard let mark = text.firstRange(ofText: "line ") else { return nil }
        return Int(text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber })
    }
}

extension StringProtocol {
    func trimmingSpaces() -> String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text = text.dropFirst() }
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }

    func trimmingSpacesAtEnd() -> String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }

    func firstRange(ofText needle: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(needle) { return start..<index(start, offsetBy: needle.count) }
            start = index(after: start)
        }
        return nil
    }
}

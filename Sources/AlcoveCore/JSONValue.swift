/// A JSON document: what crosses every door of the program.
///
/// Objects keep the order of their keys, because a prompt is built from them and one changed byte there costs the person
/// seconds.
public enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}

/// The members of a JSON object in the order they came; a repeated key keeps its first place and its last value.
///
/// Keys are the same when their bytes are. Swift's own `==` takes "é" and "e\u{301}" for one, and one of the two would be
/// lost.
public struct JSONObject: Sendable, Hashable {
    public private(set) var keys: [String] = []
    private var values: [Name: JSONValue] = [:]

    private struct Name: Sendable, Hashable {
        let text: String

        static func == (a: Name, b: Name) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    public init() {}

    public var count: Int { keys.count }
    public var isEmpty: Bool { keys.isEmpty }
    public var members: [(key: String, value: JSONValue)] {
        keys.map { ($0, values[Name(text: $0)]!) }  // both change together
    }

    public subscript(key: String) -> JSONValue? {
        get { values[Name(text: key)] }
        set {
            let name = Name(text: key)
            let old = newValue.map { values.updateValue($0, forKey: name) } ?? values.removeValue(forKey: name)
            if newValue == nil {
                if old != nil { keys.removeAll { Name(text: $0) == name } }
            } else if old == nil {
                keys.append(key)
            }
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        for (key, value) in elements { self[key] = value }
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(nilLiteral: ()) { self = .null }
}

extension JSONValue {
    public init(_ value: Int) { self = .integer(Int64(value)) }
    public init(_ value: String?) { self = value.map { .string($0) } ?? .null }

    public var isNull: Bool { self == .null }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// A whole number, also when it was written with a fraction of zero; nil when it is not whole or does not fit.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The member of an object; nil when there is none or this is no object.
    public subscript(key: String) -> JSONValue? { object?[key] }
}

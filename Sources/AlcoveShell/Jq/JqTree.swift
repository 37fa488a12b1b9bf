internal import AlcoveCore

/// A filter of jq as a value.
indirect enum JqFilter {
    case identity
    case recurse
    case literal(JSONValue)
    case text([JqPiece], format: String?)
    case format(String)
    case field(JqFilter, JqFilter)
    case slice(JqFilter, JqFilter?, JqFilter?)
    case each(JqFilter)
    case attempt(JqFilter, JqFilter?)
    case pipe(JqFilter, JqFilter)
    case comma(JqFilter, JqFilter)
    case negative(JqFilter)
    case binary(String, JqFilter, JqFilter)
    case and(JqFilter, JqFilter)
    case or(JqFilter, JqFilter)
    case otherwise(JqFilter, JqFilter)
    case assign(String, JqFilter, JqFilter)
    case condition(JqFilter, JqFilter, JqFilter?)
    case reduce(JqFilter, JqPattern, JqFilter, JqFilter)
    case foreach(JqFilter, JqPattern, JqFilter, JqFilter, JqFilter?)
    case bind(JqFilter, JqPattern, JqFilter)
    case variable(String)
    case array(JqFilter?)
    case object([JqEntry])
    case call(String, [JqFilter])
    case define(JqDefinition, JqFilter)
    case label(String, JqFilter)
    case leave(String)
}

/// One member of an object that is made.
struct JqEntry {
    var key: JqFilter
    /// nil: the input's member of that name.
    var value: JqFilter?
}

enum JqPiece {
    case text(String)
    case filter(JqFilter)
}

indirect enum JqPattern {
    case name(String)
    case array([JqPattern])
    case object([Member])

    struct Member {
        var key: JqFilter
        var pattern: JqPattern
    }
}

final class JqDefinition {
    let name: String
    let parameters: [String]
    var body: JqFilter

    init(name: String, parameters: [String], body: JqFilter) {
        self.name = name
        self.parameters = parameters
        self.body = body
    }
}

/// What leaves a filter of jq before its end.
enum JqEnd: Error {
    case fault(JSONValue)
    case leave(Int)
    case enough
    case flow(Flow)

    static func sentence(_ text: String) -> JqEnd { .fault(.string(text)) }
}

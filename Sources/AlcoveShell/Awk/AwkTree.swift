/// An awk program as values.
struct AwkProgram {
    enum Pattern {
        case begin
        case end
        case always
        case when(AwkExpression)
        case range(AwkExpression, AwkExpression)
    }

    struct Rule {
        var pattern: Pattern
        /// nil: the record is printed.
        var body: [AwkStatement]?
    }

    struct Function {
        var parameters: Int
        var body: [AwkStatement]
    }

    var rules: [Rule] = []
    var functions: [Function] = []
    /// Names of the variables, the special ones first.
    var globals: [String]
}

indirect enum AwkExpression {
    case number(Double)
    case string([UInt8])
    /// An expression by itself, matched against the record.
    case matchesRecord([UInt8])
    case global(Int)
    case local(Int)
    case field(AwkExpression)
    case element(AwkArrayName, [AwkExpression])
    case contains(AwkArrayName, [AwkExpression])
    case assign(AwkExpression, AwkExpression)
    case change(AwkExpression, UInt8, AwkExpression)
    case step(AwkExpression, by: Double, isBefore: Bool)
    case condition(AwkExpression, AwkExpression, AwkExpression)
    case and(AwkExpression, AwkExpression)
    case or(AwkExpression, AwkExpression)
    case not(AwkExpression)
    case negative(AwkExpression)
    case positive(AwkExpression)
    case arithmetic(UInt8, AwkExpression, AwkExpression)
    case compare(Comparison, AwkExpression, AwkExpression)
    case match(AwkExpression, AwkExpression, isNegated: Bool)
    case join(AwkExpression, AwkExpression)
    case call(Int, [AwkExpression])
    case builtin(String, [AwkExpression])
    case readLine(into: AwkExpression?, from: Source)
    /// In parentheses: no place to assign to.
    case grouped(AwkExpression)

    enum Comparison {
        case less, lessOrEqual, equal, notEqual, greater, greaterOrEqual
    }

    enum Source {
        case main
        case file(AwkExpression)
        case command(AwkExpression)
    }
}

enum AwkArrayName {
    case global(Int)
    case local(Int)
}

indirect enum AwkStatement {
    case expression(AwkExpression)
    case print([AwkExpression], AwkOutput?)
    case format([AwkExpression], AwkOutput?)
    case condition(AwkExpression, [AwkStatement], [AwkStatement])
    case loop(AwkExpression, [AwkStatement])
    case loopAfter([AwkStatement], AwkExpression)
    case count(AwkStatement?, AwkExpression?, AwkStatement?, [AwkStatement])
    case each(AwkExpression, AwkArrayName, [AwkStatement])
    case leaveLoop
    case nextRound
    case next
    case nextFile
    case exit(AwkExpression?)
    case answer(AwkExpression?)
    case delete(AwkArrayName, [AwkExpression]?)
    case block([AwkStatement])
}

struct AwkOutput {
    enum Kind {
        case truncate
        case append
        case command
    }

    var kind: Kind
    var target: AwkExpression
}

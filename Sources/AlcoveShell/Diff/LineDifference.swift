/// What was changed between two lists of lines: the shortest way from one to the other (Myers).
struct LineDifference {
    /// A run of lines taken away and a run put in their place.
    struct Change {
        var old: Range<Int>
        var new: Range<Int>
    }

    /// Changes beyond which the rest is taken as one: the time grows with their square.
    private static let mostSteps = 6000

    static func changes(_ old: [Int], _ new: [Int], _ control: RunControl) throws(Flow) -> [Change] {
        var prefix = 0
        while prefix < old.count, prefix < new.count, old[prefix] == new[prefix] { prefix += 1 }
        var suffix = 0
        while suffix < old.count - prefix, suffix < new.count - prefix,
            old[old.count - 1 - suffix] == new[new.count - 1 - suffix]
        {
            suffix += 1
        }
        let a = Array(old[prefix..<old.count - suffix])
        let b = Array(new[prefix..<new.count - suffix])
        if a.isEmpty, b.isEmpty { return [] }
        if a.isEmpty || b.isEmpty {
            return [Change(old: prefix..<prefix + a.count, new: prefix..<prefix + b.count)]
        }
        let kept = try matches(a, b, control)
        var changes: [Change] = []
        var (x, y) = (0, 0)
        for (i, j) in kept + [(a.count, b.count)] {
            if i > x || j > y {
                changes.append(Change(old: prefix + x..<prefix + i, new: prefix + y..<prefix + j))
            }
            (x, y) = (i + 1, j + 1)
        }
        return changes
    }

    /// The places of the lines that stay.
    private static func matches(_ a: [Int], _ b: [Int], _ control: RunControl) throws(Flow) -> [(Int, Int)] {
        let most = min(a.count + b.count, mostSteps)
        var furthest = [Int](repeating: 0, count: 2 * most + 3)
        let middle = most + 1
        var history: [[Int]] = []
        for steps in 0...most {
            if steps & 63 == 0 { try control.check() }
            // Only the part that can have changed is kept.
            history.append(Array(furthest[middle - steps - 1...middle + steps + 1]))
            for diagonal in stride(from: -steps, through: steps, by: 2) {
                var x: Int
                if diagonal == -steps
                    || (diagonal != steps && furthest[middle + diagonal - 1] < furthest[middle + diagonal + 1])
                {
                    x = furthest[middle + diagonal + 1]
                } else {
                    x = furthest[middle + diagonal - 1] + 1
                }
                var y = x - diagonal
                while x < a.count, y < b.count, a[x] == b[y] {
                    x += 1
                    y += 1
                }
                furthest[middle + diagonal] = x
                if x >= a.count, y >= b.count { return trace(a, b, history, steps) }
            }
        }
        return []
    }

    private static func trace(_ a: [Int], _ b: [Int], _ history: [[Int]], _ last: Int) -> [(Int, Int)] {
        var (x, y) = (a.count, b.count)
        var kept: [(Int, Int)] = []
        for steps in stride(from: last, through: 0, by: -1) {
            let row = history[steps]
            func at(_ diagonal: Int) -> Int { row[diagonal + steps + 1] }
            let diagonal = x - y
            let before: Int
            if diagonal == -steps || (diagonal != steps && at(diagonal - 1) < at(diagonal + 1)) {
                before = diagonal + 1
            } else {
                before = diagonal - 1
            }
            let fromX = steps == 0 ? 0 : at(before)
            let fromY = steps == 0 ? 0 : fromX - before
            while x > fromX, y > fromY, x > 0, y > 0, a[x - 1] == b[y - 1] {
                x -= 1
                y -= 1
                kept.append((x, y))
            }
            (x, y) = (fromX, fromY)
        }
        return kept.reversed()
    }
}

/// "Did you mean ...?", when something that exists is spelled nearly like what was typed.
public func didYouMean(_ typed: String, among known: [String]) -> String? {
    nearestName(typed, among: known).map { "Did you mean \($0)?" }
}

/// The name spelled most like what was typed, when it is near enough to be meant.
public func nearestName(_ typed: String, among known: [String]) -> String? {
    // Nobody means a name by a text this long, and the comparison costs the product of both lengths.
    guard typed.utf8.count <= 200 else { return nil }
    let near = known.filter { $0.utf8.count <= 200 }.map { ($0, editDistance(typed, $0)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = near, distance <= max(1, typed.count / 3) else { return nil }
    return name
}

/// Letters to insert, remove, change or swap with their neighbour to make one word of the other.
public func editDistance(_ a: String, _ b: String) -> Int {
    let a = Array(a), b = Array(b)
    var before: [Int] = []
    var last = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        for j in b.indices {
            var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
            row.append(best)
        }
        (before, last) = (last, row)
    }
    return last[b.count]
}

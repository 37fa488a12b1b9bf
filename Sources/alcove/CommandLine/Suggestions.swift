/// "Did you mean ...?", when something that exists is spelled nearly like what was typed.
func didYouMean(_ typed: String, among known: [String]) -> String? {
    let near = known.map { ($0, editDistance(typed, $0)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = near, distance <= max(1, typed.count / 3) else { return nil }
    return "Did you mean \(name)?"
}

/// Letters to insert, remove, change or swap with their neighbour to make one word of the other.
func editDistance(_ a: String, _ b: String) -> Int {
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

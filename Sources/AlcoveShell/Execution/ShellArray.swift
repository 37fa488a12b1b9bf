/// An array of the shell: by number, or by name in the order in which the names were given.
struct ShellArray {
    static let first: [UInt8] = [48]
    /// Numbers an array may have.
    static let mostIndex = 1 << 32

    let isNamed: Bool
    private var values: [[UInt8]: [UInt8]] = [:]
    private var names: [[UInt8]] = []
    private var numbers: [Int] = []
    private var isSorted = true

    init(isNamed: Bool) { self.isNamed = isNamed }

    init(_ list: [[UInt8]]) {
        isNamed = false
        for (index, value) in list.enumerated() { self[Array("\(index)".utf8)] = value }
    }

    var count: Int { values.count }

    subscript(key: [UInt8]) -> [UInt8]? {
        get { values[key] }
        set {
            guard let newValue else {
                guard values.removeValue(forKey: key) != nil else { return }
                if isNamed {
                    names.removeAll { $0 == key }
                } else if let number = Int(key.text) {
                    numbers.removeAll { $0 == number }
                }
                return
            }
            if values.updateValue(newValue, forKey: key) == nil {
                if isNamed {
                    names.append(key)
                } else if let number = Int(key.text) {
                    if let last = numbers.last, number < last { isSorted = false }
                    numbers.append(number)
                    if !isSorted {
                        numbers.sort()
                        isSorted = true
                    }
                }
            }
        }
    }

    var keys: [[UInt8]] { isNamed ? names : numbers.map { Array("\($0)".utf8) } }

    var list: [[UInt8]] { keys.map { values[$0] ?? [] } }

    /// Where the next element without a key goes.
    var next: Int { (numbers.last ?? -1) + 1 }
}

// SPDX-License-Identifier: Apache-2.0

/// What somebody may have meant who mistyped a word.
enum Guess {
    /// `: did you mean NAME?` for the nearest name, if one is near.
    static func hint(_ names: [(name: String, typed: String)]) -> String {
        let near = names.map { (name: $0.name, distance: distance($0.name, $0.typed)) }
            .filter { $0.distance <= max(1, $0.name.count / 3) }
        return near.min { $0.distance < $1.distance }.map { ": did you mean \($0.name)?" } ?? ""
    }

    /// Characters to be changed, added or left out.
    static func distance(_ left: String, _ right: String) -> Int {
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var before = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let change = before + (a == b ? 0 : 1)
                before = row[j + 1]
                row[j + 1] = min(change, row[j] + 1, before + 1)
            }
        }
        return row[right.count]
    }
}

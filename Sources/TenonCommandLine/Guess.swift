// SPDX-License-Identifier: Apache-2.0

/// What was meant by a word that nobody knows.
package enum Guess {
    /// The word that is so near that a slip of the fingers explains it.
    package static func nearest(to word: String, in words: [String]) -> String? {
        let known = words.map { (word: $0, distance: distance(Array(word.utf8), Array($0.utf8))) }
        guard let best = known.min(by: { $0.distance < $1.distance }) else { return nil }
        if best.distance <= max(1, word.utf8.count / 3) { return best.word }
        let longer = words.filter { word.utf8.count > 1 && $0.hasPrefix(word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// How many letters are put in, left out, changed, or have changed places with their neighbours.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for row in 0..<left.count {
            var next = [row + 1]
            for column in 0..<right.count {
                let isSame = left[row] == right[column]
                var least = min(rows[row][column] + (isSame ? 0 : 1), rows[row][column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, rows[row - 1][column - 1] + 1)
                }
                next.append(least)
            }
            rows.append(next)
        }
        return rows[left.count][right.count]
    }
}

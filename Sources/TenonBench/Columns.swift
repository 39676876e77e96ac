// SPDX-License-Identifier: Apache-2.0

/// Rows of a table.
package enum Columns {
    /// - Parameter widths: below 0: to the right.
    package static func row(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(cells, widths).map { cell, width in
            let gap = String(repeating: " ", count: max(0, abs(width) - cell.count))
            return width < 0 ? gap + cell : cell + gap
        }
        let row = padded.joined(separator: " ")
        return String(row[..<(row.lastIndex { $0 != " " }.map(row.index(after:)) ?? row.startIndex)])
    }
}

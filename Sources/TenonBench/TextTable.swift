// SPDX-License-Identifier: Apache-2.0

/// Formats rows of a table.
package enum Columns {
    /// - Parameter widths: a negative width aligns its column to the right.
    package static func row(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(cells, widths).map { cell, width in
            let gap = String(repeating: " ", count: max(0, abs(width) - cell.count))
            return width < 0 ? gap + cell : cell + gap
        }
        let row = padded.joined(separator: " ")
        return String(row[..<(row.lastIndex { $0 != " " }.map(row.index(after:)) ?? row.startIndex)])
    }
}

/// Formats numbers for people.
package enum Decimal {
    /// The value with a fixed number of digits after the point.
    package static func text(_ value: Double, _ places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = (abs(value) * Double(scale)).rounded()
        guard scaled < 1e15 else { return value.description }
        let (whole, rest) = Int(scaled).quotientAndRemainder(dividingBy: scale)
        let digits = String(rest)
        let fraction = places == 0 ? "" : "." + String(repeating: "0", count: places - digits.count) + digits
        return (value < 0 && scaled != 0 ? "-" : "") + String(whole) + fraction
    }

    /// The value with commas between its thousands, and four digits of a fraction where it has one.
    package static func count(_ value: Double) -> String {
        let text = text(value, value == value.rounded() ? 0 : 4)
        let end = text.firstIndex(of: ".") ?? text.endIndex
        var whole = ""
        for (index, digit) in text[..<end].enumerated() {
            let left = text.distance(from: text.startIndex, to: end) - index
            if index > 0, left % 3 == 0 { whole += "," }
            whole.append(digit)
        }
        return whole + text[end...]
    }
}

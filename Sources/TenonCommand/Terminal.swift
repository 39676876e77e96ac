// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import TenonCommandLine

/// What a terminal shows.
enum Terminal {
    /// Whether the file is one.
    static func isShown(_ file: Int32) -> Bool { isatty(file) == 1 }

    /// Whether colours are wanted there (no-color.org).
    private static let hasColours: Bool =
        isShown(1) && Environment.variable("NO_COLOR") == nil && Environment.variable("TERM") != "dumb"

    /// A line beside the answer, for whoever looks on.
    static func note(_ text: String) { Output.error(text) }

    enum Colour: String {
        case red = "31"
        case green = "32"
        case yellow = "33"
    }

    static func text(_ text: String, _ colour: Colour) -> String {
        hasColours ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}

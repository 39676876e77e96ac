// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine

/// The answer of a verb, for people and for machines.
struct Answer {
    /// The lines for people; an element may hold several lines.
    var lines: [String] = []
    /// null for a verb that has written its answer already.
    var json: JSON
    /// The exit code for a problem that the answer reports without being an error of the verb.
    var category: TenonError.Category?

    /// The text and the exit code with which the program ends.
    struct Given: Sendable {
        let text: String
        let code: Int32
    }

    private static let kept = Mutex<Given?>(nil)

    static var given: Given? { kept.withLock { $0 } }

    /// Keeps the answer until the program ends, which then prints it.
    func give(_ arguments: Arguments) throws(TenonError) {
        let isJSON = arguments.has(Flag.json.name) && !json.isNull
        let lines = isJSON ? [String(decoding: try json.encoded(), as: UTF8.self)] : lines
        let text = lines.map { $0 + "\n" }.joined()
        Answer.kept.withLock { $0 = Given(text: text, code: category?.rawValue ?? 0) }
    }

    /// `name: value` in columns.
    static func rows(_ rows: [(name: String, value: String?)]) -> [String] {
        let rows = rows.compactMap { row in row.value.map { (row.name, $0) } }
        let width = (rows.map { $0.0.count }.max() ?? 0) + 2
        return rows.map { $0 + String(repeating: " ", count: width - $0.count) + $1 }
    }
}

extension JSON {
    /// The text, or null.
    static func or(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    /// The number, or null.
    static func or(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }
}

/// Output on a terminal.
enum Terminal {
    /// Whether the file descriptor is a terminal.
    static func isShown(_ file: Int32) -> Bool { isatty(file) == 1 }

    /// Whether to use colours (no-color.org).
    private static let hasColours: Bool =
        isShown(1) && Environment.variable("NO_COLOR") == nil && Environment.variable("TERM") != "dumb"

    /// Prints a line beside the answer.
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

/// Formats values for people.
enum Format {
    /// The date of Unix seconds, in UTC.
    static func date(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M UTC", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The state, and the reason if there is one.
    static func status(_ status: IdentityStatus) -> String {
        status.reason.map { "\(status.state.rawValue), \($0.rawValue)" } ?? status.state.rawValue
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Synchronization
internal import Tenon
internal import TenonCommandLine

/// What a verb answers: the same for people and for machines.
struct Answer {
    /// Each a line, or several.
    var lines: [String] = []
    var json: JSON
    /// The category of what is wrong, where something is that is no error of the verb.
    var category: TenonError.Category?

    /// What the program ends with.
    struct Given: Sendable {
        let text: String
        let code: Int32
    }

    private static let kept = Mutex<Given?>(nil)

    static var given: Given? { kept.withLock { $0 } }

    /// Has the program print it when it ends, and end with the category if there is one.
    func give(_ arguments: Arguments) throws(TenonError) {
        let lines = arguments.has(Flag.json.name) ? [String(decoding: try json.encoded(), as: UTF8.self)] : lines
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
    static func or(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    static func or(_ number: Int64?) -> JSON { number.map { .integer($0) } ?? .null }
}

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

/// Values as people read them.
enum Text {
    /// Of Unix seconds, in UTC.
    static func date(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        gmtime_r(&moment, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M UTC", &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func of(_ status: IdentityStatus) -> String {
        status.reason.map { "\(status.state.rawValue), \($0.rawValue)" } ?? status.state.rawValue
    }
}

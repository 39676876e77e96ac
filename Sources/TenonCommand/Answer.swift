// SPDX-License-Identifier: Apache-2.0
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

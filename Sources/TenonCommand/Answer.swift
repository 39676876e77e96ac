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

    private static let code = Atomic<Int32>(0)

    /// What the program ends with.
    static var exitCode: Int32 { code.load(ordering: .relaxed) }

    /// Prints it, and has the program end with the category if there is one.
    func give(_ arguments: Arguments) throws(TenonError) {
        if arguments.has(Flag.json.name) {
            Output.line(String(decoding: try json.encoded(), as: UTF8.self))
        } else {
            for line in lines { Output.line(line) }
        }
        Answer.code.store(category?.rawValue ?? 0, ordering: .relaxed)
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

// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The words of a command line: a verb's operands and its flags, as the verb declares them.
struct Arguments: Sendable {
    /// One `--name`, or `--name VALUE` where it has a value.
    struct Flag: Sendable {
        let name: String
        /// What stands for its value in the help; nil for a switch.
        let value: String?
        let summary: String
    }

    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    /// - Throws: ``TenonError/Code/options`` for what the verb does not know.
    init(_ words: some Sequence<String>, flags: [Flag]) throws(TenonError) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            guard word.hasPrefix("--") else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let flag = flags.first(where: { $0.name == parts[0] }) else {
                let hint = Guess.hint(flags.map { ($0.name, parts[0]) })
                throw Arguments.mistake("\(parts[0]) is no option of this command\(hint); see --help.")
            }
            if flag.value == nil {
                guard parts.count == 1 else { throw Arguments.mistake("\(flag.name) has no value.") }
                values[flag.name, default: []].append("")
            } else {
                guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
                    throw Arguments.mistake("\(flag.name) needs a value.")
                }
                values[flag.name, default: []].append(value)
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// - Throws: ``TenonError/Code/options`` when it is there twice.
    func value(_ name: String) throws(TenonError) -> String? {
        guard all(name).count <= 1 else { throw Arguments.mistake("\(name) is there twice.") }
        return all(name).first
    }

    static func mistake(_ message: String) -> TenonError { TenonError(.options, message: message) }
}

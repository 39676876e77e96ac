// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What the doctor found.
struct Finding {
    enum State: String {
        case good = "ok"
        /// Worth knowing: nothing fails of it.
        case note
        case bad
    }

    let check: String
    let state: State
    let text: String
    let mend: String?
    let category: TenonError.Category?

    static func good(_ check: String, _ text: String) -> Finding {
        Finding(check: check, state: .good, text: text, mend: nil, category: nil)
    }

    static func note(_ check: String, _ text: String, mend: String) -> Finding {
        Finding(check: check, state: .note, text: text, mend: mend, category: nil)
    }

    static func bad(_ check: String, _ text: String, mend: String, _ category: TenonError.Category) -> Finding {
        Finding(check: check, state: .bad, text: text, mend: mend, category: category)
    }

    static func bad(_ check: String, _ error: TenonError) -> Finding {
        let failure = Failure(error)
        return bad(check, failure.cause, mend: failure.mend, failure.error.code.category)
    }

    private static let columns = (state: 6, check: 13)

    var lines: String {
        let colour: Terminal.Colour = state == .good ? .green : state == .note ? .yellow : .red
        let gap = String(repeating: " ", count: Self.columns.state - state.rawValue.count)
        let indent = String(repeating: " ", count: Self.columns.state + Self.columns.check)
        let name = check + String(repeating: " ", count: max(1, Self.columns.check - check.count))
        return Terminal.text(state.rawValue, colour) + gap + name + text + (mend.map { "\n\(indent)\($0)" } ?? "")
    }

    var json: JSON {
        [
            "check": .string(check), "state": .string(state.rawValue), "text": .string(text), "mend": .or(mend),
            "category": .or(category?.name),
        ]
    }
}

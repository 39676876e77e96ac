// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension TenonError {
    /// What PostgreSQL says of a statement, in its own words; but not of a value, which may be what the store holds.
    init(postgres state: String, _ words: String) {
        let code: Code =
            switch state.prefix(2) {
            case "28", "42": .storePermission
            case "40", "55": .storeBusy
            case "53" where state == "53200": .memory
            default: .storeFailed
            }
        let isOfValues = ["21", "22", "23", "44"].contains(state.prefix(2))
        let said = isOfValues ? "" : ": " + TenonError.line(words)
        // The same will be refused again then.
        self.init(
            code, message: "PostgreSQL refuses with \(state)\(said).", retryAfter: isOfValues ? nil : .seconds(1))
    }

    /// What libpq says of a connection that was not made, or was lost.
    init(lostPostgres words: String) {
        // Behind this the server speaks, which was reached.
        let parts = words.split(separator: "FATAL:", maxSplits: 1)
        let said = TenonError.line(parts.count == 2 ? String(parts[1]) : words)
        let what =
            parts.count == 2 ? "PostgreSQL refuses a connection" : "PostgreSQL cannot be reached, or has gone away"
        self.init(.storeFailed, message: "\(what): \(said): try again soon.", retryAfter: .seconds(1))
    }

    static func postgresOverdue(_ patience: Duration) -> TenonError {
        TenonError(
            .storeFailed,
            message: "PostgreSQL did not answer in \(patience.milliseconds) ms: try again soon.",
            retryAfter: .seconds(1))
    }

    static func unknownCommit(_ cause: TenonError) -> TenonError {
        TenonError(
            .outcomeUnknown,
            message: "PostgreSQL was told to store this and did not say whether it did: ask again, it is done once.",
            retryAfter: .seconds(1))
    }

    /// Of what may be several lines the first, without what ends a sentence.
    private static func line(_ words: String) -> String {
        let text = words.split(whereSeparator: \.isNewline).first ?? "it does not say why"
        let plain = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }
        let said = String(String.UnicodeScalarView(plain)).prefix(200).drop { $0 == " " }
        let end = said.lastIndex { !" .:".contains($0) }
        return end.map { String(said[...$0]) } ?? ""
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// What is said of an error: the cause, and the command or the setting that mends it.
struct Failure {
    let error: TenonError
    let cause: String
    let mend: String

    init(_ thrown: TenonError) {
        // A TPM that went away is looked for once more, to say where it was.
        let error = OpenedTPM.name.map { NodeCheck.explained(thrown, $0) } ?? thrown
        self.error = error
        let parts = error.message.split(separator: "\n", maxSplits: 1).map(String.init)
        var cause = parts.first ?? error.code.description
        if let status = error.httpStatus { cause += " [HTTP \(status)\(Failure.shown(error.serverCode))]" }
        if let code = error.tpmCode { cause += " [TPM 0x\(String(code, radix: 16))]" }
        self.cause = cause
        mend = parts.count == 2 ? parts[1] : Mend.of(error)
    }

    var lines: [String] { [cause, mend] }

    /// One line of JSON.
    var text: String {
        var object = JSONObject()
        object["code"] = .string(error.code.description)
        object["category"] = .string(error.code.category.name)
        object["exit"] = .integer(Int64(error.code.category.rawValue))
        object["message"] = .string(cause)
        object["mend"] = .string(mend)
        if let status = error.httpStatus { object["http_status"] = .integer(Int64(status)) }
        if let code = error.serverCode { object["server_code"] = .string(code) }
        if let code = error.tpmCode { object["tpm_code"] = .integer(Int64(code)) }
        if let wait = error.retryAfter { object["retry_after"] = .integer(wait.components.seconds) }
        let whole: JSON = ["error": .object(object)]
        let bytes = try? whole.encoded()
        return String(decoding: bytes ?? [], as: UTF8.self)
    }

    /// A peer wrote it: only what cannot spoil a line is shown.
    private static func shown(_ code: String?) -> String {
        guard let code, code.utf8.count <= 64, code.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { return "" }
        return " " + code
    }
}

extension TenonError.Category {
    var name: String {
        switch self {
        case .argument: "argument"
        case .format: "format"
        case .rejected: "rejected"
        case .transient: "transient"
        case .unavailable: "unavailable"
        case .permission: "permission"
        case .auth: "auth"
        case .gone: "gone"
        case .internal: "internal"
        case .state: "state"
        default: "unknown"
        }
    }
}

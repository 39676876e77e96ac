// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The one place where a status becomes an error.
extension TenonError {
    package init(status: Int32) {
        self.init(Code(rawValue: status), message: String(cString: tenon_status_text(status)))
    }

    /// Throws what is not success.
    package static func check(_ status: Int32) throws(TenonError) {
        guard status == 0 else { throw TenonError(status: status) }
    }
}

extension TenonError.Code: CustomStringConvertible {
    /// The code's own name, as in `tenon/status.h`.
    public var description: String { moduleName ?? String(cString: tenon_status_name(rawValue)) }
}

extension TenonError: CustomStringConvertible {
    /// The code's name, then the message, then what else is known.
    public var description: String {
        var text = "\(code): \(message)"
        if let tpmCode { text += " [TPM 0x\(String(tpmCode, radix: 16))]" }
        if let httpStatus { text += " [HTTP \(httpStatus)]" }
        // The peer wrote it: only what cannot spoil a line of a log is shown.
        if let serverCode, serverCode.utf8.count <= 64, serverCode.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) {
            text += " [\(serverCode)]"
        }
        if let retryAfter { text += " [retry after \(retryAfter)]" }
        return text
    }
}

// SPDX-License-Identifier: Apache-2.0

/// What every throwing function of Tenon throws.
///
/// Switch on ``code``, or on its ``Code/category``, which says what a caller does about it; read ``message`` to people.
/// Two errors are equal when their codes are.
public struct TenonError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// What happened, in a sentence for a person. It never holds what was read or signed.
    public private(set) var message: String
    /// One action that works from there. Nil where the code says all that there is to do.
    public package(set) var mend: String?
    /// The status of the HTTP answer that this comes from.
    public let httpStatus: Int?
    /// The code that the service gave, as it wrote it.
    public let serverCode: String?
    /// How long to wait before another try.
    public let retryAfter: Duration?
    /// The change that ``Code/invalidStateTransition`` refuses.
    public let stateTransition: (from: String, to: String)?
    /// The code of the error because of which this one came about, as that of the TPM which cannot attest.
    public package(set) var cause: Code?
    /// Where a text was refused: the offset of the byte.
    package internal(set) var byteOffset: Int?
    /// Whether the attestation CA is at fault, and not the service.
    package internal(set) var isOfAttestationCA = false
    /// Whether a message is on its way whose outcome is not known: the same call goes on with it.
    package internal(set) var isOutcomeOpen = false

    /// Makes an error; all but the code and the message may be left out.
    public init(
        _ code: Code, message: String, mend: String? = nil, httpStatus: Int? = nil, serverCode: String? = nil,
        retryAfter: Duration? = nil, stateTransition: (from: String, to: String)? = nil
    ) {
        self.code = code
        self.message = message
        self.mend = mend
        self.httpStatus = httpStatus
        self.serverCode = serverCode
        self.retryAfter = retryAfter
        self.stateTransition = stateTransition
    }

    /// The same error in other words.
    package func saying(_ message: String, mend: String? = nil) -> TenonError {
        var error = self
        error.message = message
        error.mend = mend ?? self.mend
        return error
    }

    /// The TPM's layer (bits 16-19) and response code (bits 0-15), when the TPM is the cause.
    public var tpmCode: UInt32? { code.tpmCode }
}

extension TenonError: Hashable {
    public static func == (left: TenonError, right: TenonError) -> Bool { left.code == right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

// SPDX-License-Identifier: Apache-2.0

/// The error that every throwing function of Tenon throws.
///
/// Switch on ``code``, or on its ``Code/category``, which says what a caller should do; show ``message`` to people.
/// Two errors are equal when their codes are.
public struct TenonError: Error, Sendable {
    /// The code of the error.
    public let code: Code
    /// The error in a sentence for a person. It never contains data that was read or signed.
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
    /// The code of the error that caused this one, for example of a TPM that cannot attest.
    public package(set) var cause: Code?
    /// Where a text was refused: the offset of the byte.
    package internal(set) var byteOffset: Int?
    /// Whether the attestation CA is at fault, and not the service.
    package internal(set) var isOfAttestationCA = false
    /// Whether a message with an unknown outcome is under way: the same call continues with it.
    package internal(set) var isOutcomeOpen = false

    /// Makes an error. Everything except the code and the message may be left out.
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

extension TenonError {
    /// The kind of error, which a caller acts on. The raw values are those of `tenon/status.h` and the exit codes of the command.
    ///
    /// Not an enum: a later version may know more.
    public struct Category: RawRepresentable, Hashable, Sendable {
        /// 1 to 11; see `tenon/status.h`.
        public let rawValue: Int32

        /// Takes a category by its number.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The caller's mistake: fix the call.
        public static let argument = Category(rawValue: 1)
        /// Bytes that are not what they claim: reject the input.
        public static let format = Category(rawValue: 2)
        /// A signature, proof, certificate or credential that fails a check: refuse the peer.
        public static let rejected = Category(rawValue: 3)
        /// Busy: try again later, with back-off.
        public static let transient = Category(rawValue: 4)
        /// No TPM, hierarchy off, parent missing: tell the operator.
        public static let unavailable = Category(rawValue: 5)
        /// The device node or file may not be opened.
        public static let permission = Category(rawValue: 6)
        /// Wrong or missing auth value, lockout: ask, or wait.
        public static let auth = Category(rawValue: 7)
        /// The key is lost for good: register again.
        public static let gone = Category(rawValue: 8)
        /// A bug, no memory, no randomness: report it.
        public static let `internal` = Category(rawValue: 9)
        /// Not registered, revoked, pending, not allowed now: do what the message says.
        public static let state = Category(rawValue: 10)
        /// Sent, no answer: ask again later, nothing was lost.
        public static let unknown = Category(rawValue: 11)
    }
}

extension TenonError {
    /// What went wrong: a status of the C core, or a code of a Swift module.
    ///
    /// The raw value is a `tenon_status` (`tenon/status.h`): bits 24-30 are the category, the rest the cause. Causes with
    /// bit 23 set are the TPM's; those with bit 22 set are of Swift modules and are never given by the C core. Each module
    /// declares its own codes, by number and name.
    ///
    /// Not an enum: a later version may know more. Switch with a `default`.
    public struct Code: RawRepresentable, Sendable {
        /// The `tenon_status`.
        public let rawValue: Int32
        /// The name of a code that the C core does not know.
        let name: String?

        /// Takes a status of the C core. A code of a Swift module has its name from its declaration only.
        public init(rawValue: Int32) { (self.rawValue, name) = (rawValue, nil) }

        /// Declares a code of a module.
        package init(_ rawValue: Int32, _ name: String) { (self.rawValue, self.name) = (rawValue, name) }

        /// What a caller should do about it.
        public var category: Category { Category(rawValue: rawValue >> 24 & 0x7f) }

        /// The TPM's layer (bits 16-19) and response code (bits 0-15), when the TPM is the cause.
        public var tpmCode: UInt32? { rawValue & 0x80_0000 == 0 ? nil : UInt32(rawValue & 0xf_ffff) }
    }
}

extension TenonError.Code: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

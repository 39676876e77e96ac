// SPDX-License-Identifier: Apache-2.0

extension TenonError {
    /// What a caller acts on. The raw values are those of `tenon/status.h` and the exit codes of the command.
    ///
    /// Not an enum: a later version may know more.
    public struct Category: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int32

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

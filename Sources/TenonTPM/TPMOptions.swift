// SPDX-License-Identifier: Apache-2.0
internal import CTenonTPM

extension TPM {
    /// How a TPM is opened.
    public struct Options: Sendable {
        /// Whether the names `swtpm:` and `mssim:` are accepted.
        public var allowSimulator: Bool
        /// How signatures of keys without an auth value are authorised.
        public var session: Session
        /// How long to wait for a busy TPM, for room in it, or for its node.
        public var deadline: Duration
        /// The auth value of the owner hierarchy, at most 32 bytes.
        public var ownerAuth: [UInt8]
        /// The auth value of the endorsement hierarchy, at most 32 bytes.
        public var endorsementAuth: [UInt8]
        /// Is told of each command after it was answered, on the thread that sent it; nil is not told. It must not use
        /// the TPM.
        public var trace: (@Sendable (Trace) -> Void)?

        /// Options with defaults for what is left out.
        public init(
            allowSimulator: Bool = false, session: Session = .password, deadline: Duration = .seconds(2),
            ownerAuth: [UInt8] = [], endorsementAuth: [UInt8] = [], trace: (@Sendable (Trace) -> Void)? = nil
        ) {
            self.allowSimulator = allowSimulator
            self.session = session
            self.deadline = deadline
            self.ownerAuth = ownerAuth
            self.endorsementAuth = endorsementAuth
            self.trace = trace
        }
    }

    /// How a command is authorised. A key with an auth value always has a salted session.
    public enum Session: Sendable {
        /// The permissions of the device node are the protection.
        case password
        /// An HMAC that is salted to the parent key. Without an auth value it does not protect against an attacker who
        /// changes the bytes on the bus.
        case salted
        /// Salted, and the first parameter is encrypted where the command allows it.
        case encrypted
    }
}

extension TPM.Options {
    /// The options as the core takes them, for the call.
    func withCore<Result>(_ body: (UnsafePointer<tenon_tpm_options>) -> Result) -> Result {
        ownerAuth.withUnsafeBufferPointer { owner in
            endorsementAuth.withUnsafeBufferPointer { endorsement in
                var core = tenon_tpm_options()
                core.size = MemoryLayout<tenon_tpm_options>.size
                core.allow_simulator = allowSimulator ? 1 : 0
                core.session = session.core
                core.deadline_ms = deadlineInMilliseconds
                core.owner_auth = owner.baseAddress
                core.owner_auth_n = owner.count
                core.endorsement_auth = endorsement.baseAddress
                core.endorsement_auth_n = endorsement.count
                return withUnsafePointer(to: core, body)
            }
        }
    }

    /// Zero would select the core's default, so the minimum is one.
    private var deadlineInMilliseconds: UInt32 {
        let (seconds, attoseconds) = deadline.components
        guard seconds < Int64(UInt32.max / 1000) else { return .max }
        return seconds < 0 ? 1 : UInt32(max(1, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
}

extension TPM.Session {
    fileprivate var core: UInt32 {
        switch self {
        case .password: UInt32(TENON_TPM_SESSION_PASSWORD)
        case .salted: UInt32(TENON_TPM_SESSION_SALTED)
        case .encrypted: UInt32(TENON_TPM_SESSION_ENCRYPTED)
        }
    }
}

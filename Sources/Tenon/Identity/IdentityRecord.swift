// SPDX-License-Identifier: Apache-2.0

/// All that a device knows of an identity: one value, one file, and the only place where an identity is committed.
package struct IdentityRecord: Equatable, Sendable {
    package let name: IdentityName
    /// `scheme://host[:port]` of the service.
    package let origin: String
    package internal(set) var dialect: String
    package let platform: String
    /// What people call the key; a datum, never part of a file's name.
    package let alias: String
    /// Whether a build with the trait `DevMode` wrote it.
    package let isDev: Bool

    package private(set) var state = IdentityState.unregistered
    /// Why the key is invalid, when it is.
    package private(set) var cause: IdentityReason?
    /// Beside ``IdentityState/registered`` and ``IdentityState/keyInvalid``: only a reset leaves it.
    package internal(set) var isRevoked = false
    package internal(set) var keys: [IdentityKey] = []
    /// No generation's number is given twice.
    package internal(set) var lastGeneration = 0
    package internal(set) var journal: Journal?
    /// The last slot for which a message was made.
    package internal(set) var lastSlot: Int64?
    /// Whether the key that was offered signs: the service refused the signature of the current one, and did not say
    /// yet that it holds this one.
    package var signsByNext = false

    package var attestationKey: AttestationKey?
    package var attestation: AttestationLevel?
    /// SHA-256 of the SPKI of the TPM's endorsement key, where it is known. Never in a log.
    package var ekID: Digest?
    package var deviceID: String?
    /// A UUID of version 4, drawn by the device.
    package var deviceLocalID: String
    /// In seconds since 1970.
    package var registeredAt: Int64?
    package var keyRotatedAt: Int64?
    /// When the service first refused all keys.
    package var refusedAt: BootMoment?
    package var clock: ClockOffset?
    package var signatureVersions: [Int64] = []
    /// What the device was told for its attestation, so that it need not be told again. It outlives a reset, as the
    /// service's name and the dialect do.
    package var attestationSettings: AttestationSettings?
    /// The keys up to this generation were reported as compromised: they are changed as soon as that can be.
    package internal(set) var compromisedGeneration: Int?

    package enum AttestationLevel: String, CaseIterable, Sendable {
        case attested, unattested
    }

    /// An identity of which nothing is known yet.
    package init(
        _ name: IdentityName, origin: String, dialect: String, platform: String = "linux", alias: String,
        deviceLocalID: String, isDev: Bool = false
    ) {
        self.name = name
        self.origin = origin
        self.dialect = dialect
        self.platform = platform
        self.alias = alias
        self.deviceLocalID = deviceLocalID
        self.isDev = isDev
    }

    /// Takes a state as it was written, for the reader of records.
    init(restoring state: IdentityState, cause: IdentityReason?, in record: IdentityRecord) {
        self = record
        (self.state, self.cause) = (state, cause)
    }

    /// The one function that changes the state.
    ///
    /// - Parameter cause: why the key is invalid; given with ``IdentityState/keyInvalid`` and with no other state.
    /// - Throws: ``TenonError/Code/invalidStateTransition`` for whatever the documents do not allow; nothing is
    ///   changed.
    package mutating func move(
        to next: IdentityState, by step: IdentityStep = .edge, because cause: IdentityReason? = nil
    ) throws(TenonError) {
        guard step.leads(from: state, to: next), mayLeave(by: step, to: next),
            (cause?.invalidatesKey ?? false) == (next == .keyInvalid)
        else { throw TenonError(from: state, to: next) }
        (state, self.cause) = (next, cause)
        signsByNext = signsByNext && mayTryNext
    }

    /// Whether the key that was offered may be the one that signs. Another TPM says nothing of what a service said.
    var mayTryNext: Bool {
        switch state {
        case .registering, .registered: key(.next)?.isOffered == true
        case .keyInvalid: key(.next)?.isOffered == true && cause != .superseded
        case .unregistered, .challengeReceived, .keyReady: false
        }
    }

    /// An unknown rotation is never a failure (decision: open-outcome); what is revoked does not begin anew by itself.
    private func mayLeave(by step: IdentityStep, to next: IdentityState) -> Bool {
        if step == .reset { return true }
        if state == .registering, next == .unregistered { return journal?.operation != .rotate }
        return !isRevoked || next == .keyInvalid
    }

    /// What the state does not say; the gravest of all.
    package var reason: IdentityReason? {
        if let cause { return cause }
        if isRevoked { return .revoked }
        if journal?.awaitsApproval == true { return .approvalPending }
        return journal?.operation == .rotate || key(.next)?.isOffered == true ? .rotationPending : nil
    }

    package func key(_ role: KeyRole) -> IdentityKey? { keys.first { $0.role == role } }

    /// The facts of the key that a file holds.
    func facts(of file: KeyFile) -> KeyFacts? {
        switch file {
        case .attestation: attestationKey?.facts
        case .generation(let number): keys.first { $0.generation == number }?.facts
        }
    }

    /// The files of its keys.
    var keyFiles: [KeyFile] {
        keys.map { .generation($0.generation) } + (attestationKey == nil ? [] : [.attestation])
    }
}

/// What an attestation was made with that a service took.
package struct AttestationSettings: Equatable, Sendable {
    /// The attestation CA, where there is one, and the certificates that its own chain to.
    package var service: DeviceIdentity.AttestationService?
    /// The endorsement key's certificate and those above it, leaf first (DER); none where there are none above.
    package var endorsement: [[UInt8]]

    package init(service: DeviceIdentity.AttestationService? = nil, endorsement: [[UInt8]] = []) {
        self.service = service
        self.endorsement = endorsement
    }

    /// More is not kept: a record has its limit, and has to be told each time.
    package static let longest = 65_536

    var size: Int {
        let certificates = (service?.roots ?? []) + endorsement
        return certificates.reduce(service?.url.utf8.count ?? 0) { $0 + $1.count }
    }
}

extension TenonError {
    init(from: IdentityState, to: IdentityState) {
        self.init(
            .invalidStateTransition, message: "The state may not change from \(from.rawValue) to \(to.rawValue) now.",
            stateTransition: (from.rawValue, to.rawValue))
    }
}

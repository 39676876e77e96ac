// SPDX-License-Identifier: Apache-2.0

/// Everything that a device knows about an identity: one value in one file, whose write is the commit.
package struct IdentityRecord: Equatable, Sendable {
    package let name: IdentityName
    /// `scheme://host[:port]` of the service.
    package let origin: String
    package internal(set) var dialect: String
    package let platform: String
    /// The name that people give the key; only data, never part of a file's name.
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
    /// The last message that the service took, where messages have numbers.
    package internal(set) var logTail: LogTail?
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
    /// nil as long as the service has announced nothing: version 1 for all hosts.
    package internal(set) var signing: SigningTerms?
    /// The settings of the last accepted attestation, so that nobody has to give them again. Like the service's name
    /// and the dialect, they outlive a reset.
    package var attestationSettings: AttestationSettings?
    /// The keys up to this generation were reported as compromised: they are changed as soon as that can be.
    package internal(set) var compromisedGeneration: Int?

    package enum AttestationLevel: String, CaseIterable, Sendable {
        case attested, unattested
    }

    /// An identity without a record.
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

    /// A rotation with an unknown outcome never counts as a failure (decision: open-outcome); a revoked identity never
    /// starts again by itself.
    private func mayLeave(by step: IdentityStep, to next: IdentityState) -> Bool {
        if step == .reset { return true }
        if state == .registering, next == .unregistered { return journal?.operation != .rotate }
        return !isRevoked || next == .keyInvalid
    }

    /// The detail that the state alone does not express; if there are several reasons, the gravest.
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

// How a record is written and read: each member stands here once, with what is allowed in it. Every member of a version
// is there always; what is not known is null.
extension IdentityRecord: RecordObject {
    /// 4 has how the service takes requests. 3 has the last message of a log, and the keys to which messages are bound. 2 has what the device was told for its attestation, which keys were reported as compromised, which key signs while
    /// a rotation is not settled, and from which moment of the boot on a new one counts.
    static let version: Int64 = 4

    static func coded(_ coder: RecordCoder, _ known: IdentityRecord?) throws(TenonError) -> IdentityRecord {
        _ = try coder.member("version", coder.version, .number)
        let name = try IdentityName(
            profile: coder.member("profile", known?.name.profile, .text),
            baseURL: coder.member("base_url", known?.name.baseURL, .text),
            appID: coder.member("app_id", known?.name.appID, .text))
        var record = try IdentityRecord(
            name, origin: coder.member("origin", known?.origin, .text { $0.isVisible(atMost: 2048) }),
            dialect: coder.member("dialect", known?.dialect, .text { $0.isVisible(atMost: 64) }),
            platform: coder.member("platform", known?.platform, .text { $0.isVisible(atMost: 64) }),
            alias: coder.member("alias", known?.alias, .text { $0.isVisible(atMost: 512) }),
            deviceLocalID: coder.member("device_local_id", known?.deviceLocalID, .text(where: \.isUUID4)),
            isDev: coder.member("dev", known?.isDev, .flag))
        let state = try coder.member("state", known?.state, .choice)
        let reason = try coder.optional("reason", known?.reason, .choice)
        (record.state, record.cause) = (state, state == .keyInvalid ? reason : nil)
        try record.takeKeys(coder, known)
        try record.takeFacts(coder, known)
        return record
    }

    private mutating func takeKeys(_ coder: RecordCoder, _ known: IdentityRecord?) throws(TenonError) {
        keys = try coder.member("keys", known?.keys, .list(.object))
        lastGeneration = try coder.member("last_generation", known?.lastGeneration, .count)
        attestationKey = try coder.optional("ak", known?.attestationKey, .object)
        ekID = try coder.optional("ek_id", known?.ekID, .digest)
        journal = try coder.optional("journal", known?.journal, .object)
        lastSlot = try coder.optional("last_slot", known?.lastSlot, .number)
        logTail = try coder.optional("log_tail", known?.logTail, .object, since: 3)
        signsByNext = try coder.optional("signs_by_next", known?.signsByNext, .flag, since: 2) ?? false
        compromisedGeneration = try coder.optional(
            "compromised_generation", known?.compromisedGeneration, .count, since: 2)
    }

    private mutating func takeFacts(_ coder: RecordCoder, _ known: IdentityRecord?) throws(TenonError) {
        isRevoked = try coder.member("revoked", known?.isRevoked, .flag)
        deviceID = try coder.optional("device_id", known?.deviceID, .text(where: IdentityName.isDeviceID))
        registeredAt = try coder.optional("registered_at", known?.registeredAt, .number)
        keyRotatedAt = try coder.optional("key_rotated_at", known?.keyRotatedAt, .number)
        refusedAt = try coder.optional("refused_at", known?.refusedAt, .object)
        clock = try coder.optional("clock", known?.clock, .object)
        attestation = try coder.optional("attestation", known?.attestation, .choice)
        attestationSettings = try coder.optional(
            "attestation_settings", known?.attestationSettings, .object, since: 2)
        signatureVersions = try coder.member("sig_versions", known?.signatureVersions, .list(.number))
        signing = try coder.optional("signing", known?.signing, .object, since: 4)
    }

    /// Checks what must hold for every record, before it is written and after it is read.
    func validate() throws(TenonError) {
        try demand(keys.allSatisfy { $0.generation >= 1 && $0.generation <= lastGeneration }, "generations")
        try demand(Set(keys.map(\.generation)).count == keys.count, "generations")
        try demand(Set(keys.map(\.role)).count == keys.count, "roles")
        try demand(keys.isEmpty || key(.current) != nil, "roles")
        try demand((attestationSettings?.size ?? 0) <= AttestationSettings.longest, "attestation_settings")
        try demand((compromisedGeneration ?? 0) <= lastGeneration, "compromised_generation")
        try demand(logTail.map { 0...(lastSlot ?? -1) ~= $0.sequence } ?? true, "log_tail")
        try validateState()
        if let journal { try validate(journal) }
    }

    private func validateState() throws(TenonError) {
        switch state {
        case .unregistered, .challengeReceived: break
        case .keyReady: try demand(key(.current) != nil, "state")
        case .registering: try demand(journal != nil, "state")
        case .registered: try demand(key(.current)?.isOffered == true, "state")
        case .keyInvalid: try demand(cause?.invalidatesKey == true, "reason")
        }
        try demand(!isRevoked || state == .registered || state == .keyInvalid, "revoked")
        try demand(!signsByNext || mayTryNext, "signs_by_next")
    }

    private func validate(_ journal: Journal) throws(TenonError) {
        do throws(TenonError) { try checkKeys(of: journal) } catch { throw Self.malformed("journal") }
        let states: [IdentityState] =
            switch journal.operation {
            case .register: [.unregistered, .challengeReceived, .keyReady, .registering, .keyInvalid]
            case .rotate: [.registered, .registering, .keyInvalid]
            }
        try demand(states.contains(state), "journal")
        let new = keys.first { $0.generation == journal.newGeneration }
        try demand(journal.phase == .prepared || new?.isOffered == true, "journal")
        try demand(!journal.awaitsApproval || journal.operation == .register, "journal")
        try demand(journal.effectiveAt == nil || journal.operation == .rotate, "journal")
        try demand(journal.effectiveFrom == nil || journal.effectiveAt != nil, "journal")
        try demand(journal.slot == nil || journal.slot == lastSlot, "journal")
        let committed = keys.first { $0.generation == journal.committedGeneration }
        try demand(journal.committedGeneration == nil || committed != nil, "journal")
        try demand(journal.phase == .prepared || committed?.isCommitted != false, "journal")
        try demand(journal.message.count <= Journal.longestMessage, "journal")
    }

    private func demand(_ condition: Bool, _ what: String) throws(TenonError) {
        guard condition else { throw Self.malformed(what) }
    }

    static func malformed(_ what: String) -> TenonError {
        TenonError(.recordForm, message: "The record is malformed: \(what).")
    }
}

extension TenonError {
    init(from: IdentityState, to: IdentityState) {
        self.init(
            .invalidStateTransition, message: "The state cannot change from \(from.rawValue) to \(to.rawValue) now.",
            stateTransition: (from.rawValue, to.rawValue))
    }
}

/// The settings of an attestation that a service accepted.
package struct AttestationSettings: Equatable, Sendable {
    /// The attestation CA, where there is one, and the certificates that its own chain to.
    package var service: DeviceIdentity.AttestationService?
    /// The endorsement key's certificate and those above it, leaf first (DER).
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

extension AttestationSettings: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: AttestationSettings?) throws(TenonError) -> AttestationSettings {
        let url = try coder.optional("ca_url", known?.service?.url, .text)
        let roots = try coder.member("ca_roots", known.map { $0.service?.roots ?? [] }, .list(.base64))
        return AttestationSettings(
            service: url.map { .init(url: $0, roots: roots) },
            endorsement: try coder.member("ek_chain", known?.endorsement, .list(.base64)))
    }
}

// SPDX-License-Identifier: Apache-2.0
import Tenon

/// Records as the flows leave them, each made by its steps.
enum RecordShape: String, CaseIterable {
    case fresh, challenged, keyReady, abandoned
    case registerPrepared, registerSent, registerUnknown, registerPending
    case registered, rotatePrepared, rotateSent, rotateUnknown, rotateAccepted, rotateRefused, rotateTried
    case promoted, retired
    case slotPrepared, slotSent, slotRotating, logPrepared, logSent, logged
    case cleared, foreign, superseded, clearedWhileRotating, revoked, revokedWhileRotating, revokedAndCleared
    case revived, rejected, wiped, reset

    static let local = "0b9ea3c1-5a31-4c1f-9d0e-3f1e55f1a001"
    static let otherLocal = "0b9ea3c1-5a31-4c1f-9d0e-3f1e55f1a002"

    static func name(_ appID: String = "app") throws(TenonError) -> IdentityName {
        try IdentityName(profile: "synheart", baseURL: "https://auth.example/v1/", appID: appID)
    }

    static func facts(_ number: UInt8) throws(TenonError) -> KeyFacts {
        let pem = "tenon-parent: 000b\(number)7\n-----BEGIN TSS2 PRIVATE KEY-----\n\(number)\n"
        return try KeyFacts(
            pem: Array(pem.utf8), name: [0, 11, number], parent: [0, 11, 0xaa, number], witness: [0, 11, 0xbb, number])
    }

    static func moment(_ milliseconds: Int64) -> BootMoment { BootMoment(milliseconds: milliseconds, boot: "boot-1") }

    static func fresh(_ name: IdentityName) -> IdentityRecord {
        IdentityRecord(
            name, origin: "https://auth.example", dialect: "docs", alias: "synheart_auth_\(name.appID)",
            deviceLocalID: local)
    }

    func record(_ name: IdentityName? = nil) throws(TenonError) -> IdentityRecord {
        let standard = try Self.name()
        var record = Self.fresh(name ?? standard)
        try build(&record)
        return record
    }

    private var before: Self? {
        switch self {
        case .fresh: nil
        case .challenged: .fresh
        case .keyReady: .challenged
        case .abandoned, .registerPrepared, .slotPrepared, .logPrepared: .keyReady
        case .registerSent: .registerPrepared
        case .registerUnknown, .registered: .registerSent
        case .registerPending, .rejected: .registerUnknown
        case .rotatePrepared, .cleared, .foreign, .superseded, .revoked: .registered
        case .rotateSent: .rotatePrepared
        case .rotateUnknown: .rotateSent
        case .rotateAccepted, .rotateRefused, .rotateTried, .promoted, .clearedWhileRotating, .revokedWhileRotating:
            .rotateUnknown
        case .retired: .promoted
        case .slotSent: .slotPrepared
        case .logSent: .logPrepared
        case .logged: .logSent
        case .slotRotating: .slotSent
        case .revokedAndCleared: .revoked
        case .revived: .clearedWhileRotating
        case .wiped: .cleared
        case .reset: .revokedWhileRotating
        }
    }

    private func build(_ record: inout IdentityRecord) throws(TenonError) {
        try before?.build(&record)
        switch self {
        case .fresh, .challenged, .keyReady, .abandoned, .registerPrepared, .registerSent, .registerUnknown,
            .registerPending, .registered, .rejected, .slotPrepared, .slotSent, .logPrepared, .logSent:
            try register(&record)
        case .cleared, .foreign, .superseded, .clearedWhileRotating, .revoked, .revokedWhileRotating,
            .revokedAndCleared, .revived, .wiped, .reset:
            try end(&record)
        default: try rotate(&record)
        }
    }

    private func register(_ record: inout IdentityRecord) throws(TenonError) {
        switch self {
        case .challenged: try record.move(to: .challengeReceived)
        case .keyReady:
            try record.add(Self.facts(1), as: .current, generation: 1, isHardware: true)
            try record.move(to: .keyReady)
        case .abandoned: try record.move(to: .unregistered, by: .abandon)
        case .registerPrepared:
            try record.begin(.register(1, message: [1, 2, 3]))
            try record.move(to: .registering)
        case .slotPrepared:
            try record.begin(.register(1, message: [9], resend: .identical, slot: 0))
            try record.move(to: .registering)
        case .logPrepared:
            try record.add(Self.facts(2), as: .next, generation: 2, isHardware: true)
            try record.begin(.register(1, committing: 2, message: [9], resend: .identical, slot: 0))
            try record.move(to: .registering)
        case .registerSent, .slotSent, .logSent: try record.markSent()
        case .registerUnknown: try record.move(to: .unregistered)
        case .registerPending: try record.awaitApproval()
        case .rejected: try record.reject()
        case .registered: try registered(&record)
        default: break
        }
    }

    private func registered(_ record: inout IdentityRecord) throws(TenonError) {
        try record.move(to: .registered)
        record.settle()
        (record.deviceID, record.registeredAt, record.attestation) = ("dev-1", 1_700_000_000, .attested)
        record.clock = ClockOffset(
            milliseconds: -1500, learntAt: 1_700_000_000_000, wallLessBoot: 1_600_000_000_000, boot: "boot-1")
        record.signatureVersions = [1, 2]
        record.follow(SigningTerms(versions: [1, 2], hosts: ["api.example"], mostMembers: 64), mayWiden: true)
        record.ekID = try Digest(hashing: [1])
        record.attestationKey = AttestationKey(
            facts: try Self.facts(100), shownTo: "https://auth.example", isActivated: true,
            certificate: .init(
                issuer: "https://auth.example", serial: [1, 2], notBefore: 1_700_000_000, notAfter: 1_800_000_000,
                digest: try Digest(hashing: [2])))
    }

    private func rotate(_ record: inout IdentityRecord) throws(TenonError) {
        switch self {
        case .rotatePrepared:
            try record.add(Self.facts(2), as: .next, generation: 2, isHardware: true)
            try record.begin(.rotate(from: 1, to: 2, message: [4, 5]))
            try record.move(to: .registering)
        case .rotateSent: try record.markSent()
        case .rotateUnknown: try record.move(to: .registered)
        case .rotateAccepted:
            try record.accept(effectiveAt: 1_700_000_500, from: Self.moment(500_000))
        case .rotateRefused:
            record.settle()
            record.refusedAt = Self.moment(400_000)
        case .rotateTried: try record.tryNext()
        case .logged:
            try record.move(to: .registered)
            record.settle()
            record.took(LogTail(sequence: 0, digest: "digest"))
        case .promoted: try record.promote(at: 1_700_000_600)
        case .retired: record.retirePrevious()
        case .slotRotating:
            try record.move(to: .registered)
            record.settle()
            try record.add(Self.facts(2), as: .next, generation: 2, isHardware: true)
            try record.begin(.rotate(from: 1, to: 2, message: [8], resend: .identical, slot: 1))
            try record.move(to: .registering)
        default: break
        }
    }

    private func end(_ record: inout IdentityRecord) throws(TenonError) {
        switch self {
        case .cleared, .clearedWhileRotating, .revokedAndCleared:
            try record.move(to: .keyInvalid, because: .tpmCleared)
        case .foreign: try record.move(to: .keyInvalid, because: .foreignTPM)
        case .superseded: try record.move(to: .keyInvalid, because: .superseded)
        case .revoked, .revokedWhileRotating: try record.revoke()
        case .revived: try record.revive()
        case .wiped: try record.wipe()
        case .reset: try record.reset(deviceLocalID: Self.otherLocal)
        default: break
        }
    }
}

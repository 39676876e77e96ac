// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// A store of devices whose changes are in the audit log before anybody is told of them (security.md F5).
///
/// The store goes first: a line tells only of what has happened. When the line cannot be written, the caller is told
/// that it failed; the same call again finds what has happened, and writes its line.
package struct AuditedDeviceStore: DeviceStore {
    private let store: any DeviceStore
    private let log: AuditLog

    package init(_ store: any DeviceStore, log: AuditLog) {
        self.store = store
        self.log = log
    }

    package func register(
        _ registration: DeviceRegistration, at now: AuthorityInstant
    ) async throws(TenonError) -> DeviceRegistration.Outcome {
        let outcome = try await store.register(registration, at: now)
        switch outcome {
        case .registered(let device): try await log.append(AuditEvent(.registered, device))
        case .known(let device): try await log.append(AuditEvent(.registeredAgain, device))
        case .refused: break
        }
        return outcome
    }

    package func rotate(
        _ rotation: KeyRotation, at now: AuthorityInstant
    ) async throws(TenonError) -> KeyRotation.Outcome {
        let outcome = try await store.rotate(rotation, at: now)
        switch outcome {
        case .rotated(let device): try await log.append(AuditEvent(.rotated, device))
        case .current(let device): try await log.append(AuditEvent(.rotatedAgain, device))
        case .refused: break
        }
        return outcome
    }

    package func revoke(
        _ revocation: Revocation, reason: String, at now: AuthorityInstant
    ) async throws(TenonError) -> Revocation.Outcome {
        let outcome = try await store.revoke(revocation, reason: reason, at: now)
        var details: [String: JSON] = [
            "certificates": .integer(Int64(outcome.certificates)), "reason": .string(reason),
        ]
        switch revocation {
        case .device(let app, let id, let compromised):
            guard outcome.found else { break }
            details["compromised"] = .bool(compromised)
            try await log.append(AuditEvent(.deviceRevoked, app: app, device: id, details: details))
        case .certificate(let serial):
            guard outcome.found else { break }
            details["serial"] = .string(TextEncoding.hex.encode(serial))
            try await log.append(AuditEvent(.certificateRevoked, details: details))
        case .ek:
            try await log.append(AuditEvent(.ekDenied, details: details))
        }
        return outcome
    }

    package func allow(ek: Digest, reason: String) async throws(TenonError) -> Bool {
        let wasDenied = try await store.allow(ek: ek, reason: reason)
        if wasDenied { try await log.append(AuditEvent(.ekAllowed, details: ["reason": .string(reason)])) }
        return wasDenied
    }

    package func record(_ certificate: AKCertificate) async throws(TenonError) -> Bool {
        guard try await store.record(certificate) else { return false }
        let serial = JSON.string(TextEncoding.hex.encode(certificate.serial))
        try await log.append(
            AuditEvent(
                .certificateIssued, app: certificate.app, device: certificate.device, details: ["serial": serial]))
        return true
    }

    package func retiredKeyUsed(
        _ key: PublicKey, at now: AuthorityInstant
    ) async throws(TenonError) -> RetiredKeyUse {
        let use = try await store.retiredKeyUsed(key, at: now)
        // Not each of them: whoever has the copy may use it as often as he likes.
        if case .alarm(let device, let uses) = use, uses & (uses - 1) == 0 {
            try await log.append(AuditEvent(.retiredKeyUsed, device: device, details: ["uses": .integer(uses)]))
        }
        return use
    }

    package func device(app: String, id: String) async throws(TenonError) -> Device? {
        try await store.device(app: app, id: id)
    }

    package func retiredKeys(ofDevice id: String, limit: Int) async throws(TenonError) -> [RetiredKey] {
        try await store.retiredKeys(ofDevice: id, limit: limit)
    }

    package func certificate(serial: [UInt8]) async throws(TenonError) -> AKCertificate? {
        try await store.certificate(serial: serial)
    }

    package func isDenied(ek: Digest) async throws(TenonError) -> Bool { try await store.isDenied(ek: ek) }

    package func devices(
        app: String?, from place: Int64?, limit: Int
    ) async throws(TenonError) -> DevicePage {
        try await store.devices(app: app, from: place, limit: limit)
    }
}

extension AuditEvent {
    fileprivate init(_ kind: Kind, _ device: Device) {
        var details: [String: JSON] = ["level": .string(device.level.rawValue)]
        details["serial"] = device.akSerial.map { .string(TextEncoding.hex.encode($0)) }
        self.init(kind, app: device.app, device: device.id, details: details)
    }
}

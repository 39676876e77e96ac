// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The single transaction of a registration.
struct SQLRegistration {
    let registration: DeviceRegistration
    let now: AuthorityInstant
    let connection: any SQLConnection

    private var device: Device { registration.device }

    func run() throws(TenonError) -> DeviceRegistration.Outcome {
        if let refusal = try refusal { return .refused(refusal) }
        if let stored = try StoredKey.find(device.publicKey, in: connection) { return try known(stored) }
        if try hasTooManyDevices { return .refused(.tooManyDevices) }
        if try hasTooManyPending { return .refused(.tooManyPending) }
        guard let serial = try serial(of: device.state) else { return .refused(.certificate) }
        var device = device
        device.akSerial = serial.value
        guard try insert(device) else { return .refused(.idInUse) }
        try finish(device)
        return .registered(device)
    }

    /// The refusals that do not depend on the key.
    private var refusal: DeviceRegistration.Refusal? {
        get throws(TenonError) {
            if let ek = device.attestation?.ek, try connection.isDenied(ek) { return .ekDenied }
            guard let challenge = registration.challenge else { return nil }
            let spent = try connection.run("SELECT 1 FROM spent_challenges WHERE hash=?", SQLValue(challenge))
            return spent.isEmpty ? nil : .challengeSpent
        }
    }

    /// Registering a key again is how a device repairs a lost answer (decision: same-key-again).
    private func known(_ stored: StoredKey) throws(TenonError) -> DeviceRegistration.Outcome {
        guard var known = try connection.device(id: stored.device) else { throw .damaged("a key of no device") }
        if known.app != device.app { return .refused(.keyInUse) }
        if known.state == .revoked { return .refused(.revoked(deviceID: known.id)) }
        if known.state == .rejected { return .refused(.rejected) }
        if stored.retiredAt != nil { return .refused(.keyRetired) }
        guard isSame(as: known) else { return .refused(.keyInUse) }
        if registration.hasGivenID && known.id != device.id { return .refused(.idInUse) }
        // A device that no longer needs an operator stops waiting for one; a device that was admitted stays admitted.
        let isNew = known.state == .pending && device.state == .active
        if isNew { known.state = .active }
        guard let serial = try serial(of: known.state) else { return .refused(.certificate) }
        known.akSerial = serial.value ?? known.akSerial
        known.level = device.level
        if known.attestation?.akName != device.attestation?.akName { known.attestation = device.attestation }
        if device.level == .attested { known.signatureVersions = device.signatureVersions }
        try connection.run(
            """
            UPDATE devices SET state=?, ak_serial=?, level=?, ak_name=?, ak_public=?, signature_versions=? WHERE id=?
            """,
            .text(known.state.rawValue), SQLValue(known.akSerial), .text(known.level.rawValue),
            SQLValue(known.attestation?.akName), SQLValue(known.attestation?.akPublic), known.storedVersions,
            .text(known.id))
        try finish(known)
        return isNew ? .registered(known) : .known(known)
    }

    /// A device is known by its key and its TPM: the attestation key may have been lost and another one activated
    /// (decision: command-and-code). A device that a rotation has marked unattested is attested again by its own TPM.
    private func isSame(as known: Device) -> Bool {
        known.attestation?.ek == device.attestation?.ek
            && (known.level == device.level || known.level == .unattested && device.level == .attested)
    }

    private var hasTooManyDevices: Bool {
        get throws(TenonError) {
            guard let limit = registration.maxDevicesPerEK, let ek = device.attestation?.ek else { return false }
            let rows = try connection.run(
                "SELECT count(*) FROM devices WHERE ek=? AND app=? AND state IN ('active', 'pending')", SQLValue(ek),
                .text(device.app))
            return try rows.first?.integer(0) ?? 0 >= limit
        }
    }

    private var hasTooManyPending: Bool {
        get throws(TenonError) {
            guard device.state == .pending else { return false }
            let rows = try connection.run(
                "SELECT count(*) FROM devices WHERE app=? AND state='pending'", .text(device.app))
            return try rows.first?.integer(0) ?? 0 >= registration.maxPending
        }
    }

    private struct Serial {
        let value: [UInt8]?
    }

    /// The serial that the device gets; nil when the certificate is refused. A pending device gets no certificate.
    private func serial(of state: Device.State) throws(TenonError) -> Serial? {
        switch registration.certificate {
        case nil: return Serial(value: nil)
        case .issued(let certificate):
            return fits(certificate) ? Serial(value: state == .active ? certificate.serial : nil) : nil
        case .shown(let serial):
            guard let certificate = try AKCertificate.find(serial, in: connection), fits(certificate) else {
                return nil
            }
            return Serial(value: serial)
        }
    }

    private func fits(_ certificate: AKCertificate) -> Bool {
        certificate.isLive && certificate.app == device.app && certificate.ek == device.attestation?.ek
            && certificate.akName == device.attestation?.akName && certificate.notAfter > now.seconds
    }

    /// False if another device has the id.
    private func insert(_ device: Device) throws(TenonError) -> Bool {
        let places = Array(repeating: "?", count: device.values.count).joined(separator: ",")
        try connection.run(
            "INSERT INTO devices (\(Device.columns)) VALUES (\(places)) ON CONFLICT (id) DO NOTHING", device.values)
        guard connection.changes == 1 else { return false }
        try StoredKey.insert(device.publicKey, device: device.id, generation: 0, into: connection)
        return true
    }

    /// The rows that every success leaves.
    private func finish(_ device: Device) throws(TenonError) {
        switch registration.certificate {
        case nil: break
        case .issued where device.state != .active: break
        case .issued(var certificate):
            certificate.device = device.id
            try certificate.insert(into: connection)
        case .shown(let serial):
            try connection.run(
                "UPDATE certificates SET device=? WHERE serial=?", .text(device.id), .blob(serial))
        }
        if let challenge = registration.challenge {
            try connection.run(
                "INSERT INTO spent_challenges VALUES (?, ?)", SQLValue(challenge), .integer(now.seconds))
        }
        try registration.alongside?(device, connection)
    }
}

/// The single transaction of an approval.
struct SQLApproval {
    let approval: Approval
    let connection: any SQLConnection

    func run(_ id: String) throws(TenonError) -> Approval.Outcome {
        guard var device = try connection.device(id: id) else { return .unknownDevice }
        let decided = approval == .approve ? Device.State.active : .rejected
        guard device.state != decided else { return .already(device) }
        guard device.state == .pending else { return .notPending(device) }
        if approval == .approve, let ek = device.attestation?.ek, try connection.isDenied(ek) {
            return .ekDenied(device)
        }
        device.state = decided
        try connection.run("UPDATE devices SET state=? WHERE id=?", .text(decided.rawValue), .text(id))
        return .decided(device)
    }
}

/// The single transaction of a rotation.
struct SQLRotation {
    let rotation: KeyRotation
    let now: AuthorityInstant
    let connection: any SQLConnection

    func run() throws(TenonError) -> KeyRotation.Outcome {
        guard let device = try connection.device(id: rotation.deviceID), device.app == rotation.app else {
            return .refused(.unknownDevice)
        }
        guard device.state == .active else { return .refused(device.state == .revoked ? .revoked : .unknownDevice) }
        guard let present = try StoredKey.find(device.publicKey, in: connection) else {
            throw .damaged("a device without its key")
        }
        if rotation.newKey == device.publicKey {
            return try askedAgain(device, present) ? .current(device) : .refused(.superseded)
        }
        guard rotation.signer == device.publicKey, rotation.vouching != .nothing || device.level != .attested else {
            return .refused(.superseded)
        }
        guard try StoredKey.find(rotation.newKey, in: connection) == nil else { return .refused(.keyInUse) }
        return .rotated(try swap(device, generation: present.generation))
    }

    /// The present key, or the previous one, asks for a rotation that is already done.
    private func askedAgain(_ device: Device, _ present: StoredKey) throws(TenonError) -> Bool {
        if rotation.signer == device.publicKey { return true }
        let signer = try StoredKey.find(rotation.signer, in: connection)
        return signer?.device == device.id && signer?.generation == present.generation - 1
    }

    private func swap(_ device: Device, generation: Int64) throws(TenonError) -> Device {
        var device = device
        try connection.run(
            "UPDATE keys SET retired_at=? WHERE hash=?", .integer(now.seconds), StoredKey.hash(device.publicKey))
        try StoredKey.insert(rotation.newKey, device: device.id, generation: generation + 1, into: connection)
        device.publicKey = rotation.newKey
        device.thumbprint = rotation.newThumbprint
        device.keyRotatedAt = now.seconds
        if rotation.vouching == .nothingAndMarked && device.level == .attested { device.level = .unattested }
        device.signatureVersions = rotation.signatureVersions ?? device.signatureVersions
        try connection.run(
            "UPDATE devices SET key=?, thumbprint=?, key_rotated_at=?, level=?, signature_versions=? WHERE id=?",
            .blob(rotation.newKey.rawRepresentation), .text(rotation.newThumbprint), .integer(now.seconds),
            .text(device.level.rawValue), device.storedVersions, .text(device.id))
        return device
    }
}

/// The single transaction of a revocation.
struct SQLRevocation {
    let now: AuthorityInstant
    let connection: any SQLConnection
    /// Whether this only says what would change, and changes nothing.
    var isDry = false

    func run(_ revocation: Revocation) throws(TenonError) -> Revocation.Outcome {
        switch revocation {
        case .device(let app, let id, let compromised): try revokeDevice(app, id, compromised)
        case .certificate(let serial): try revokeCertificate(serial)
        case .ek(let ek): try deny(ek)
        }
    }

    private func revokeDevice(
        _ app: String, _ id: String, _ compromised: Bool
    ) throws(TenonError) -> Revocation.Outcome {
        guard let device = try connection.device(id: id), device.app == app else {
            return Revocation.Outcome(found: false)
        }
        // A certificate that the device showed may be recorded for another device with the same AK.
        var certificates = try revokeCertificates("device=? OR serial=?", .text(id), SQLValue(device.akSerial))
        guard let ek = device.attestation?.ek else {
            let revoked = try revoke("id=?", .text(id))
            return Revocation.Outcome(
                device: revoked.first, devices: revoked, certificates: certificates, tpm: .unknown, found: true)
        }
        var tpm = Revocation.TPM.denied
        if compromised {
            certificates = try max(certificates, deny(ek).certificates)
        } else {
            tpm = try connection.isDenied(ek) ? .denied : .allowed
        }
        let revoked = compromised ? try revoke("ek=?", SQLValue(ek)) : try revoke("id=?", .text(id))
        return Revocation.Outcome(
            device: revoked.first { $0.id == id }, devices: revoked, certificates: certificates, tpm: tpm, found: true)
    }

    /// The devices after the change.
    private func revoke(_ condition: String, _ value: SQLValue) throws(TenonError) -> [Device] {
        if !isDry {
            try connection.run(
                "UPDATE devices SET state='revoked', revoked_at=? WHERE \(condition) AND state<>'revoked'",
                [.integer(now.seconds), value])
        }
        var devices: [Device] = []
        let rows = try connection.run(
            "SELECT \(Device.columns) FROM devices WHERE \(condition) ORDER BY place", [value])
        for row in rows { devices.append(try Device(row: row)) }
        return devices
    }

    private func deny(_ ek: Digest) throws(TenonError) -> Revocation.Outcome {
        let devices = try connection.run("SELECT 1 FROM devices WHERE ek=? LIMIT 1", SQLValue(ek))
        if !isDry {
            try connection.run(
                "INSERT INTO denied_eks VALUES (?, ?) ON CONFLICT DO NOTHING", SQLValue(ek), .integer(now.seconds))
        }
        let certificates = try revokeCertificates("ek=?", SQLValue(ek))
        return Revocation.Outcome(certificates: certificates, tpm: .denied, found: !devices.isEmpty || certificates > 0)
    }

    private func revokeCertificate(_ serial: [UInt8]) throws(TenonError) -> Revocation.Outcome {
        let certificates = try revokeCertificates("serial=?", .blob(serial))
        return Revocation.Outcome(certificates: certificates, found: certificates > 0)
    }

    /// The number of them, including those that were revoked before.
    private func revokeCertificates(_ condition: String, _ values: SQLValue...) throws(TenonError) -> Int {
        guard isDry else {
            try connection.run("UPDATE certificates SET is_live=0 WHERE \(condition)", values)
            return connection.changes
        }
        let rows = try connection.run("SELECT count(*) FROM certificates WHERE \(condition)", values)
        return Int(try rows.first?.integer(0) ?? 0)
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A registration's one transaction.
struct SQLRegistration {
    let registration: DeviceRegistration
    let now: AuthorityInstant
    let connection: any SQLConnection

    private var device: Device { registration.device }

    func run() throws(TenonError) -> DeviceRegistration.Outcome {
        if let refusal = try refusal { return .refused(refusal) }
        if let stored = try StoredKey.find(device.publicKey, in: connection) { return try known(stored) }
        if try hasTooManyDevices { return .refused(.tooManyDevices) }
        guard let serial = try serial() else { return .refused(.certificate) }
        var device = device
        device.akSerial = serial.value
        try insert(device)
        try finish(device)
        return .registered(device)
    }

    /// What is refused whatever the key is.
    private var refusal: DeviceRegistration.Refusal? {
        get throws(TenonError) {
            if let ek = device.attestation?.ek, try connection.isDenied(ek) { return .ekDenied }
            let spent = try connection.run(
                "SELECT 1 FROM spent_challenges WHERE hash=?", SQLValue(registration.challenge))
            return spent.isEmpty ? nil : .challengeSpent
        }
    }

    /// Registering a key again is how a device repairs a lost answer (security.md 1.3).
    private func known(_ stored: StoredKey) throws(TenonError) -> DeviceRegistration.Outcome {
        guard var known = try connection.device(id: stored.device) else { throw .damaged("a key of no device") }
        if known.app != device.app { return .refused(.keyInUse) }
        if known.state == .revoked { return .refused(.revoked(deviceID: known.id)) }
        if stored.retiredAt != nil { return .refused(.keyRetired) }
        guard isSame(as: known) else { return .refused(.keyInUse) }
        guard let serial = try serial() else { return .refused(.certificate) }
        known.akSerial = serial.value ?? known.akSerial
        known.level = device.level
        try connection.run(
            "UPDATE devices SET ak_serial=?, level=? WHERE id=?", SQLValue(known.akSerial),
            .text(known.level.rawValue), .text(known.id))
        try finish(known)
        return .known(known)
    }

    /// A device that a rotation has marked unattested is attested again by its own TPM.
    private func isSame(as known: Device) -> Bool {
        known.attestation == device.attestation
            && (known.level == device.level || known.level == .unattested && device.level == .attested)
    }

    private var hasTooManyDevices: Bool {
        get throws(TenonError) {
            guard let limit = registration.maxDevicesPerEK, let ek = device.attestation?.ek else { return false }
            let rows = try connection.run(
                "SELECT count(*) FROM devices WHERE ek=? AND app=? AND state='active'", SQLValue(ek),
                .text(device.app))
            return try rows.first?.integer(0) ?? 0 >= limit
        }
    }

    private struct Serial {
        let value: [UInt8]?
    }

    /// The serial that the device is to have; nil when the certificate is refused.
    private func serial() throws(TenonError) -> Serial? {
        switch registration.certificate {
        case nil: return Serial(value: nil)
        case .issued(let certificate):
            return fits(certificate) ? Serial(value: certificate.serial) : nil
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

    private func insert(_ device: Device) throws(TenonError) {
        let places = Array(repeating: "?", count: device.values.count).joined(separator: ",")
        try connection.run("INSERT INTO devices (\(Device.columns)) VALUES (\(places))", device.values)
        try StoredKey.insert(device.publicKey, device: device.id, generation: 0, into: connection)
    }

    /// What every success leaves.
    private func finish(_ device: Device) throws(TenonError) {
        switch registration.certificate {
        case nil: break
        case .issued(var certificate):
            certificate.device = device.id
            try certificate.insert(into: connection)
        case .shown(let serial):
            try connection.run(
                "UPDATE certificates SET device=? WHERE serial=?", .text(device.id), .blob(serial))
        }
        try connection.run(
            "INSERT INTO spent_challenges VALUES (?, ?)", SQLValue(registration.challenge), .integer(now.seconds))
    }
}

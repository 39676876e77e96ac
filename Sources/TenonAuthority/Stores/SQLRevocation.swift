// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A revocation's one transaction.
struct SQLRevocation {
    let now: AuthorityInstant
    let connection: any SQLConnection
    /// Whether nothing is to be changed: it only says what would be.
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
        // One that it showed may be recorded for another device of the same AK.
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

    /// The devices, as they are then.
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

    /// How many there are, those that were revoked before included.
    private func revokeCertificates(_ condition: String, _ values: SQLValue...) throws(TenonError) -> Int {
        guard isDry else {
            try connection.run("UPDATE certificates SET is_live=0 WHERE \(condition)", values)
            return connection.changes
        }
        let rows = try connection.run("SELECT count(*) FROM certificates WHERE \(condition)", values)
        return Int(try rows.first?.integer(0) ?? 0)
    }
}

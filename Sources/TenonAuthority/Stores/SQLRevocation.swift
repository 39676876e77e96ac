// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A revocation's one transaction.
struct SQLRevocation {
    let now: AuthorityInstant
    let connection: any SQLConnection

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
        guard var device = try connection.device(id: id), device.app == app else {
            return Revocation.Outcome(found: false)
        }
        if device.state == .active {
            device.state = .revoked
            device.revokedAt = now.seconds
            try connection.run(
                "UPDATE devices SET state='revoked', revoked_at=? WHERE id=?", .integer(now.seconds), .text(id))
        }
        // One that it showed may be recorded for another device of the same AK.
        var certificates = try revokeCertificates("device=? OR serial=?", .text(id), SQLValue(device.akSerial))
        if compromised, let ek = device.attestation?.ek { certificates = try max(certificates, deny(ek).certificates) }
        return Revocation.Outcome(device: device, certificates: certificates, found: true)
    }

    private func deny(_ ek: Digest) throws(TenonError) -> Revocation.Outcome {
        let devices = try connection.run("SELECT 1 FROM devices WHERE ek=? LIMIT 1", SQLValue(ek))
        try connection.run(
            "INSERT INTO denied_eks VALUES (?, ?) ON CONFLICT DO NOTHING", SQLValue(ek), .integer(now.seconds))
        let certificates = try revokeCertificates("ek=?", SQLValue(ek))
        return Revocation.Outcome(certificates: certificates, found: !devices.isEmpty || certificates > 0)
    }

    private func revokeCertificate(_ serial: [UInt8]) throws(TenonError) -> Revocation.Outcome {
        let certificates = try revokeCertificates("serial=?", .blob(serial))
        return Revocation.Outcome(certificates: certificates, found: certificates > 0)
    }

    /// How many there are, those that were revoked before included.
    private func revokeCertificates(_ condition: String, _ values: SQLValue...) throws(TenonError) -> Int {
        try connection.run("UPDATE certificates SET is_live=0 WHERE \(condition)", values)
        return connection.changes
    }
}

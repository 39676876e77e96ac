// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A rotation's one transaction.
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

    /// The present key, or the one before it, asks for what is done.
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
        try connection.run(
            "UPDATE devices SET key=?, thumbprint=?, key_rotated_at=?, level=? WHERE id=?",
            .blob(rotation.newKey.rawRepresentation), .text(rotation.newThumbprint), .integer(now.seconds),
            .text(device.level.rawValue), .text(device.id))
        return device
    }
}

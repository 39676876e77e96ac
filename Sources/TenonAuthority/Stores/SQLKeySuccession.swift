// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The outcome of keys that followed one another.
package enum KeySuccession: Equatable, Sendable {
    /// The last of them is the present key of the device now.
    case replaced(Device)
    /// One of them belongs or belonged to a device. Nothing was changed.
    case keyInUse
    /// The device is not active. Nothing was changed.
    case notActive
}

extension SQLConnection {
    /// Replaces the key of a device by keys that followed one another, the last of which becomes the present one. The
    /// service has verified the succession, and this is a part of the transaction that stores it. There may be none.
    package func replaceKey(
        ofDevice id: String, by keys: [PublicKey], at now: AuthorityInstant
    ) throws(TenonError) -> KeySuccession {
        guard var device = try device(id: id), let present = try StoredKey.find(device.publicKey, in: self) else {
            throw .damaged("a device without its key")
        }
        guard device.state == .active else { return .notActive }
        guard let last = keys.last else { return .replaced(device) }
        guard Set(keys).count == keys.count else { return .keyInUse }
        for key in keys where try StoredKey.find(key, in: self) != nil { return .keyInUse }
        for (index, key) in keys.enumerated() {
            try run(
                "UPDATE keys SET retired_at=? WHERE hash=?", .integer(now.seconds), StoredKey.hash(device.publicKey))
            try StoredKey.insert(key, device: id, generation: present.generation + Int64(index) + 1, into: self)
            device.publicKey = key
        }
        device.thumbprint = try last.thumbprint
        device.keyRotatedAt = now.seconds
        try run(
            "UPDATE devices SET key=?, thumbprint=?, key_rotated_at=? WHERE id=?",
            .blob(last.rawRepresentation), .text(device.thumbprint), .integer(now.seconds), .text(id))
        return .replaced(device)
    }
}

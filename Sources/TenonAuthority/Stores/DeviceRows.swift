// SPDX-License-Identifier: Apache-2.0
internal import Tenon

// Reads and writes the rows of the device tables.
extension Device {
    static let columns = """
        id, app, state, level, key, thumbprint, ek, ak_name, ak_public, ak_serial, signature_versions, platform, \
        local_id, registered_at, key_rotated_at, revoked_at
        """

    init(row: SQLRow) throws(TenonError) {
        guard let state = State(rawValue: try row.text(2)), let level = Level(rawValue: try row.text(3)) else {
            throw .damaged("a device")
        }
        self.init(
            id: try row.text(0), app: try row.text(1), state: state, level: level,
            publicKey: try PublicKey(stored: row.blob(4)), thumbprint: try row.text(5),
            attestation: try Attestation(row: row), akSerial: try row.optionalBlob(9),
            signatureVersions: try Device.versions(row.text(10)), platform: try row.optionalText(11),
            localID: try row.optionalText(12), registeredAt: try row.integer(13),
            keyRotatedAt: try row.optionalInteger(14), revokedAt: try row.optionalInteger(15))
    }

    var values: [SQLValue] {
        [
            .text(id), .text(app), .text(state.rawValue), .text(level.rawValue), .blob(publicKey.rawRepresentation),
            .text(thumbprint), SQLValue(attestation?.ek), SQLValue(attestation?.akName),
            SQLValue(attestation?.akPublic), SQLValue(akSerial),
            storedVersions, SQLValue(platform), SQLValue(localID), .integer(registeredAt), SQLValue(keyRotatedAt),
            SQLValue(revokedAt),
        ]
    }

    var storedVersions: SQLValue { .text(signatureVersions.map(String.init).joined(separator: ",")) }

    private static func versions(_ text: String) throws(TenonError) -> [Int] {
        var versions: [Int] = []
        for part in text.split(separator: ",") {
            guard let version = Int(part) else { throw .damaged("a device") }
            versions.append(version)
        }
        return versions
    }
}

extension Device.Attestation {
    fileprivate init?(row: SQLRow) throws(TenonError) {
        guard let ek = try row.optionalBlob(6) else { return nil }
        self.init(
            ek: try Digest(stored: ek), akName: try row.blob(7), akPublic: try row.blob(8))
    }
}

extension AKCertificate {
    static let columns = "serial, app, ek, ak_name, device, not_after, is_live"

    init(row: SQLRow) throws(TenonError) {
        self.init(
            serial: try row.blob(0), app: try row.text(1), ek: try Digest(stored: row.blob(2)),
            akName: try row.blob(3), device: try row.optionalText(4), notAfter: try row.integer(5),
            isLive: try row.integer(6) != 0)
    }

    func insert(into connection: any SQLConnection) throws(TenonError) {
        try connection.run(
            "INSERT INTO certificates VALUES (?, ?, ?, ?, ?, ?, ?)", .blob(serial), .text(app), SQLValue(ek),
            .blob(akName), SQLValue(device), .integer(notAfter), .integer(isLive ? 1 : 0))
    }

    static func find(_ serial: [UInt8], in connection: any SQLConnection) throws(TenonError) -> AKCertificate? {
        try connection.run("SELECT \(columns) FROM certificates WHERE serial=?", .blob(serial)).first
            .map { row throws(TenonError) in try AKCertificate(row: row) }
    }
}

/// A key's row in the table that keeps every key for ever.
struct StoredKey {
    let device: String
    let generation: Int64
    let retiredAt: Int64?

    /// SHA-256 of the SubjectPublicKeyInfo.
    static func hash(_ key: PublicKey) throws(TenonError) -> SQLValue {
        SQLValue(try Digest(hashing: key.derRepresentation))
    }

    static func find(_ key: PublicKey, in connection: any SQLConnection) throws(TenonError) -> StoredKey? {
        let rows = try connection.run("SELECT device, generation, retired_at FROM keys WHERE hash=?", hash(key))
        guard let row = rows.first else { return nil }
        return StoredKey(
            device: try row.text(0), generation: try row.integer(1), retiredAt: try row.optionalInteger(2))
    }

    static func insert(
        _ key: PublicKey, device: String, generation: Int64, into connection: any SQLConnection
    ) throws(TenonError) {
        try connection.run(
            "INSERT INTO keys (hash, device, generation, key) VALUES (?, ?, ?, ?)", hash(key), .text(device),
            .integer(generation), .blob(key.rawRepresentation))
    }
}

extension PublicKey {
    /// Rows are checked when they are written, so a value that is not a key now means damage.
    init(stored bytes: [UInt8]) throws(TenonError) {
        guard let key = try? PublicKey(rawRepresentation: bytes) else { throw .damaged("a key") }
        self = key
    }
}

extension Digest {
    init(stored bytes: [UInt8]) throws(TenonError) {
        guard let digest = try? Digest(rawRepresentation: bytes) else { throw .damaged("a digest") }
        self = digest
    }
}

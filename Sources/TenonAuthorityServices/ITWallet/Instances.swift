// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// What this service keeps of an instance beside the device.
enum Instances {
    static let table = """
        CREATE TABLE it_wallet_instances (
            device TEXT PRIMARY KEY, app TEXT NOT NULL, ak BYTEA NOT NULL, account TEXT, bound_key BYTEA
        );
        CREATE INDEX it_wallet_accounts ON it_wallet_instances (app, account) WHERE account IS NOT NULL;
        CREATE INDEX it_wallet_bound_keys ON it_wallet_instances (app, bound_key) WHERE bound_key IS NOT NULL;
        """

    /// The most instances of one account in a list.
    static let listed: Int64 = 200

    /// Keeps the attestation key, which may be another one when an instance is initialized again.
    static func keep(_ device: Device, ak: PublicKey, in connection: any SQLConnection) throws(TenonError) {
        try connection.run(
            """
            INSERT INTO it_wallet_instances (device, app, ak) VALUES (?, ?, ?)
            ON CONFLICT (device) DO UPDATE SET ak=excluded.ak
            """, .text(device.id), .text(device.app), .blob(ak.rawRepresentation))
    }

    /// The attestation key of the latest initialization.
    static func ak(of id: String, in connection: any SQLConnection) throws(TenonError) -> PublicKey? {
        let rows = try connection.run("SELECT ak FROM it_wallet_instances WHERE device=?", .text(id))
        guard let row = rows.first else { return nil }
        return try PublicKey(rawRepresentation: row.blob(0))
    }

    /// Binds a key to an instance, in the place of the key that was bound before.
    static func bind(_ key: PublicKey, to id: String, in connection: any SQLConnection) throws(TenonError) {
        try connection.run(
            "UPDATE it_wallet_instances SET bound_key=? WHERE device=?", .blob(key.rawRepresentation), .text(id))
    }

    /// The instance to which a key is bound.
    static func bound(to key: PublicKey, app: String, in connection: any SQLConnection) throws(TenonError) -> String? {
        let rows = try connection.run(
            "SELECT device FROM it_wallet_instances WHERE app=? AND bound_key=? ORDER BY device LIMIT 1", .text(app),
            .blob(key.rawRepresentation))
        return try rows.first?.text(0)
    }

    static func account(of id: String, in connection: any SQLConnection) throws(TenonError) -> String? {
        let rows = try connection.run("SELECT account FROM it_wallet_instances WHERE device=?", .text(id))
        return try rows.first?.optionalText(0)
    }

    /// Gives an instance to an account; false if it is another account's.
    static func link(_ id: String, to account: String, in connection: any SQLConnection) throws(TenonError) -> Bool {
        let present = try Instances.account(of: id, in: connection)
        guard present == nil else { return present?.utf8.elementsEqual(account.utf8) == true }
        try connection.run("UPDATE it_wallet_instances SET account=? WHERE device=?", .text(account), .text(id))
        return true
    }

    static func all(of account: String, app: String, in connection: any SQLConnection) throws(TenonError) -> [String] {
        try connection.run(
            "SELECT device FROM it_wallet_instances WHERE app=? AND account=? ORDER BY device LIMIT ?", .text(app),
            .text(account), .integer(listed)
        ).map { row throws(TenonError) in try row.text(0) }
    }
}

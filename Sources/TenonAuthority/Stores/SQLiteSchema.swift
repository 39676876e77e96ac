// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// The tables, and the upgrades from earlier versions of the file.
enum SQLiteSchema {
    /// "TnAu". A database with another id belongs to another program and is not changed.
    private static let application: Int64 = 0x546e_4175

    /// Each entry upgrades the version before it. A released entry never changes.
    static let migrations = [
        """
        CREATE TABLE clock (seen INTEGER NOT NULL) STRICT;
        INSERT INTO clock VALUES (0);

        CREATE TABLE challenges (
            key BLOB PRIMARY KEY, purpose TEXT NOT NULL, wall INTEGER NOT NULL, boot INTEGER NOT NULL,
            entry BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE devices (
            place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, app TEXT NOT NULL, state TEXT NOT NULL,
            level TEXT NOT NULL, key BLOB NOT NULL UNIQUE, thumbprint TEXT NOT NULL, ek BLOB, ak_name BLOB,
            ak_public BLOB, ak_serial BLOB, signature_versions TEXT NOT NULL, platform TEXT, local_id TEXT,
            registered_at INTEGER NOT NULL, key_rotated_at INTEGER, revoked_at INTEGER
        ) STRICT;
        CREATE INDEX devices_of_app ON devices (app, place);
        CREATE INDEX devices_of_ek ON devices (ek, app) WHERE ek IS NOT NULL;

        -- Every key that a device has or had, by SHA-256 of its SubjectPublicKeyInfo: one owner for ever.
        CREATE TABLE keys (
            hash BLOB PRIMARY KEY, device TEXT NOT NULL REFERENCES devices (id), generation INTEGER NOT NULL,
            key BLOB NOT NULL, retired_at INTEGER, late_uses INTEGER NOT NULL DEFAULT 0, UNIQUE (device, generation)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE spent_challenges (hash BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX spent_challenges_at ON spent_challenges (at);

        CREATE TABLE certificates (
            serial BLOB PRIMARY KEY, app TEXT NOT NULL, ek BLOB NOT NULL, ak_name BLOB NOT NULL,
            device TEXT REFERENCES devices (id), not_after INTEGER NOT NULL, is_live INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX certificates_of_device ON certificates (device) WHERE device IS NOT NULL;
        CREATE INDEX certificates_of_ek ON certificates (ek);

        CREATE TABLE denied_eks (ek BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

        CREATE TABLE replay_horizons (device TEXT PRIMARY KEY, timestamp INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        """,
        """
        ALTER TABLE replay_horizons RENAME TO horizons_of_one;
        CREATE TABLE replay_horizons (
            device TEXT NOT NULL, epoch TEXT NOT NULL, timestamp INTEGER NOT NULL, PRIMARY KEY (device, epoch)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO replay_horizons SELECT device, '', timestamp FROM horizons_of_one;
        DROP TABLE horizons_of_one;

        CREATE INDEX certificates_not_after ON certificates (not_after);

        -- Lines of the audit log whose changes are stored: each is there until it is in the log of its instance.
        CREATE TABLE outbox (
            place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, instance TEXT NOT NULL,
            line BLOB NOT NULL
        ) STRICT;
        """,
        """
        -- A horizon has a beginning, too: what was accepted while a clock was ahead.
        ALTER TABLE replay_horizons ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
        """,
        """
        -- Where the log of each instance ends: with the change that was stored last, and when lines left the outbox.
        CREATE TABLE audit_heads (
            instance TEXT PRIMARY KEY, sequence INTEGER NOT NULL, mac BLOB NOT NULL, bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE outbox ADD COLUMN sequence INTEGER;
        ALTER TABLE outbox ADD COLUMN mac BLOB;
        ALTER TABLE outbox ADD COLUMN bytes INTEGER;

        -- Who asked for a challenge, where they are scarce.
        ALTER TABLE challenges ADD COLUMN asker TEXT NOT NULL DEFAULT '';
        CREATE INDEX challenges_of_asker ON challenges (asker) WHERE asker <> '';
        """,
        """
        -- A device may wait for an operator from here on; how many do is asked at each registration.
        CREATE INDEX devices_pending ON devices (app, place) WHERE state='pending';
        """,
    ]

    static let version = Int64(migrations.count)

    /// - Throws: ``TenonError/Code/storeVersion`` for a later version, ``TenonError/Code/storeCorrupt`` for a file that
    ///   is damaged or belongs to another program.
    static func prepare(_ connection: SQLiteConnection, _ services: [HostedService] = []) throws(TenonError) {
        let found = try number("PRAGMA user_version", connection)
        let owner = try number("PRAGMA application_id", connection)
        let tables = try number("SELECT count(*) FROM sqlite_schema", connection)
        guard owner == application && found > 0 || tables == 0 && owner == 0 && found == 0 else {
            throw TenonError(.storeCorrupt, message: "The store's file belongs to another program. Move it away.")
        }
        guard found <= version else {
            throw TenonError(
                .storeVersion,
                message: "The store has version \(found), but this Tenon knows \(version). Run the later Tenon.")
        }
        try check(connection)
        for next in found..<version {
            try change(connection) { () throws(TenonError) in
                try connection.runScript(migrations[Int(next)])
                try connection.runScript("PRAGMA application_id=\(application); PRAGMA user_version=\(next + 1)")
            }
        }
        guard services.contains(where: { !$0.tables.isEmpty }) else { return }
        try change(connection) { () throws(TenonError) in try ServiceTables.prepare(services, in: connection) }
    }

    private static func change(_ connection: SQLiteConnection, _ body: () throws(TenonError) -> Void) throws(TenonError)
    {
        do throws(TenonError) {
            try connection.begin()
            try body()
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private static func check(_ connection: SQLiteConnection) throws(TenonError) {
        guard let answer = try connection.run("PRAGMA quick_check(1)").first, try answer.text(0) == "ok" else {
            throw TenonError(.storeCorrupt, message: "The store's file is damaged. Restore it from a backup.")
        }
    }

    private static func number(_ sql: String, _ connection: SQLiteConnection) throws(TenonError) -> Int64 {
        guard let row = try connection.run(sql).first else { return 0 }
        return try row.integer(0)
    }
}

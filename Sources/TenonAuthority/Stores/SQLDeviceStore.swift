// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// A ``DeviceStore`` over SQL. The conforming type decides how a transaction is run.
protocol SQLDeviceStore: DeviceStore, ReplayHorizon {
    /// Runs a step in an isolated transaction, which is stored when this returns. The body may run again when another
    /// transaction came between, so it must affect nothing but the connection.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    /// Writes rows that depend on nothing that others may change meanwhile.
    func maintain<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    /// Reads.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value

    /// Whether nothing was ever written here.
    var isNew: Bool { get }

    var outbox: AuditOutbox { get }

    /// The lease of the instance's name, if other instances share the database.
    var lease: PostgresLease? { get }
}

extension SQLDeviceStore {
    var lease: PostgresLease? { nil }
}

extension SQLDeviceStore {
    package func register(
        _ registration: DeviceRegistration, at now: AuthorityInstant
    ) async throws(TenonError) -> DeviceRegistration.Outcome {
        try await change(AuditEvent.init(_:)) { connection throws(TenonError) in
            try SQLRegistration(registration: registration, now: now, connection: connection).run()
        }
    }

    package func step<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await write(body)
    }

    package func look<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws(TenonError) -> Value
    ) async throws(TenonError) -> Value {
        try await read(body)
    }

    package func rotate(
        _ rotation: KeyRotation, at now: AuthorityInstant
    ) async throws(TenonError) -> KeyRotation.Outcome {
        try await change(AuditEvent.init(_:)) { connection throws(TenonError) in
            try SQLRotation(rotation: rotation, now: now, connection: connection).run()
        }
    }

    package func revoke(
        _ revocation: Revocation, reason: String, at now: AuthorityInstant
    ) async throws(TenonError) -> Revocation.Outcome {
        let events = { @Sendable outcome in AuditEvent.events(revocation, outcome, reason: reason) }
        return try await changes(events) { connection throws(TenonError) in
            try SQLRevocation(now: now, connection: connection).run(revocation)
        }
    }

    package func preview(
        _ revocation: Revocation, at now: AuthorityInstant
    ) async throws(TenonError) -> Revocation.Outcome {
        try await read { connection throws(TenonError) in
            try SQLRevocation(now: now, connection: connection, isDry: true).run(revocation)
        }
    }

    package func decide(
        _ approval: Approval, device id: String, reason: String
    ) async throws(TenonError) -> Approval.Outcome {
        let event = { @Sendable outcome in AuditEvent(approval, outcome, reason: reason) }
        return try await change(event) { connection throws(TenonError) in
            try SQLApproval(approval: approval, connection: connection).run(id)
        }
    }

    package func pendingDevices(
        app: String?, from place: Int64?, limit: Int
    ) async throws(TenonError) -> DevicePage {
        let limit = min(max(1, limit), 1_000)
        return try await read { connection throws(TenonError) in
            try connection.page(app: app, from: place ?? 0, limit: limit, and: "state='pending' AND")
        }
    }

    package func device(app: String, id: String) async throws(TenonError) -> Device? {
        let device = try await read { connection throws(TenonError) in try connection.device(id: id) }
        return device?.app == app ? device : nil
    }

    package func retiredKeys(ofDevice id: String, limit: Int) async throws(TenonError) -> [RetiredKey] {
        try await read { connection throws(TenonError) in
            var keys: [RetiredKey] = []
            let rows = try connection.run(
                """
                SELECT key, retired_at FROM keys WHERE device=? AND retired_at IS NOT NULL
                ORDER BY generation DESC LIMIT ?
                """, .text(id), .integer(Int64(max(0, limit))))
            for row in rows {
                keys.append(RetiredKey(publicKey: try PublicKey(stored: row.blob(0)), retiredAt: try row.integer(1)))
            }
            return keys
        }
    }

    package func retiredKeyUsed(
        _ key: PublicKey, at now: AuthorityInstant
    ) async throws(TenonError) -> RetiredKeyUse {
        try await change(AuditEvent.init(_:)) { connection throws(TenonError) in
            guard let stored = try StoredKey.find(key, in: connection), let retiredAt = stored.retiredAt else {
                return .unknownKey
            }
            guard now.seconds > retiredAt + RetiredKeyUse.graceSeconds else { return .underWay }
            let rows = try connection.run(
                "UPDATE keys SET late_uses=late_uses+1 WHERE hash=? RETURNING late_uses", StoredKey.hash(key))
            return .alarm(deviceID: stored.device, uses: try rows.first?.integer(0) ?? 0)
        }
    }

    package func record(_ certificate: AKCertificate) async throws(TenonError) -> Bool {
        let event = { @Sendable isRecorded in isRecorded ? AuditEvent(issued: certificate) : nil }
        return try await change(event) { connection throws(TenonError) in
            guard try !connection.isDenied(certificate.ek) else { return false }
            try certificate.insert(into: connection)
            return true
        }
    }

    package func certificate(serial: [UInt8]) async throws(TenonError) -> AKCertificate? {
        try await read { connection throws(TenonError) in try AKCertificate.find(serial, in: connection) }
    }

    package func isDenied(ek: Digest) async throws(TenonError) -> Bool {
        try await read { connection throws(TenonError) in try connection.isDenied(ek) }
    }

    package func allow(ek: Digest, reason: String) async throws(TenonError) -> Bool {
        let event = { @Sendable (wasDenied: Bool) in
            wasDenied ? AuditEvent(.ekAllowed, details: ["reason": .string(reason)]) : nil
        }
        return try await change(event) { connection throws(TenonError) in
            try connection.run("DELETE FROM denied_eks WHERE ek=?", SQLValue(ek))
            return connection.changes == 1
        }
    }

    package func place(ofDevice id: String) async throws(TenonError) -> Int64? {
        try await read { connection throws(TenonError) in
            try connection.run("SELECT place FROM devices WHERE id=?", .text(id)).first.map { row throws(TenonError) in
                try row.integer(0)
            }
        }
    }

    package func devices(
        app: String?, from place: Int64?, limit: Int
    ) async throws(TenonError) -> DevicePage {
        let limit = min(max(1, limit), 1_000)
        return try await read { connection throws(TenonError) in
            try connection.page(app: app, from: place ?? 0, limit: limit)
        }
    }
}

extension RetiredKeyUse {
    /// For requests that were under way when the key changed (decision: copied-key).
    package static let graceSeconds: Int64 = 600
}

// Queries that several of the functions above share.
extension SQLConnection {
    func device(id: String) throws(TenonError) -> Device? { try placedDevice(id: id)?.device }

    /// The device, with its place in the order of registration.
    func placedDevice(id: String) throws(TenonError) -> (place: Int64, device: Device)? {
        let rows = try run("SELECT \(Device.columns), place FROM devices WHERE id=?", .text(id))
        guard let row = rows.first else { return nil }
        return (try row.integer(16), try Device(row: row))
    }

    func isDenied(_ ek: Digest) throws(TenonError) -> Bool {
        try !run("SELECT 1 FROM denied_eks WHERE ek=?", SQLValue(ek)).isEmpty
    }

    /// Reads one row more than asked for, to know where the next page begins. Names damaged rows, so that they do not
    /// hide the others.
    fileprivate func page(
        app: String?, from place: Int64, limit: Int, and condition: String = ""
    ) throws(TenonError) -> DevicePage {
        let range: [SQLValue] = [.integer(place), .integer(Int64(limit + 1))]
        var rows = try run(
            "SELECT \(Device.columns), place FROM devices WHERE \(app == nil ? "" : "app=? AND") \(condition) place>=? "
                + "ORDER BY place LIMIT ?", (app.map { [.text($0)] } ?? []) + range)
        var page = DevicePage(devices: [], next: rows.count > limit ? try rows.removeLast().integer(16) : nil)
        for row in rows {
            do throws(TenonError) {
                page.devices.append(try Device(row: row))
            } catch {
                let place = try row.integer(16)
                page.damaged.append((try? row.text(0)) ?? "in the row \(place)")
            }
        }
        return page
    }
}

/// A kind of rows that are of no more use. The statement removes a limited number, in a short transaction.
private struct ExpiredRows {
    let statement: String
    /// Seconds for which they are kept after they have expired.
    let kept: Int64

    static let limit = 500
    /// The most rows of one kind that are removed at a time; the rest follows a minute later.
    static let rounds = 40

    static let all = [
        ExpiredRows("certificates", "serial", "not_after <= ?", kept: 86_400),
        // For as long as a failover may bring a challenge back (decision: forgetful-stores).
        ExpiredRows("spent_challenges", "hash", "at <= ?", kept: 86_400),
        // A horizon that has passed; the clocks of instances are not that far apart.
        ExpiredRows(
            "replay_horizons", "device, epoch", "timestamp <= ? AND (device <> '' OR epoch <> '')", kept: 86_400),
    ]

    private init(_ table: String, _ key: String, _ condition: String, kept: Int64) {
        statement = """
            DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(condition) \
            LIMIT \(ExpiredRows.limit))
            """
        self.kept = kept
    }
}

extension SQLDeviceStore {
    package func tidy(at now: AuthorityInstant) async throws(TenonError) {
        try await writeWhatIsLeft()
        for expired in ExpiredRows.all {
            for _ in 0..<ExpiredRows.rounds where try await remove(expired, at: now.seconds) < ExpiredRows.limit {
                break
            }
        }
    }

    private func remove(_ expired: ExpiredRows, at seconds: Int64) async throws(TenonError) -> Int {
        try await maintain { connection throws(TenonError) in
            try connection.run(expired.statement, .integer(seconds - expired.kept))
            return connection.changes
        }
    }
}

extension SQLDeviceStore {
    /// No device has an empty id, so that id marks the row for all devices.
    private var all: String { "" }

    // The transaction decides nothing else by these rows, and an upsert is a single step.
    package func raise(device: String?, to span: ReplaySpan, epoch: String) async throws(TenonError) {
        try await maintain { connection throws(TenonError) in
            _ = try connection.run(
                """
                INSERT INTO replay_horizons (device, epoch, timestamp, since) VALUES (?, ?, ?, ?)
                ON CONFLICT (device, epoch) DO UPDATE SET timestamp=excluded.timestamp
                WHERE replay_horizons.timestamp < excluded.timestamp
                """, .text(device ?? all), .text(epoch), .integer(span.to), .integer(span.from))
        }
    }

    package func horizons(besides epoch: String?) async throws(TenonError) -> ReplayHorizons? {
        if isNew { return nil }
        return try await read { connection throws(TenonError) in
            var horizons = ReplayHorizons()
            for row in try connection.run("SELECT device, timestamp, epoch, since FROM replay_horizons") {
                let (device, span) = (
                    try row.text(0), ReplaySpan(from: try row.integer(3), to: try row.integer(1))
                )
                guard try row.text(2) != epoch else { continue }
                if device == all {
                    horizons.all.append(span)
                } else {
                    horizons.devices[device, default: []].append(span)
                }
            }
            return horizons.merged()
        }
    }
}

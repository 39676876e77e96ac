// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension SQLiteStore: ReplayHorizon {
    /// No device has an empty id, so that is the row of all.
    private static let all = ""

    package func raise(device: String?, to timestamp: Int64) async throws(TenonError) {
        try await writer.write { connection throws(TenonError) in
            _ = try connection.run(
                """
                INSERT INTO replay_horizons VALUES (?, ?)
                ON CONFLICT DO UPDATE SET timestamp=max(timestamp, excluded.timestamp)
                """, .text(device ?? SQLiteStore.all), .integer(timestamp))
        }
    }

    package func horizons(after seconds: Int64) async throws(TenonError) -> ReplayHorizons? {
        if isNew { return nil }
        return try await writer.write { connection throws(TenonError) in
            try connection.run(
                "DELETE FROM replay_horizons WHERE timestamp <= ? AND device <> ?", .integer(seconds),
                .text(SQLiteStore.all))
            var horizons = ReplayHorizons()
            for row in try connection.run("SELECT device, timestamp FROM replay_horizons") {
                horizons.devices[try row.text(0)] = try row.integer(1)
            }
            horizons.all = horizons.devices.removeValue(forKey: SQLiteStore.all)
            return horizons
        }
    }
}

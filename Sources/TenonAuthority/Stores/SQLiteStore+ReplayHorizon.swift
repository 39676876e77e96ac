// SPDX-License-Identifier: Apache-2.0
package import Tenon

extension SQLiteStore: ReplayHorizon {
    package func raise(device: String, to timestamp: Int64) async throws(TenonError) {
        try await writer.write { connection throws(TenonError) in
            _ = try connection.run(
                """
                INSERT INTO replay_horizons VALUES (?, ?)
                ON CONFLICT DO UPDATE SET timestamp=max(timestamp, excluded.timestamp)
                """, .text(device), .integer(timestamp))
        }
    }

    package func horizons(after seconds: Int64) async throws(TenonError) -> [String: Int64]? {
        if isNew { return nil }
        return try await writer.write { connection throws(TenonError) in
            try connection.run("DELETE FROM replay_horizons WHERE timestamp <= ?", .integer(seconds))
            var horizons: [String: Int64] = [:]
            for row in try connection.run("SELECT device, timestamp FROM replay_horizons") {
                horizons[try row.text(0)] = try row.integer(1)
            }
            return horizons
        }
    }
}

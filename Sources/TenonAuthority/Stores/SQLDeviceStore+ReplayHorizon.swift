// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension SQLDeviceStore {
    /// No device has an empty id, so that is the row of all.
    private var all: String { "" }

    package func raise(device: String?, to timestamp: Int64, epoch: String) async throws(TenonError) {
        try await write { connection throws(TenonError) in
            _ = try connection.run(
                """
                INSERT INTO replay_horizons (device, epoch, timestamp) VALUES (?, ?, ?)
                ON CONFLICT (device, epoch) DO UPDATE SET timestamp=excluded.timestamp
                WHERE replay_horizons.timestamp < excluded.timestamp
                """, .text(device ?? all), .text(epoch), .integer(timestamp))
        }
    }

    package func horizons(after seconds: Int64, besides epoch: String?) async throws(TenonError) -> ReplayHorizons? {
        if isNew { return nil }
        return try await write { connection throws(TenonError) in
            try connection.run(
                "DELETE FROM replay_horizons WHERE timestamp <= ? AND device <> ?", .integer(seconds),
                .text(all))
            var horizons = ReplayHorizons()
            for row in try connection.run("SELECT device, timestamp, epoch FROM replay_horizons") {
                let device = try row.text(0)
                guard try row.text(2) != epoch else { continue }
                horizons.devices[device] = max(horizons.devices[device, default: .min], try row.integer(1))
            }
            horizons.all = horizons.devices.removeValue(forKey: all)
            return horizons
        }
    }
}

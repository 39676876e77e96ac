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
                "DELETE FROM replay_horizons WHERE timestamp <= ? AND (device <> ? OR epoch <> ?)", .integer(seconds),
                .text(all), .text(all))
            var horizons = ReplayHorizons()
            for row in try connection.run("SELECT device, timestamp, epoch FROM replay_horizons") {
                let (device, timestamp, life) = (try row.text(0), try row.integer(1), try row.text(2))
                guard life != epoch else { continue }
                if life.hasPrefix(KeptTime.ahead) || timestamp > seconds + ReplayHorizons.bound {
                    horizons.ahead.append(.init(device: device == all ? nil : device, timestamp: timestamp))
                } else {
                    horizons.devices[device] = max(horizons.devices[device, default: .min], timestamp)
                }
            }
            horizons.all = horizons.devices.removeValue(forKey: all)
            return horizons
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Tenon

extension SQLDeviceStore {
    /// No device has an empty id, so that is the row of all.
    private var all: String { "" }

    // Nothing else is decided by these rows in the same transaction, and an upsert is one step by itself.
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

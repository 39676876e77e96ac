// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import Tenon

/// Devices as they stand in a file that only this process writes: a request finds its device without a thread that may
/// wait for a disk. What is changed is forgotten before whoever changed it is told so.
final class DeviceCache: Sendable {
    private struct State {
        var devices: [String: Device] = [:]
        /// By their places in the table, by which SQLite names what is changed.
        var ids: [Int64: String] = [:]
        var changes = 0
    }

    private let capacity: Int
    private let state = Mutex(State())

    init(capacity: Int = 20_000) { self.capacity = capacity }

    /// A device, or how often devices had been changed before it was looked for elsewhere.
    func find(_ id: String) -> (device: Device?, changes: Int) {
        state.withLock { ($0.devices[id], $0.changes) }
    }

    /// Keeps a device that was read, unless one was changed since: it may have been this.
    func keep(_ device: Device, at place: Int64, since changes: Int) {
        state.withLock { state in
            guard state.changes == changes else { return }
            if state.devices.count >= capacity { (state.devices, state.ids) = ([:], [:]) }
            state.devices[device.id] = device
            state.ids[place] = device.id
        }
    }

    func forget(_ places: [Int64]) {
        guard !places.isEmpty else { return }
        state.withLock { state in
            state.changes += 1
            for place in places {
                if let id = state.ids.removeValue(forKey: place) { state.devices[id] = nil }
            }
        }
    }
}

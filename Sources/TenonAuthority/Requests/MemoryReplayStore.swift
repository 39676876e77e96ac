// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
package import Tenon

/// The requests of one process, in memory (decision: forgetful-stores): a durable write for each would cost more than
/// the rest of a request.
///
/// A new process does not know the requests that an earlier one accepted, so it refuses requests from that time. Their
/// timestamps are not after its own start, or not after a horizon that was stored before they were accepted. One
/// horizon covers all devices, for a wall clock that is behind after a reboot; another covers each device whose own
/// clock is ahead. After 300 s, all these requests are too old anyway.
package final class MemoryReplayStore: ReplayStore {
    package struct Limits: Sendable {
        /// The most requests of version 1 of one device that are remembered.
        package var perDevice: Int
        /// The same for version 2: the most batches and requests that are alone.
        package var rootsPerDevice: Int
        /// The most of all of them.
        package var total: Int

        package init(perDevice: Int = 10_000, rootsPerDevice: Int = 41_600, total: Int = 2_000_000) {
            self.perDevice = perDevice
            self.rootsPerDevice = rootsPerDevice
            self.total = total
        }
    }

    /// A timestamp may be 300 s ahead and stays valid until it is 300 s old. One minute is added for clocks that are
    /// slewed.
    package static let retention: Int64 = 660_000
    /// The same from the first use of a batch: its requests mostly arrive within a few seconds, and one that is used
    /// later stays for another such time.
    static let batchRetention = retention + 10_000
    /// How far a timestamp may be from now, in seconds.
    package static let window: Int64 = 300

    private let clock: any AuthorityClock
    private let horizon: any ReplayHorizon
    private let limits: Limits
    /// The timestamps of requests that earlier processes may have accepted.
    private let horizons: ReplayHorizons
    private let state: Mutex<ReplayMemory>

    /// - Parameters:
    ///   - clock: one that never goes back, not even behind the time that an earlier process saw.
    ///   - horizon: the store of the horizons of devices.
    package init(
        clock: any AuthorityClock, horizon: any ReplayHorizon, limits: Limits = Limits()
    ) async throws(TenonError) {
        self.clock = clock
        self.horizon = horizon
        self.limits = limits
        let now = clock.now().seconds
        let horizons = try await horizon.horizons(besides: nil)
        // A span with a beginning comes from a clock that was ahead; requests that are signed now are not in it.
        let epoch = horizons.map { max(now, MemoryReplayStore.end(of: $0.all)) } ?? .min
        self.horizons = horizons ?? ReplayHorizons()
        state = Mutex(
            ReplayMemory(epoch: epoch, forgotten: horizons?.devices.mapValues(MemoryReplayStore.end) ?? [:]))
    }

    private static func end(of spans: [ReplaySpan]) -> Int64 {
        spans.filter { $0.from == 0 }.map(\.to).max() ?? .min
    }

    package func remember(_ use: SignedUse) async throws(TenonError) -> SignedUse.Outcome {
        let mark = try ReplayMark(use.mark)
        if horizons.mayHold(use) { return .mayBeForgotten }
        let seconds = clock.now().seconds
        if let ahead = state.withLock({ $0.horizon(for: use, at: seconds) }) {
            try await horizon.raise(device: ahead.device, to: ReplaySpan(to: ahead.timestamp), epoch: "")
            state.withLock { $0.raised(ahead) }
        }
        let now = clock.now()
        return try state.withLock { state throws(TenonError) in
            try state.remember(use, mark, at: now, limits)
        }
    }
}

/// The requests of a batch that were used, one bit each.
private struct UsedMembers {
    private var first: UInt64 = 0
    /// The bits from the 65th on; empty for a small batch, and then it takes no memory of its own.
    private var rest: [UInt64]
    /// The boot time of the last use, and the latest timestamp.
    private(set) var used: Int64 = .min
    private(set) var latest: Int64 = .min

    init(size: Int) { rest = [UInt64](repeating: 0, count: max(0, (size + 63) / 64 - 1)) }

    /// False if the bit is set already.
    mutating func use(_ index: Int, timestamp: Int64, at now: Int64) -> Bool {
        let (word, bit) = (index / 64, UInt64(1) << (index % 64))
        guard word == 0 || word <= rest.count else { return false }
        if (word == 0 ? first : rest[word - 1]) & bit != 0 { return false }
        if word == 0 { first |= bit } else { rest[word - 1] |= bit }
        (used, latest) = (max(used, now), max(latest, timestamp))
        return true
    }
}

private struct ReplayMemory {
    private struct DeviceMemory {
        /// Of version 1.
        var nonces: Set<UUIDBytes> = []
        var marks: Set<SignatureMark> = []
        /// Of version 2.
        var signedNonces: Set<UUIDBytes> = []
        var roots: [Digest: UsedMembers] = [:]

        var isEmpty: Bool { nonces.isEmpty && signedNonces.isEmpty && roots.isEmpty }

        /// - Parameters:
        ///   - isFull: whether the store has no place for another entry of any device.
        ///   - isNew: is set if this is an entry that was not there before.
        mutating func take(
            _ mark: ReplayMark, _ use: SignedUse, at now: Int64, _ limits: MemoryReplayStore.Limits, isFull: Bool,
            isNew: inout Bool
        ) throws(TenonError) -> SignedUse.Outcome {
            if isKnown(mark) { return .replay }
            if case .member(let root, _, let index) = mark, roots[root] != nil {
                // Changed in place, as with the sets.
                return roots[root]?.use(index, timestamp: use.timestamp, at: now) == true ? .fresh : .replay
            }
            if hasReached(limits, mark) { return .tooMany }
            if isFull { throw .replaysFull }
            isNew = true
            switch mark {
            case .signature(let nonce, let mark):
                nonces.insert(nonce)
                marks.insert(mark)
            case .nonce(let nonce): signedNonces.insert(nonce)
            case .member(let root, let size, let index):
                var members = UsedMembers(size: size)
                guard members.use(index, timestamp: use.timestamp, at: now) else { return .replay }
                roots[root] = members
            }
            return .fresh
        }

        private func isKnown(_ mark: ReplayMark) -> Bool {
            switch mark {
            case .signature(let nonce, let mark): nonces.contains(nonce) || marks.contains(mark)
            case .nonce(let nonce): signedNonces.contains(nonce)
            case .member: false
            }
        }

        private func hasReached(_ limits: MemoryReplayStore.Limits, _ mark: ReplayMark) -> Bool {
            if case .signature = mark { return nonces.count >= limits.perDevice }
            return roots.count + signedNonces.count >= limits.rootsPerDevice
        }
    }

    private struct Entry {
        let device: String
        let mark: ReplayMark
        let timestamp: Int64
    }

    private struct Batch {
        let device: String
        let root: Digest
    }

    /// The horizon that must be stored before a request is accepted.
    struct Horizon {
        let device: String?
        let timestamp: Int64
    }

    private var devices: [String: DeviceMemory] = [:]
    private var entries = ExpiryQueue<Entry>()
    private var batches = ExpiryQueue<Batch>()
    /// The timestamps up to which an earlier process may have accepted requests: of all devices, and of some.
    private let epoch: Int64
    private let forgotten: [String: Int64]
    /// The horizons that this process has stored for the next one.
    private var storedForAll: Int64 = .min
    private var stored: [String: Int64] = [:]

    init(epoch: Int64, forgotten: [String: Int64]) {
        self.epoch = epoch
        self.forgotten = forgotten
    }

    func horizon(for use: SignedUse, at seconds: Int64) -> Horizon? {
        if use.timestamp <= epoch || use.timestamp <= max(storedForAll, stored[use.deviceID, default: .min]) {
            return nil
        }
        let reach = seconds + SignedUse.lead
        return use.timestamp <= reach
            ? Horizon(device: nil, timestamp: reach) : Horizon(device: use.deviceID, timestamp: use.timestamp)
    }

    mutating func raised(_ horizon: Horizon) {
        guard let device = horizon.device else {
            storedForAll = max(storedForAll, horizon.timestamp)
            return
        }
        stored[device] = max(stored[device, default: .min], horizon.timestamp)
    }

    mutating func remember(
        _ use: SignedUse, _ mark: ReplayMark, at now: AuthorityInstant, _ limits: MemoryReplayStore.Limits
    ) throws(TenonError) -> SignedUse.Outcome {
        forget(at: now)
        guard use.timestamp > max(epoch, forgotten[use.deviceID, default: .min]) else { return .mayBeForgotten }
        let isFull = entries.count + batches.count >= limits.total
        if isFull && devices[use.deviceID] == nil { throw .replaysFull }
        var isNew = false
        // Changed in place: with a copy, the insertion would copy the sets.
        let outcome = try devices[use.deviceID, default: DeviceMemory()].take(
            mark, use, at: now.boot, limits, isFull: isFull, isNew: &isNew)
        if isNew { enter(use, mark, at: now.boot) }
        return outcome
    }

    private mutating func enter(_ use: SignedUse, _ mark: ReplayMark, at now: Int64) {
        if case .member(let root, _, _) = mark {
            batches.append(Batch(device: use.deviceID, root: root), until: now + MemoryReplayStore.batchRetention)
        } else {
            let entry = Entry(device: use.deviceID, mark: mark, timestamp: use.timestamp)
            entries.append(entry, until: now + MemoryReplayStore.retention)
        }
    }

    private mutating func forget(at now: AuthorityInstant) {
        // After a step back, the wall clock stands still for a while, and a request stays valid all that time.
        let oldest = now.seconds - MemoryReplayStore.window
        while let entry = entries.popExpired(at: now.boot, unless: { $0.timestamp >= oldest }) {
            switch entry.mark {
            case .signature(let nonce, let mark):
                devices[entry.device]?.nonces.remove(nonce)
                devices[entry.device]?.marks.remove(mark)
            case .nonce(let nonce): devices[entry.device]?.signedNonces.remove(nonce)
            case .member: break
            }
            drop(entry.device)
        }
        while let batch = batches.popExpired(at: now.boot) {
            // Each use counts for as long as a nonce.
            if let members = devices[batch.device]?.roots[batch.root],
                now.boot - members.used < MemoryReplayStore.retention || members.latest >= oldest
            {
                batches.append(batch, until: now.boot + MemoryReplayStore.batchRetention)
                continue
            }
            devices[batch.device]?.roots[batch.root] = nil
            drop(batch.device)
        }
    }

    private mutating func drop(_ device: String) {
        guard devices[device]?.isEmpty == true else { return }
        devices[device] = nil
        stored[device] = nil
    }
}

extension TenonError {
    fileprivate static let replaysFull = TenonError(
        .storeFull, message: "Too many remembered requests. Try again soon.", retryAfter: .seconds(10))
}

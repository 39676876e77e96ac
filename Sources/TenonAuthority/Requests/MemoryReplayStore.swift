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
        /// The most requests of one device that are remembered.
        package var perDevice: Int
        /// The most requests that are remembered in all.
        package var total: Int

        package init(perDevice: Int = 10_000, total: Int = 2_000_000) {
            self.perDevice = perDevice
            self.total = total
        }
    }

    /// A timestamp may be 300 s ahead and stays valid until it is 300 s old. One minute is added for clocks that are
    /// slewed.
    package static let retention: Int64 = 660_000
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
        guard let nonce = UUIDBytes(use.nonce) else {
            throw TenonError(.nonce, message: "The nonce is not a UUID.")
        }
        if horizons.mayHold(use) { return .mayBeForgotten }
        let seconds = clock.now().seconds
        if let ahead = state.withLock({ $0.horizon(for: use, at: seconds) }) {
            try await horizon.raise(device: ahead.device, to: ReplaySpan(to: ahead.timestamp), epoch: "")
            state.withLock { $0.raised(ahead) }
        }
        let now = clock.now()
        return try state.withLock { state throws(TenonError) in
            try state.remember(use, nonce, at: now, limits)
        }
    }
}

/// Identifies a signature by its r alone, as s can be changed to n - s.
private struct SignatureMark: Hashable {
    let thumbprint: String
    let r: InlineArray<4, UInt64>

    init(_ use: SignedUse) {
        thumbprint = use.thumbprint
        let bytes = use.signature.bytes
        r = InlineArray { word in (0..<8).reduce(0) { $0 << 8 | UInt64(bytes[word * 8 + $1]) } }
    }

    static func == (left: SignatureMark, right: SignatureMark) -> Bool {
        (0..<4).allSatisfy { left.r[$0] == right.r[$0] } && left.thumbprint == right.thumbprint
    }

    func hash(into hasher: inout Hasher) {
        for word in 0..<4 { hasher.combine(r[word]) }
    }
}

private struct ReplayMemory {
    private struct DeviceMemory {
        var nonces: Set<UUIDBytes> = []
        var marks: Set<SignatureMark> = []

        /// - Parameter isFull: whether the store has no place for another request of any device.
        mutating func take(
            _ nonce: UUIDBytes, _ mark: SignatureMark, limit: Int, isFull: Bool
        ) throws(TenonError) -> SignedUse.Outcome {
            if nonces.contains(nonce) || marks.contains(mark) { return .replay }
            if nonces.count >= limit { return .tooMany }
            if isFull { throw .replaysFull }
            nonces.insert(nonce)
            marks.insert(mark)
            return .fresh
        }
    }

    private struct Entry {
        let device: String
        let nonce: UUIDBytes
        let mark: SignatureMark
        let timestamp: Int64
    }

    /// The horizon that must be stored before a request is accepted.
    struct Horizon {
        let device: String?
        let timestamp: Int64
    }

    private var devices: [String: DeviceMemory] = [:]
    private var entries = ExpiryQueue<Entry>()
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
        _ use: SignedUse, _ nonce: UUIDBytes, at now: AuthorityInstant, _ limits: MemoryReplayStore.Limits
    ) throws(TenonError) -> SignedUse.Outcome {
        forget(at: now)
        guard use.timestamp > max(epoch, forgotten[use.deviceID, default: .min]) else { return .mayBeForgotten }
        let mark = SignatureMark(use)
        let isFull = entries.count >= limits.total
        if isFull && devices[use.deviceID] == nil { throw .replaysFull }
        // Changed in place: with a copy, the insertion would copy the sets.
        let outcome = try devices[use.deviceID, default: DeviceMemory()].take(
            nonce, mark, limit: limits.perDevice, isFull: isFull)
        guard case .fresh = outcome else { return outcome }
        entries.append(
            Entry(device: use.deviceID, nonce: nonce, mark: mark, timestamp: use.timestamp),
            until: now.boot + MemoryReplayStore.retention)
        return .fresh
    }

    private mutating func forget(at now: AuthorityInstant) {
        // After a step back, the wall clock stands still for a while, and a request stays valid all that time.
        let oldest = now.seconds - MemoryReplayStore.window
        while let entry = entries.popExpired(at: now.boot, unless: { $0.timestamp >= oldest }) {
            devices[entry.device]?.nonces.remove(entry.nonce)
            devices[entry.device]?.marks.remove(entry.mark)
            if devices[entry.device]?.nonces.isEmpty == true {
                devices[entry.device] = nil
                stored[entry.device] = nil
            }
        }
    }
}

extension TenonError {
    fileprivate static let replaysFull = TenonError(
        .storeFull, message: "Too many remembered requests. Try again soon.", retryAfter: .seconds(10))
}

/// A queue of elements that are all remembered for the same time, so the first one expires first.
struct ExpiryQueue<Element> {
    private var waiting: [(deadline: Int64, element: Element)] = []
    private var first = 0

    var count: Int { waiting.count - first }

    /// The deadlines never go down: they come from a clock that never goes back.
    mutating func append(_ element: Element, until deadline: Int64) { waiting.append((deadline, element)) }

    /// Removes and returns the first element if its time is over and nothing else holds it.
    mutating func popExpired(at now: Int64, unless isHeld: (Element) -> Bool = { _ in false }) -> Element? {
        guard first < waiting.count, waiting[first].deadline <= now, !isHeld(waiting[first].element) else { return nil }
        defer { advance() }
        return waiting[first].element
    }

    /// Moves the rest down when more than half of the places are free, which costs each element one move.
    private mutating func advance() {
        first += 1
        guard first * 2 > waiting.count else { return }
        waiting.removeFirst(first)
        first = 0
    }
}

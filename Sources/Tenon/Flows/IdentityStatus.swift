// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Where an identity stands.
public struct IdentityStatus: Hashable, Sendable {
    /// One of the six states.
    public let state: IdentityState
    /// What the state does not say.
    public let reason: IdentityReason?
    /// What the service calls the device; nil unless it is registered.
    public let deviceID: String?

    init(state: IdentityState, reason: IdentityReason? = nil, deviceID: String? = nil) {
        self.state = state
        self.reason = reason
        self.deviceID = deviceID
    }

    init(_ record: IdentityRecord) {
        self.init(
            state: record.state, reason: record.reason,
            deviceID: record.state == .unregistered ? nil : record.deviceID)
    }

    /// Whether the device may sign.
    public var isRegistered: Bool {
        (state == .registered || state == .registering && deviceID != nil) && reason != .revoked
    }
}

/// Tells whoever listens what changed, in order; a listener that is slow gets all of it.
final class StatusBoard: Sendable {
    private struct State {
        var last: IdentityStatus?
        var listeners: [UInt64: AsyncStream<IdentityStatus>.Continuation] = [:]
        var numbers: UInt64 = 0
    }

    private let state = Mutex(State())
    private let log: LogSink?

    init(_ log: LogSink?) { self.log = log }

    func show(_ status: IdentityStatus) {
        let isNew = state.withLock { state in
            guard state.last != status else { return false }
            state.last = status
            for listener in state.listeners.values { listener.yield(status) }
            return true
        }
        if isNew { log?(.status(status.state, status.reason)) }
    }

    func listen() -> AsyncStream<IdentityStatus> {
        let (stream, continuation) = AsyncStream<IdentityStatus>.makeStream()
        let number = state.withLock { state in
            state.numbers += 1
            state.listeners[state.numbers] = continuation
            return state.numbers
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }
}

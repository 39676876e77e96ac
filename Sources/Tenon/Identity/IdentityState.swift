// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// The state of a device at a service. The raw values are those of the service's documents.
public enum IdentityState: String, CaseIterable, Sendable {
    /// The service has confirmed nothing.
    case unregistered
    /// A challenge was fetched.
    case challengeReceived
    /// The key for it is loaded.
    case keyReady
    /// A registration, or a rotation, is on its way.
    case registering
    /// The service knows the device and its key.
    case registered
    /// The key can never sign again; ``IdentityReason`` says why.
    case keyInvalid
}

/// The details that the six states do not express.
///
/// A later version may know more: switch with a `default`.
public enum IdentityReason: String, CaseIterable, Sendable {
    /// A new key was offered, and whether the service took it is not known yet.
    case rotationPending = "rotation_pending"
    /// The service has not decided yet: register again later.
    case approvalPending = "approval_pending"
    /// The service revoked the device: only a reset leaves that.
    case revoked
    /// The service holds neither of the device's keys: the state is older than what happened since.
    case superseded
    /// The state comes from another machine.
    case foreignTPM = "foreign_tpm"
    /// The TPM was cleared.
    case tpmCleared = "tpm_cleared"

    /// Whether it is why a key is invalid.
    var invalidatesKey: Bool { self == .superseded || self == .foreignTPM || self == .tpmCleared }
}

/// Why a state is left.
package enum IdentityStep: CaseIterable, Sendable {
    /// One of the eight edges that the service's documents have.
    case edge
    /// An attempt ends before it sent anything: an edge marked `abandoned` in docs/states.md.
    case abandon
    /// Somebody asked for a reset, which leads from each state to `unregistered`.
    case reset

    /// The picture in docs/states.md has the same edges; a test compares the two.
    func leads(from state: IdentityState, to next: IdentityState) -> Bool {
        switch (self, state, next) {
        case (.edge, .unregistered, .challengeReceived), (.edge, .challengeReceived, .keyReady),
            (.edge, .keyReady, .registering), (.edge, .registering, .registered), (.edge, .registering, .unregistered),
            (.edge, .registered, .registering), (.edge, .registered, .keyInvalid), (.edge, .keyInvalid, .unregistered),
            (.abandon, .challengeReceived, .unregistered), (.abandon, .keyReady, .unregistered),
            (.reset, _, .unregistered):
            true
        default: false
        }
    }
}

/// The status of an identity.
public struct IdentityStatus: Hashable, Sendable {
    /// One of the six states.
    public let state: IdentityState
    /// The details that the state alone does not express.
    public let reason: IdentityReason?
    /// The service's id of the device; nil while the state is ``IdentityState/unregistered``.
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

/// Tells listeners what changed, in order. A slow listener gets everything.
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

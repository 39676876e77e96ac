// SPDX-License-Identifier: Apache-2.0

/// Where a device stands with a service. The raw values are those of the service's documents.
public enum IdentityState: String, CaseIterable, Sendable {
    /// Nothing, or nothing that the service confirmed.
    case unregistered
    /// A challenge was fetched.
    case challengeReceived
    /// There is a key for it.
    case keyReady
    /// A registration, or a rotation, is on its way.
    case registering
    /// The service knows the device and its key.
    case registered
    /// The key can never sign again; ``IdentityReason`` says why.
    case keyInvalid
}

/// What the six states cannot say.
///
/// A later version may know more: switch with a `default`.
public enum IdentityReason: String, CaseIterable, Sendable {
    /// A new key was offered, and whether the service took it is not known yet.
    case rotationPending = "rotation_pending"
    /// The service wants to think about it: register again later.
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
    /// One of the eight documented edges.
    case edge
    /// An attempt ends before it sent anything: edge R.
    case abandon
    /// Somebody asked for a reset: edge R.
    case reset

    /// docs/states.md says who may take edge R.
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

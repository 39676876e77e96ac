// SPDX-License-Identifier: Apache-2.0
internal import Tenon

// What the log says of a change; of what changed nothing, it says nothing.
extension AuditEvent {
    init?(_ outcome: DeviceRegistration.Outcome) {
        switch outcome {
        case .registered(let device): self.init(device.state == .pending ? .registrationPending : .registered, device)
        // A device that waits asks again and again.
        case .known(let device) where device.state == .pending: return nil
        case .known(let device): self.init(.registeredAgain, device)
        case .refused: return nil
        }
    }

    init?(_ outcome: KeyRotation.Outcome) {
        switch outcome {
        case .rotated(let device): self.init(.rotated, device)
        case .current(let device): self.init(.rotatedAgain, device)
        case .refused: return nil
        }
    }

    init?(_ approval: Approval, _ outcome: Approval.Outcome, reason: String) {
        guard case .decided(let device) = outcome else { return nil }
        self.init(approval == .approve ? .deviceApproved : .deviceRejected, device)
        details["reason"] = .string(reason)
    }

    /// Of the name that was said, and of each device that goes with it.
    static func events(_ revocation: Revocation, _ outcome: Revocation.Outcome, reason: String) -> [AuditEvent] {
        guard let event = AuditEvent(revocation, outcome, reason: reason) else { return [] }
        guard case .device(_, let id, _) = revocation else { return [event] }
        return outcome.devices.map { device in
            guard device.id != id else { return event }
            let details: [String: JSON] = [
                "reason": .string(reason), "compromised": true, "with": .string(id), "certificates": 0,
            ]
            return AuditEvent(.deviceRevoked, app: device.app, device: device.id, details: details)
        }
    }

    /// An EK is denied before it is known.
    private init?(_ revocation: Revocation, _ outcome: Revocation.Outcome, reason: String) {
        var details: [String: JSON] = [
            "certificates": .integer(Int64(outcome.certificates)), "reason": .string(reason),
        ]
        switch revocation {
        case .device(let app, let id, let compromised):
            guard outcome.found else { return nil }
            details["compromised"] = .bool(compromised)
            self.init(.deviceRevoked, app: app, device: id, details: details)
        case .certificate(let serial):
            guard outcome.found else { return nil }
            details["serial"] = .string(TextEncoding.hex.encode(serial))
            self.init(.certificateRevoked, details: details)
        case .ek: self.init(.ekDenied, details: details)
        }
    }

    /// Not each use: whoever has the copy may use it as often as he likes.
    init?(_ use: RetiredKeyUse) {
        guard case .alarm(let device, let uses) = use, uses & (uses - 1) == 0 else { return nil }
        self.init(.retiredKeyUsed, device: device, details: ["uses": .integer(uses)])
    }

    init(issued certificate: AKCertificate) {
        let serial = JSON.string(TextEncoding.hex.encode(certificate.serial))
        self.init(.certificateIssued, app: certificate.app, device: certificate.device, details: ["serial": serial])
    }

    private init(_ kind: Kind, _ device: Device) {
        var details: [String: JSON] = ["level": .string(device.level.rawValue)]
        details["serial"] = device.akSerial.map { .string(TextEncoding.hex.encode($0)) }
        self.init(kind, app: device.app, device: device.id, details: details)
    }
}

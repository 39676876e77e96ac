// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Tenon
internal import TenonCommandLine

/// `tenon rotate`.
enum RotateCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity(log: Progress.log)
        if setting.arguments.has("--if-due") {
            guard try identity.status().isRegistered, let due = try identity.rotationDue() else {
                throw TenonError(.notRegistered, message: "This device is not registered.")
            }
            guard due <= Int64(time(nil)) else {
                return Answer(
                    lines: ["not due before \(Text.date(due))"], json: ["rotated": false, "due": .integer(due)])
            }
        }
        let rotation = try await identity.rotate()
        let from = rotation.effectiveAt.map { " from \(Text.date($0)) on" } ?? ""
        return Answer(
            lines: ["the new key signs\(from)"], json: ["rotated": true, "effective_at": .or(rotation.effectiveAt)])
    }
}

/// `tenon maintain`.
enum MaintainCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identity(log: Progress.log)
        let left = try await identity.maintain()
        let status = try identity.status()
        let due = try identity.rotationDue()
        return Answer(
            lines: [text(left, status, due)],
            json: [
                "state": .string(status.state.rawValue), "reason": .or(status.reason?.rawValue), "due": .or(due),
            ],
            category: category(left, status))
    }

    private static func text(_ left: Maintenance, _ status: IdentityStatus, _ due: Int64?) -> String {
        switch left {
        case .done: "done; the key is changed after \(due.map(Text.date) ?? "-")"
        case .waits(let time): "the service took the new key, which signs from \(Text.date(time)) on"
        case .rotationOpen(newKeySigns: true):
            "open: the service refused the old key and did not confirm the new one, which signs now; both are kept"
        case .rotationOpen(newKeySigns: false):
            "open: the service did not take the new key, and the old one signs; both are kept: tenon rotate"
        case .stopped: Text.of(status)
        }
    }

    /// An open rotation is no success, and no reason to do anything but the same again.
    private static func category(_ left: Maintenance, _ status: IdentityStatus) -> TenonError.Category? {
        if case .rotationOpen = left { return .unknown }
        return StatusCommand.category(status)
    }
}

/// `tenon reset`.
enum ResetCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        guard setting.arguments.has("--yes") else {
            throw TenonError(
                .options,
                message: "A reset cannot be taken back, and the service is not told.\nSay that it is meant: --yes")
        }
        try await setting.identity(withTPM: false).reset()
        return Answer(lines: ["forgotten; the keys are in the attic: tenon keys list"], json: ["reset": true])
    }
}

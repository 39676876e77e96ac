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
        try await identity.maintain()
        let status = try identity.status()
        let due = try identity.rotationDue()
        return Answer(
            lines: [
                status.isRegistered ? "done; the key is changed after \(due.map(Text.date) ?? "-")" : Text.of(status)
            ],
            json: ["state": .string(status.state.rawValue), "due": .or(due)],
            category: StatusCommand.category(status))
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

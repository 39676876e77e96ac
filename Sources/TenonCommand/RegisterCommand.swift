// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// `tenon register`.
enum RegisterCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identityToRegister(log: Progress.log)
        let registration = try await identity.register()
        let isNew = registration.status == .registered
        return Answer(
            lines: ["\(isNew ? "registered" : "already registered") as \(registration.deviceID)"],
            json: [
                "status": .string(isNew ? "registered" : "already_registered"), "app_id": .string(identity.appID),
                "device_id": .string(registration.deviceID),
            ])
    }
}

/// What a person sees of long work: each step, on a terminal and nowhere else.
enum Progress {
    static var log: LogSink? {
        guard Terminal.isShown(2) else { return nil }
        return { event in Terminal.note("  \(event)") }
    }
}

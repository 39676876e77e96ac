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

/// What a person sees of long work: each step, and what is waited for, on a terminal and nowhere else.
enum Progress {
    static var log: LogSink? {
        guard Terminal.isShown(2) else { return nil }
        let turn = Turn()
        let waiting = late("waits for its turn: another process may be at work on the identity") { turn.take() }
        return { event in
            if case .began = event, turn.take() { waiting.cancel() }
            Terminal.note("  \(event)")
        }
    }

    /// Says what is waited for when it takes more than a second; whoever need not wait any more cancels it.
    static func late(_ text: String, if isWaiting: @escaping @Sendable () -> Bool = { true }) -> Task<Void, Never> {
        Task.detached {
            guard Terminal.isShown(2), (try? await Task.sleep(for: .seconds(1))) != nil, isWaiting() else { return }
            Terminal.note("  \(text)")
        }
    }
}

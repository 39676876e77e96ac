// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// `tenon register`.
enum RegisterCommand {
    static func answer(_ setting: Setting) async throws(TenonError) -> Answer {
        let identity = try setting.identityToRegister(log: Progress.log)
        let registration = try await identity.register()
        let members: [String: JSON] = [
            "app_id": .string(identity.appID), "device_id": .string(registration.deviceID),
        ]
        guard registration.status == .alreadyRegistered else {
            return answer("registered as \(registration.deviceID)", "registered", "took_the_key", members)
        }
        let (text, word) = try await learnt(identity)
        let line = "already registered as \(registration.deviceID); \(text)"
        return answer(line, "already_registered", word, members)
    }

    /// What the service says of a device that was registered before. That is what this state knows; the service may have
    /// forgotten it since.
    private static func learnt(_ identity: DeviceIdentity) async throws(TenonError) -> (text: String, word: String) {
        guard identity.hasQuestion else {
            return ("the service was not asked, as its dialect has no question for that", "not_asked")
        }
        do throws(TenonError) {
            try await identity.resolve()
        } catch  where [.transient, .unknown, .unavailable].contains(error.code.category) {
            return ("the service could not be asked: \(Failure(error).cause)", "not_reached")
        }
        guard try identity.status().reason != .rotationPending else {
            return ("the service holds its key, and a new one is open: tenon maintain", "holds_the_key")
        }
        return ("the service holds its key", "holds_the_key")
    }

    private static func answer(_ line: String, _ status: String, _ service: String, _ members: [String: JSON]) -> Answer
    {
        var object = JSONObject()
        for (name, value) in members { object[name] = value }
        object["status"] = .string(status)
        object["service"] = .string(service)
        return Answer(lines: [line], json: .object(object))
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

// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Tenon
import Testing

/// A service without a challenge, whose messages form a log that two keys write in turns (decision: one-message,
/// key-roles).
@Suite struct EventLogTests {
    private struct Profile: ServiceProfile {
        let declaration: ServiceDeclaration = {
            var declaration = ServiceDeclaration(
                profile: "log", dialect: "log", baseURL: "https://log.example", alias: "log")
            declaration.keys = .committedNext
            declaration.challenge = nil
            declaration.resend = .identical
            declaration.isSequenced = true
            declaration.rotation = .signedByNext
            declaration.settlements = [.resend]
            return declaration
        }()

        func text(of key: PublicKey) -> String { TextEncoding.base64.encode(key.compressedRepresentation) }

        func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft {
            guard let next = terms.next else { throw TenonError(.empty, message: "no next key") }
            return try event(terms.slot, terms.key, next)
        }

        func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome> {
            if answer.status == 204 { return .accepted(.registered(deviceID: "log-1", attestationCertificates: [])) }
            return declaration.failure(answer, code: nil)
        }

        func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft {
            guard let following = terms.following else { throw TenonError(.empty, message: "no following key") }
            return try event(terms.slot, terms.new, following)
        }

        func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome> {
            if answer.status == 204 { return .accepted(RotationOutcome()) }
            return declaration.failure(answer, code: nil)
        }

        private func event(_ slot: Int64?, _ key: PublicKey, _ next: PublicKey) throws(TenonError) -> ServiceDraft {
            guard let slot else { throw TenonError(.empty, message: "no slot") }
            let digest = try Digest(hashing: Array(text(of: next).utf8)).description
            let text = "{\"v\":\"KERI10JSON\",\"s\":\(slot),\"k\":\"\(text(of: key))\",\"n\":\"\(digest)\"}"
            return .unsigned(.event(Array(text.utf8))) { (signature) throws(TenonError) in
                HTTPRequest(
                    method: "POST", url: declaration.baseURL,
                    headers: [("X-Signature", TextEncoding.base64.encode(signature.rawRepresentation))],
                    body: Array(text.utf8))
            }
        }
    }

    /// Accepts each event once, and repetitions of it.
    private final class Log: Transport {
        private struct State {
            var log: [[UInt8]] = []
            var commitment: String?
            var isDuplicitous = false
            var fates: [ScriptedService.Fate] = []
        }

        private let state = Mutex(State())
        let time: FlowTime

        init(_ time: FlowTime) { self.time = time }

        var log: [[UInt8]] { state.withLock { $0.log } }
        var isDuplicitous: Bool { state.withLock { $0.isDuplicitous } }
        func script(_ fates: [ScriptedService.Fate]) { state.withLock { $0.fates = fates } }

        func exchange(
            _ request: HTTPRequest, deadline: ContinuousClock.Instant
        ) async throws(TenonError) -> HTTPResponse {
            let fate = state.withLock { $0.fates.isEmpty ? .arrives : $0.fates.removeFirst() }
            if case .requestLost = fate { throw TenonError(.httpNoAnswer, message: "") }
            if case .answers(let status, _, _) = fate { return response(status) }
            let status = take(request)
            if case .answerLost = fate { throw TenonError(.httpNoAnswer, message: "") }
            return response(status)
        }

        private func response(_ status: Int) -> HTTPResponse {
            HTTPResponse(status: status, headers: [], body: [], sent: time.moment, received: time.moment)
        }

        private func take(_ request: HTTPRequest) -> Int {
            let whole = request.body + Array((request.headers.first?.value ?? "").utf8)
            return state.withLock { state in
                guard let json = try? JSON(parsing: request.body), let slot = json["s"]?.integer,
                    let key = json["k"]?.string, let next = json["n"]?.string
                else { return 400 }
                if slot < state.log.count {
                    if state.log[Int(slot)] == whole { return 204 }
                    state.isDuplicitous = true
                    return 409
                }
                let digest = try? Digest(hashing: Array(key.utf8)).description
                guard slot == state.log.count, state.commitment == nil || state.commitment == digest,
                    isSigned(request, by: key)
                else { return 400 }
                state.log.append(whole)
                state.commitment = next
                return 204
            }
        }

        private func isSigned(_ request: HTTPRequest, by key: String) -> Bool {
            do {
                let point = try TextEncoding.base64.decode(key)
                let raw = try TextEncoding.base64.decode(request.headers.first?.value ?? "")
                let signature = try Signature(rawRepresentation: raw.span)
                return try PublicKey(compressedRepresentation: point.span)
                    .isValidSignature(signature, for: Digest(hashing: request.body))
            } catch {
                return false
            }
        }
    }

    private func identity(_ log: Log, _ vault: ScriptedVault, _ folder: TemporaryFolder) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: Profile(), vault: vault, transport: log, folder: folder.open(),
            clock: log.time.clock)
    }

    @Test func twoKeysTakeTurns() async throws {
        let (log, vault, folder) = (Log(FlowTime()), ScriptedVault(), try TemporaryFolder())
        let identity = try identity(log, vault, folder)
        #expect(try await identity.register().deviceID == "log-1")
        #expect(vault.keysMade == 2)
        for round in 1...3 {
            try await identity.rotate()
            #expect(log.log.count == round + 1)
            #expect(vault.keysMade == round + 2)
        }
        #expect(!log.isDuplicitous)
    }

    @Test(
        arguments: [
            [.answerLost], [.requestLost, .answerLost], [.answers(503, nil, headers: []), .requestLost],
            Array(repeating: .requestLost, count: 6), Array(repeating: .answerLost, count: 6),
            [.answers(400, nil, headers: [])],
        ] as [[ScriptedService.Fate]])
    func g1_thereIsNeverASecondEventWithANumber(_ fates: [ScriptedService.Fate]) async throws {
        let (log, vault, folder) = (Log(FlowTime()), ScriptedVault(), try TemporaryFolder())
        log.script(fates)
        _ = try? await identity(log, vault, folder).register()
        log.script([])
        try await identity(log, vault, folder).register()
        for _ in 0..<2 {
            log.script(fates)
            _ = try? await identity(log, vault, folder).rotate()
            log.script([])
            try await identity(log, vault, folder).maintain()
        }
        try await identity(log, vault, folder).rotate()
        #expect(!log.isDuplicitous)
        #expect(log.log.count == 4)
        #expect(vault.keysMade == 5)
    }
}

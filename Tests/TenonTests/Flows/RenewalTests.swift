// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Synchronization
import Testing

@testable import Tenon

/// A key that must be changed: the service refuses one so old, or somebody reports that others may use it.
@Suite struct RenewalTests {
    @Test func aKeyThatIsTooOldIsChangedAndTheRequestSentAgain() async throws {
        let rig = try await FlowRig.registered()
        rig.time.advance(.seconds(2 * 86_400))
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        let second = try #require(await rig.answer(signed, 403, "KEY_EXPIRED").again)
        #expect(second.generation == 2 && rig.isAccepted(second))
        #expect(rig.service.paths == ["/rotate"])
        // The same about the earlier request: the key was changed since.
        let third = try #require(await rig.answer(signed, 403, "KEY_EXPIRED").again)
        #expect(third.generation == 2 && rig.isAccepted(third))
        // No such report about the new key is believed.
        #expect(await rig.answer(third, 403, "KEY_EXPIRED").isDone)
        #expect(rig.service.paths == ["/rotate"])
    }

    /// A late answer is about the former key, however old the new one is by then.
    @Test func aLateAnswerChangesNoKeyAgain() async throws {
        let rig = try await FlowRig.registered()
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        try await rig.identity.rotate()
        rig.time.advance(.seconds(2 * 86_400))
        #expect(await rig.answer(signed, 403, "KEY_EXPIRED").again?.generation == 2)
        #expect(rig.service.paths == ["/rotate"])
    }

    /// An application cannot have keys changed as often as it likes.
    @Test func aYoungKeyIsNotChanged() async throws {
        let rig = try await FlowRig.registered()
        rig.time.advance(.seconds(3599))
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        #expect(await rig.answer(signed, 403, "KEY_EXPIRED").isDone)
        #expect(rig.service.paths == [])
        rig.time.advance(.seconds(1))
        #expect(await rig.answer(signed, 403, "KEY_EXPIRED").again?.generation == 2)
    }

    @Test func aServiceThatDoesNotChangeItStopsTheRequest() async throws {
        let rig = try await FlowRig.registered()
        rig.time.advance(.seconds(86_400))
        let signed = try await rig.identity.sign("POST", path: "/x", body: [1])
        rig.service.change { $0.answers["/rotate"] = (409, "ROTATION_FAILED") }
        #expect(await rig.answer(signed, 403, "KEY_EXPIRED").stopped == .rotationFailed)
        rig.service.change { $0.fates = Array(repeating: .notSent, count: 99) }
        #expect(await rig.answer(signed, 403, "KEY_EXPIRED").isDone)
        rig.service.change { ($0.answers, $0.fates) = ([:], []) }
        try await rig.expectNotLost()
    }

    @Test func aReportChangesTheKeyAtOnce() async throws {
        let rig = try await FlowRig.registered()
        try await rig.identity.reportCompromise()
        let record = try rig.record()
        #expect(record.key(.current)?.generation == 2 && !record.isCompromised)
        #expect(rig.isAccepted(try await rig.identity.sign("POST", path: "/x")))
        #expect(try #require(try rig.identity.rotationDue()) > rig.time.seconds)
        // The key that was used elsewhere is useless now.
        #expect(rig.service.devices["device-1"]?.retired.count == 1)
    }

    /// A key that was offered before the report may be as compromised as the other.
    @Test(arguments: [ScriptedService.Fate.answerLost, .requestLost])
    func aReportIsNotAnsweredByAKeyOfBefore(_ fate: ScriptedService.Fate) async throws {
        let rig = try await FlowRig.registered()
        await rig.rotate(fate)
        let kept = Mutex<[Bool]>([])
        rig.service.change { state in
            state.onExchange = { _ in
                let isKept = (try? rig.record().isCompromised) == true
                kept.withLock { $0.append(isKept) }
            }
        }
        try await rig.restarted().reportCompromise()
        // The report is on disk before anything else is done.
        #expect(kept.withLock { $0.first } == true)
        let record = try rig.record()
        #expect(record.key(.current)?.generation == 3 && !record.isCompromised && record.reason == nil)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(rig.service.devices["device-1"]?.retired.count == 2)
    }

    /// A report survives a failure of the network and of the process.
    @Test func aReportIsKeptUntilTheKeyWasChanged() async throws {
        let rig = try await FlowRig.registered()
        rig.service.change { $0.fates = Array(repeating: .notSent, count: 99) }
        #expect(await refusal { try await rig.identity.reportCompromise() } == .httpConnect)
        rig.service.change { $0.fates = [] }
        #expect(try rig.record().isCompromised)
        #expect(try #require(try rig.restarted().rotationDue()) <= rig.time.seconds)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        for _ in 0..<2 { try await rig.restarted().maintain() }
        #expect(try !rig.record().isCompromised)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        #expect(rig.service.devices["device-1"]?.retired.count ?? 0 >= 1)
        #expect(try #require(try rig.restarted().rotationDue()) > rig.time.seconds)
    }

    /// A TPM that cannot make a key now delays the change, and does not undo the report.
    @Test func aReportOutlivesATPMThatIsBusy() async throws {
        let rig = try await FlowRig.registered()
        rig.vault.fail(.make, TenonError(.tpmBusy, message: "Not now."))
        #expect(await refusal { try await rig.identity.reportCompromise() } == .tpmBusy)
        #expect(try rig.record().isCompromised)
        rig.vault.fail(.make, nil)
        // The reported change is due, although the clock was set back to before the registration.
        rig.time.setWall(by: .seconds(-200 * 86_400))
        rig.service.change { $0.skew = 200 * 86_400 }
        _ = try? await rig.restarted().maintain()
        #expect(rig.service.paths.first == "/rotate")
        rig.time.setWall(by: .seconds(200 * 86_400))
        rig.service.change { $0.skew = 0 }
        try await rig.restarted().maintain()
        #expect(try !rig.record().isCompromised)
    }

    @Test func whoIsNotRegisteredReportsNothing() async throws {
        let rig = try FlowRig()
        #expect(await refusal { try await rig.identity.reportCompromise() } == .notRegistered)
        #expect(rig.service.paths == [])
    }
}

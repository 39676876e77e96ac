// SPDX-License-Identifier: Apache-2.0
import FlowParts
import Testing

@testable import Tenon

/// With a bare TPM an operation does not look at a key that it signs with anyway (decision: unseen-key). What the look
/// found is found before anything is sent.
@Suite struct UnseenKeyTests {
    private static func bare(_ declare: (inout ServiceDeclaration) -> Void = { _ in }) async throws -> FlowRig {
        let rig = try await FlowRig.registered(.signatures, declare)
        rig.vault.makeBare()
        return rig
    }

    private func code(_ call: Verb, _ rig: FlowRig) async throws -> TenonError.Code? {
        rig.service.change { $0.seen = [] }
        return try await rig.restarted().code(call)
    }

    /// The attestation key is there and the key is not, as when its file was damaged: the signature finds it. So it is
    /// after a rotation, whose outcome maintenance asks about.
    @Test(arguments: [Verb.rotate, .maintain, .resolve], [false, true])
    func aKeyThatIsLostAlone(_ call: Verb, _ wasRotated: Bool) async throws {
        let rig = try await Self.bare()
        if wasRotated { try await rig.identity.rotate() }
        let before = try rig.record()
        rig.vault.lose(try #require(before.key(.current)).facts.pem)
        #expect(try await code(call, rig) == .keyInvalidated)
        #expect(rig.service.paths == [])
        #expect(try rig.record().state == .keyInvalid && rig.record().journal == nil)
        rig.vault.bringBack()
        #expect(try await code(call, rig) == nil)
        #expect(rig.isAccepted(try await rig.restarted().sign("POST", path: "/x")))
        // A rotation that ended at the signature left its new key, which the next one offers.
        #expect(rig.vault.keysMade == before.lastGeneration + (call == .rotate ? 1 : 0))
        try await rig.expectNotLost()
    }

    @Test func aThreadThatSignsAMessageWritesTheLossDown() async throws {
        let rig = try await Self.bare()
        rig.vault.clear()
        let (identity, data) = (try rig.restarted(), Array(#"{"challenge":"x"}"#.utf8))
        #expect(codeThrown { try identity.sign(.clientData(data)) } == .keyInvalidated)
        #expect(try rig.record().state == .keyInvalid)
    }

    /// A service that has no question is asked by a rotation to the same key, with a proof or without.
    @Test(arguments: [false, true])
    func aKeyThatIsLostBeforeASelfRotation(_ isProven: Bool) async throws {
        let rig = try await Self.bare {
            ($0.settlements, $0.rotation) = ([.resend, .selfRotation], .signedByCurrent(isProven: isProven))
        }
        try await rig.identity.rotate()
        rig.vault.clear()
        #expect(try await code(.maintain, rig) == .keyInvalidated)
        #expect(rig.service.paths == [] && rig.vault.attestationKeysMade == 1)
    }

    /// A lost attestation key is made anew and shown to the service, but not where the key is lost, too.
    @Test(arguments: [Verb.rotate, .maintain])
    func anAttestationKeyIsNotShownForALostKey(_ call: Verb) async throws {
        let rig = try await Self.bare()
        rig.vault.loseAttestationKeys()
        rig.service.change { $0.fates = Array(repeating: .notSent, count: 9) }
        #expect(try await code(.maintain, rig) == nil)
        #expect(rig.vault.attestationKeysMade == 2)
        rig.service.change { $0.fates = [] }
        // It is there, and the service does not know it yet.
        rig.vault.lose(try #require(rig.record().key(.current)).facts.pem)
        #expect(try await code(call, rig) == .keyInvalidated)
        #expect(rig.service.paths == [])
        rig.vault.bringBack()
        rig.vault.loseAttestationKeys()
        #expect(try await code(call, rig) == nil)
        #expect(rig.service.paths == ["/challenge", "/register"] + (call == .rotate ? ["/rotate"] : []))
    }

    /// What ails the attestation key ails the key, too, and is told of the key.
    @Test func aParentThatIsMissingIsToldOfTheKey() async throws {
        let rig = try await Self.bare()
        rig.vault.fail(.areaOfAK, TenonError(.parentMissing, message: ""))
        rig.vault.fail(.load, TenonError(.parentMissing, message: ""))
        for call in [Verb.rotate, .maintain] { #expect(try await code(call, rig) == .parentMissing) }
        #expect(rig.service.paths == [] && rig.vault.keysMade == 1)
        // Of the attestation key alone.
        rig.vault.fail(.load, nil)
        #expect(try await code(.rotate, rig) == .attestationUnavailable)
        #expect(rig.service.paths == [] && rig.vault.keysMade == 1)
    }
}

// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Tenon
import TenonTPM
import Testing

/// A TPM as the key vault of an identity.
@Suite(.timeLimit(.minutes(1))) struct TPMKeyVaultTests {
    private var software: SoftwareTPM { OpenTPM.current.software }
    private var tpm: TPM { OpenTPM.current.tpm }

    private func message() throws -> RequestMessage {
        try RequestMessage(method: "GET", path: "/", timestamp: "1700000000")
    }

    @Test(.tpm) func aKeyIsFoundByItsFacts() async throws {
        let vault = TPMKeyVault(tpm)
        let facts = try await vault.makeKey()
        #expect(vault.isHardware)
        #expect(facts.witness != nil && facts.parent != nil && facts.name.count == 34)
        // The vault that made it has it loaded.
        support_transport_reset_counts(software.wire)
        let made = try await vault.key(facts)
        #expect(software.commands() == 0)
        // The two share the TPM's places: the primary goes.
        _ = try await tpm.info()
        let other = TPMKeyVault(try software.tpm())
        let loaded = try await other.key(facts)
        #expect(loaded.publicKey == made.publicKey)
        var message = try message()
        let signature = try await loaded.signature(for: .request(message))
        #expect(made.publicKey.isValidSignature(signature, for: try message.finish()))
    }

    @Test(.tpm) func threeKeysAreKeptAndMoreAreLoadedAgain() async throws {
        let vault = TPMKeyVault(tpm)
        var all: [KeyFacts] = []
        for _ in 0..<5 { all.append(try await vault.makeKey()) }
        var names: Set<PublicKey> = []
        for facts in all + all { names.insert(try await vault.key(facts).publicKey) }
        #expect(names.count == 5)
        // The last used keys stay loaded, so they are not loaded again. A released key may be flushed at any time.
        support_transport_reset_counts(software.wire)
        for facts in all.suffix(3) { _ = try await vault.key(facts) }
        #expect(software.commands(SUPPORT_CC_LOAD) == 0)
        _ = try await vault.key(all[0])
        #expect(software.commands(SUPPORT_CC_LOAD) > 0)
        support_transport_reset_counts(software.wire)
        _ = try await vault.key(all[0])
        #expect(software.commands(SUPPORT_CC_LOAD) == 0)
    }

    @Test(.tpm) func eachAttestationKeyIsItsOwn() async throws {
        let vault = TPMKeyVault(tpm)
        let key = try await vault.makeKey()
        let all = [try await vault.makeAttestationKey(beside: key), try await vault.makeAttestationKey(beside: key)]
        for facts in all { #expect(try await vault.publicArea(ofAttestationKey: facts).name == facts.name) }
    }

    /// The key of a file is loaded by the signature; who asks for a key that the TPM takes is told (decision: unseen-key).
    @Test func aBareTPMLoadsAKeyWhenItIsUsed() async throws {
        try await withTPM(isBare: true) { software, tpm in
            let facts = try await TPMKeyVault(tpm).makeKey()
            let vault = TPMKeyVault(tpm)
            support_transport_reset_counts(software.wire)
            let unseen = [try await vault.unseenKey(facts), try vault.blockingUnseenKey(facts)]
            #expect(software.commands() == 0)
            for key in unseen {
                let signature = try await key.signature(for: .request(try message()))
                var signed = try message()
                #expect(key.publicKey.isValidSignature(signature, for: try signed.finish()))
            }
            #expect(software.commands(SUPPORT_CC_LOAD) == 2)
            _ = try await vault.key(facts)
            _ = try vault.blockingKey(facts)
            #expect(software.commands(SUPPORT_CC_LOAD) == 3)
        }
    }

    @Test func aKeyThatABareTPMLostIsSaidToBeGone() async throws {
        try await withTPM(isBare: true) { software, tpm in
            let facts = try await TPMKeyVault(tpm).makeKey()
            #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
            let vault = TPMKeyVault(tpm)
            let request = SignableMessage.request(try message())
            let unseen = try await vault.unseenKey(facts)
            let errors = [
                await errorAwaited { _ = try await unseen.signature(for: request) },
                await errorAwaited { _ = try await vault.key(facts) },
                errorThrown { try vault.blockingKey(facts) },
                await errorAwaited { _ = try await vault.facts(ofFile: facts.pem) },
            ]
            #expect(errors.map(\.?.code) == Array(repeating: .keyGone, count: 4))
        }
    }

    @Test(.tpm, arguments: [false, true])
    func aDiscardedKeyLeavesNoCopyInTheTPM(_ isBlocking: Bool) async throws {
        let key = try await TPM.PrivateKey(in: tpm)
        try await key.persist()
        let vault = TPMKeyVault(try software.tpm(TPM.Options(deadline: .zero)))
        let facts = try await vault.facts(ofFile: key.dataRepresentation)
        func discard() async throws {
            if isBlocking { try vault.blockingDiscard(facts) } else { try await vault.discard(facts) }
        }
        // A TPM that is too busy has the copy still.
        support_fail_code(software.wire, support_times(SUPPORT_CC_EVICT_CONTROL, 1, SUPPORT_ALWAYS), 0x922)
        #expect(await errorAwaited { try await discard() }?.code.category == .transient)
        support_transport_forget_faults(software.wire)
        support_transport_reset_counts(software.wire)
        try await discard()
        #expect(software.commands(SUPPORT_CC_EVICT_CONTROL) == 1)
        #expect(try await tpm.persistentHandles() == [])
    }

    /// A vault by a service's rule asks the same person.
    @Test(.tpm) func aRuleForSignaturesKeepsThePerson() async throws {
        let vault = TPMKeyVault(tpm, unlock: { () throws(TenonError) in Sample.secret }).signing(.strict)
        let key = try await vault.key(vault.makeKey())
        _ = try await key.signature(for: .event(Sample.event))
        #expect(errorThrown { try key.blockingSignature(for: .event(Sample.event)) }?.code == .authNeeded)
    }

    @Test(.tpm, arguments: [SUPPORT_RH_OWNER, SUPPORT_RH_ENDORSEMENT])
    func noKeyIsMadeWithoutAHierarchy(_ hierarchy: UInt32) async throws {
        try await TPMKeyVault(tpm).checkHardware()
        #expect(support_hierarchy_control(software.device, hierarchy, false) == 0)
        #expect(await errorAwaited { try await TPMKeyVault(tpm).checkHardware() }?.code == .attestationUnavailable)
    }

    @Test(.endorsedTPM) func theEndorsementKeyIsShownOnlyWhenItMayBe() async throws {
        let vault = TPMKeyVault(tpm)
        await #expect(throws: TenonError(.ekMissing, message: "")) { try await vault.endorsementCertificates() }
        // It is still compared, and stays in the device.
        _ = try await vault.endorsementKeyID()
    }

    /// The id and what a service is shown are one reading; on another connection, to another TPM perhaps, and after it
    /// was shown once, the certificate is read again.
    @Test(.endorsedTPM) func theCertificateIsReadOnce() async throws {
        let vault = TPMKeyVault(tpm, .endorsement(above: []))
        let id = try await vault.endorsementKeyID()
        support_transport_reset_counts(software.wire)
        let shown = try await vault.endorsementCertificates()
        #expect(try EndorsementKey(unverified: shown[0]).id == id)
        #expect(software.commands() == 0)
        #expect(try await vault.endorsementCertificates() == shown)
        #expect(software.commands() == 4)

        _ = try await vault.endorsementKeyID()
        #expect(support_nv_remove(software.device, 0x01C0_0016) == 0)
        support_fail_before(software.wire, support_next(SUPPORT_ANY), tenon_status(TENON_ERROR_TPM_TRANSPORT))
        _ = try await tpm.info()
        #expect(try await vault.endorsementCertificates() != shown)
    }

    /// Which machine this is its TPM says, if it has a certificate; while it cannot, nothing that was handed in does.
    @Test(.endorsedTPM) func whatIsHandedInIsNotTheTPMs() async throws {
        let certificates = try await TPMKeyVault(tpm, .endorsement(above: [])).endorsementCertificates()
        let vault = TPMKeyVault(tpm, .certificates(certificates))
        let own = try await vault.endorsementKeyID()
        support_fail_code(software.wire, support_times(SUPPORT_ANY, 1, SUPPORT_ALWAYS), 0x101)
        await #expect(throws: TenonError.self) { try await vault.endorsementKeyID() }
        support_transport_forget_faults(software.wire)
        #expect(try await vault.endorsementKeyID() == own)
    }

    /// The file of another kind of key, and a damaged file, never count as the loss of a key.
    @Test(.tpm) func aFileThatIsNoKeyIsNotAKeyThatIsGone() async throws {
        let vault = TPMKeyVault(tpm)
        let key = try await vault.makeKey()
        let ak = try await vault.makeAttestationKey(beside: key)
        let other = TPMKeyVault(tpm)
        for facts in [ak, try KeyFacts(pem: [1, 2, 3], name: key.name, parent: nil, witness: nil)] {
            let error = await errorAwaited { try await other.key(facts) }
            #expect(error != nil && error?.code.category != .gone)
        }
    }

    @Test(.tpm) func aClearedTPMSaysThatTheKeyIsGone() async throws {
        let vault = TPMKeyVault(tpm)
        let facts = try await vault.makeKey()
        #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
        await #expect(throws: TenonError(.keyGone, message: "")) {
            let key = try await TPMKeyVault(software.tpm()).key(facts)
            _ = try await key.signature(for: .request(self.message()))
        }
        // No manager stands between the two: what the first one flushes is the other's by then.
        withExtendedLifetime(vault) {}
    }
}

// SPDX-License-Identifier: Apache-2.0
import Tenon
import TestEvidence
import Testing

/// The verifier through its Swift types. C tests check each rule.
@Suite struct ProofTests {
    private func code(_ rig: ProofRig, _ change: (inout ProofPolicy) -> Void = { _ in }) throws -> TenonError.Code? {
        var policy = try rig.policy()
        change(&policy)
        let proof = try rig.proof()
        return codeThrown { try proof.verify(rig.key, nonce: rig.nonce, policy: policy) }
    }

    @Test func accepted() throws {
        let rig = try ProofRig()
        let report = try rig.proof().verify(rig.key, nonce: rig.nonce, policy: rig.policy())
        #expect(report.verdict == .accepted)
        #expect(report.isClockSafe && !report.isHierarchyKnown)
        #expect(report.checks.first?.rule == .rule1Size && report.checks.last?.rule == .rule32Signature)
        #expect(report.checks.filter { $0.outcome == .noted }.map(\.rule).contains(.rule11Parent))
        #expect(report.checks.allSatisfy { $0.outcome != .notHeld && !$0.text.isEmpty })
        var unsafe = rig
        unsafe.isClockSafe = false
        #expect(try !unsafe.proof().verify(rig.key, nonce: rig.nonce, policy: rig.policy()).isClockSafe)
    }

    @Test func byRoots() throws {
        let authority = try AuthorityRig()
        var rig = try ProofRig()
        rig.certificates = try authority.chain(for: rig.akArea)
        let roots = ProofPolicy(trust: .roots([authority.root.certificate]), now: rig.now)
        try rig.proof().verify(rig.key, nonce: rig.nonce, policy: roots)
        #expect(try code(rig) { $0 = roots } == nil)
        #expect(try code(rig) { $0.trust = .roots([]) } == .rule24Chain)
        #expect(try code(rig) { $0.trust = .roots([[]]) } == .rule24Chain)
        #expect(
            try code(rig) { $0.trust = .roots([[UInt8]](repeating: authority.root.certificate, count: 5000)) } == nil)
        #expect(try code(rig) { ($0.trust, $0.now) = (roots.trust, authority.terms.notAfter + 1) } == .rule24Chain)
        #expect(try code(rig) { ($0.trust, $0.now) = (roots.trust, .min) } == .rule24Chain)
        // No other certificate may be above an AK's, not even one for the same key.
        let other = try AttestationAuthority(root: "Other", key: authority.rootKey, terms: authority.terms)
        #expect(try code(rig) { $0.trust = .roots([other.certificate]) } == .rule24Chain)
        // Each kind of trust refuses the options of the other.
        #expect(try code(rig) == .rule22Certificate)
        rig.certificates = []
        #expect(try code(rig) { $0 = roots } == .rule22Certificate)
        // A chain of another AK.
        rig.certificates = try authority.chain(for: ProofRig().akArea)
        #expect(try code(rig) { $0 = roots } == .rule32Signature)
    }

    @Test func eachInputHasItsCode() throws {
        let rig = try ProofRig()
        let proof = try rig.proof()
        let policy = try rig.policy()
        let other = try ProofRig()
        #expect(codeThrown { try proof.verify(rig.key, nonce: Digest(hashing: []), policy: policy) } == .rule7Nonce)
        #expect(codeThrown { try proof.verify(other.key, nonce: rig.nonce, policy: policy) } == .rule19PublicKey)
        let others = try other.policy().trust
        #expect(try code(rig) { $0.trust = others } == .rule32Signature)
        let itself = try PublicArea(dataRepresentation: ProofRig.area(rig.key, 0x0005_0472, attests: true))
        #expect(try code(rig) { $0.trust = .ak(itself) } == .rule31AnotherKey)
        let plain = try PublicArea(dataRepresentation: rig.keyArea)
        #expect(try code(rig) { $0.trust = .ak(plain) } == .rule29AK)
    }

    @Test func whatTheTPMSays() throws {
        var rig = try ProofRig()
        rig.magic = 0xff54_4348
        #expect(try code(rig) == .rule5Magic)
        rig = try ProofRig()
        rig.akAttributes = 0x0004_0472
        #expect(try code(rig) == .rule29AK)
    }

    private typealias Outcome = (TenonError.Code?, VerificationReport.Outcome?)

    /// The verdict, and what came of a rule.
    private func outcome(_ rig: ProofRig, _ trust: ProofPolicy.Trust, of rule: TenonError.Code) throws -> Outcome {
        let policy = ProofPolicy(trust: trust, now: rig.now)
        let report = try rig.proof().report(on: rig.key, nonce: rig.nonce, policy: policy)
        return (codeThrown { try report.check() }, report.checks.first { $0.rule == rule }?.outcome)
    }

    @Test func makers() throws {
        let authority = try AuthorityRig()
        var rig = try ProofRig()
        rig.certificates = try authority.chain(for: rig.akArea)
        let maker = authority.ek.maker
        func outcome(_ makers: ProofPolicy.Makers?) throws -> Outcome {
            try self.outcome(rig, .roots([authority.root.certificate], makers: makers), of: .rule26Maker)
        }
        #expect(try outcome(nil) == (nil, .noted))
        #expect(try outcome(.init([])) == (nil, .noted))
        #expect(try outcome(.init(["id:00000000", maker])) == (nil, .held))
        #expect(try outcome(.init(["id:00000000"])) == (nil, .noted))
        #expect(try outcome(.init(["id:00000000", maker], areRequired: true)) == (nil, .held))
        #expect(try outcome(.init(["id:00000000", ""], areRequired: true)) == (.rule26Maker, .notHeld))
        #expect(try outcome(.init([], areRequired: true)) == (.options, nil))
    }

    @Test func firmware() throws {
        let rig = try ProofRig()
        let ak = try PublicArea(dataRepresentation: rig.akArea)
        func outcome(_ ekName: [UInt8], _ least: UInt64) throws -> Outcome {
            try self.outcome(rig, .ak(ak, firmware: .init(ekName: ekName, least: least)), of: .rule30Firmware)
        }
        #expect(try outcome(rig.ekName, rig.firmware) == (nil, .held))
        #expect(try outcome(rig.ekName, rig.firmware + 1) == (.rule30Firmware, .notHeld))
        // Under another EK, the TPM hides it: the demand cannot be judged, so the proof is refused.
        #expect(try outcome(changed(rig.ekName, at: 9, to: 0), rig.firmware + 1) == (.options, .notHeld))
        #expect(try outcome([], 1) == (.options, nil))
        #expect(try outcome([UInt8](repeating: 0, count: 1 << 20), 1) == (.options, nil))
    }

    @Test func parents() throws {
        let rig = try ProofRig()
        let report = try rig.proof().verify(
            rig.key, nonce: rig.nonce,
            policy: ProofPolicy(
                trust: rig.policy().trust, now: 0, parentQualifiedName: rig.parentQualifiedName))
        #expect(report.isHierarchyKnown)
        #expect(
            try code(rig) { $0.parentQualifiedName = changed(rig.parentQualifiedName, at: 9, to: 0) } == .rule11Parent)
        #expect(try code(rig) { $0.parentQualifiedName = Array(rig.parentQualifiedName.dropLast()) } == .options)
        #expect(try code(rig) { $0.parentQualifiedName = [UInt8](repeating: 0, count: 1 << 20) } == .options)
    }

    @Test func hostileBytes() throws {
        let rig = try ProofRig()
        for (bytes, expected) in [
            ([], .cborTruncated), ([0xff], .cborType), ([0xbf], .cborIndefinite),
            ([UInt8](repeating: 0, count: 16385), .rule1Size), ([UInt8](repeating: 0xa2, count: 1 << 22), .rule1Size),
        ] as [([UInt8], TenonError.Code)] {
            let proof = Proof(dataRepresentation: bytes)
            let report = try proof.report(on: rig.key, nonce: rig.nonce, policy: rig.policy())
            #expect(report.verdict == .refused(TenonError(expected, message: "")))
            #expect(report.checks.last?.outcome == .notHeld)
            #expect(throws: TenonError(expected, message: "")) { try report.check() }
        }
    }

    @Test func isPrinted() throws {
        let rig = try ProofRig()
        let accepted = try rig.proof().report(on: rig.key, nonce: rig.nonce, policy: rig.policy())
        let lines = accepted.description.split(separator: "\n")
        #expect(lines.count == accepted.checks.count + 1)
        #expect(lines.first == "held      TENON_RULE_1_SIZE")
        #expect(lines.contains("noted     TENON_RULE_11_PARENT"))
        #expect(lines.last == "accepted")
        let refused = try rig.proof().report(on: rig.key, nonce: Digest(hashing: []), policy: rig.policy())
        let text = "The statement is not for this nonce."
        #expect(
            refused.description.split(separator: "\n").suffix(2) == [
                "not held  TENON_RULE_7_NONCE: \(text)", "refused   TENON_RULE_7_NONCE: \(text)",
            ])
        #expect(refused.checks.last?.rule == .rule7Nonce && !refused.isClockSafe)
        #expect(refused != accepted)
    }

    /// After an invalid argument, nothing was checked.
    @Test func wrongArguments() throws {
        let rig = try ProofRig()
        let policy = ProofPolicy(trust: try rig.policy().trust, now: 0, parentQualifiedName: [1])
        let report = try rig.proof().report(on: rig.key, nonce: rig.nonce, policy: policy)
        #expect(report.checks.isEmpty)
        #expect(report.description.hasPrefix("refused   TENON_ERROR_OPTIONS: "))
    }
}

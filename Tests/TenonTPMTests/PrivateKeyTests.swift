// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import FoundationEssentials
import Tenon
import TenonTPM
import Testing

/// Keys and their signatures, with the blocking functions.
@Suite(.timeLimit(.minutes(1))) struct PrivateKeyTests {
    private var tpm: TPM { OpenTPM.current.tpm }
    private var software: SoftwareTPM { OpenTPM.current.software }

    @Test(.blockingTPM) func isBornInTheTPM() throws {
        let key = try TPM.PrivateKey(in: tpm)
        #expect(key.isHardware)
        #expect(!key.isForeign)
        #expect(key.tpm === tpm)
        #expect(key.name.count == 34 && key.name.starts(with: [0, 0x0b]))
        // A fresh TPM has no storage key, so that the parent is the primary whose Name is the witness.
        #expect(key.witness != nil && key.witness == key.parentName)
        #expect(try TPM.PrivateKey(in: tpm).publicKey != key.publicKey)
    }

    @Test(.blockingTPM) func publicKeyHasItsForms() throws {
        let key = try TPM.PrivateKey(in: tpm).publicKey
        #expect(try PublicKey(rawRepresentation: key.rawRepresentation) == key)
        #expect(try PublicKey(x963Representation: key.x963Representation) == key)
        #expect(try PublicKey(compressedRepresentation: key.compressedRepresentation) == key)
        #expect(try PublicKey(derRepresentation: key.derRepresentation) == key)
    }

    /// Like a key of CryptoKit, without any option.
    @Test(.tpm) func signsData() async throws {
        let key = try await TPM.PrivateKey(in: tpm)
        let text = "a message"
        let data = Data(text.utf8)
        // Only then the primary that it was made under is flushed.
        try await key.check()
        support_transport_reset_counts(software.wire)
        let signature = try await key.signature(for: data)
        #expect(software.commands() == 1)
        #expect(key.publicKey.isValidSignature(signature, for: data))
        #expect(key.publicKey.isValidSignature(signature, for: text.utf8))
        #expect(key.publicKey.isValidSignature(signature, for: Array(data)[...]))
        #expect(try key.publicKey.isValidSignature(signature, for: Digest(hashing: data)))
        #expect(!key.publicKey.isValidSignature(signature, for: data + [0]))
        #expect(try PublicKey(derRepresentation: Data(key.publicKey.derRepresentation)) == key.publicKey)
    }

    /// A caller that may have data signed cannot have a message of a service signed.
    @Test(.blockingTPM) func dataIsNoMessage() throws {
        let key = try TPM.PrivateKey(in: tpm)
        let request = Array("POST\n/v1/hsi\n1700000000\n{}".utf8)
        for message in [request, key.publicKey.x963Representation, Sample.clientData, Sample.event] {
            let error = errorThrown { try key.signature(for: message) }
            #expect(error?.code == .dataIsMessage)
        }
    }

    @Test(.blockingTPM) func signsDataAndDigests() throws {
        let key = try TPM.PrivateKey(in: tpm, options: .signsDigests)
        let digest = try Digest(hashing: Sample.data)
        try key.check()
        support_transport_reset_counts(software.wire)
        let signature = try key.signature(for: Sample.data)
        #expect(software.commands() == 1)
        #expect(key.publicKey.isValidSignature(signature, for: digest))
        #expect(try key.publicKey.isValidSignature(key.signature(for: digest), for: digest))
        #expect(try Signature(derRepresentation: signature.derRepresentation) == signature)
        #expect(try Signature(rawRepresentation: signature.rawRepresentation) == signature)
    }

    @Test(.blockingTPM) func signsMessages() throws {
        let key = try TPM.PrivateKey(in: tpm)
        var message = try RequestMessage(method: "POST", path: "/v1/hsi", timestamp: "1700000000")
        try message.update(Sample.data)
        let request = try key.blockingSignature(for: .request(message))
        let digest = try message.finish()
        #expect(key.publicKey.isValidSignature(request, for: digest))
        let next = try TPM.PrivateKey(in: tpm).publicKey
        let rotation = try key.blockingSignature(for: .rotation(to: next))
        #expect(try key.publicKey.isValidSignature(rotation, for: Digest(hashing: next.x963Representation)))
        let clientData = try key.blockingSignature(for: .clientData(Sample.clientData))
        #expect(try key.publicKey.isValidSignature(clientData, for: Digest(hashing: Sample.clientData)))
        let event = try key.blockingSignature(for: .event(Sample.event))
        #expect(try key.publicKey.isValidSignature(event, for: Digest(hashing: Sample.event)))
    }

    @Test(.blockingTPM) func digestsNeedTheCapability() throws {
        let key = try TPM.PrivateKey(in: tpm, options: [.lowS, .verified])
        let digest = try Digest(hashing: Sample.data)
        let error = errorThrown { try key.signature(for: digest) }
        #expect(error?.code == .digestNotAllowed)
    }

    @Test(.blockingTPM) func isLoadedAgain() throws {
        let made = try TPM.PrivateKey(in: tpm)
        // The two share the TPM's places: the primary goes.
        try made.check()
        let key = try TPM.PrivateKey(dataRepresentation: made.dataRepresentation, in: software.tpm())
        #expect(key.publicKey == made.publicKey)
        #expect(key.name == made.name)
        #expect(key.parentName == made.parentName)
        #expect(key.witness == made.witness)
        #expect(key.dataRepresentation == made.dataRepresentation)
        try expectSigns(key, as: made.publicKey)
    }

    @Test(.blockingTPM) func lowS() throws {
        let key = try TPM.PrivateKey(in: tpm, options: .lowS)
        for _ in 0..<16 { #expect(try key.blockingSignature(for: .event(Sample.event)).isLowS) }
    }

    @Test(.blockingTPM, arguments: [TPM.PrivateKey.Options(), .verified])
    func aSignatureThatDoesNotFit(_ options: TPM.PrivateKey.Options) throws {
        let key = try TPM.PrivateKey(in: tpm, options: options)
        // Twice, because a key that verifies its signatures notices and signs once more.
        let times: UInt32 = options.contains(.verified) ? 2 : 1
        support_flip(software.wire, support_times(SUPPORT_CC_SIGN, 1, times), -6, 1)
        let error = errorThrown { try key.blockingSignature(for: .event(Sample.event)) }
        #expect(error?.code == (options.contains(.verified) ? .tpmAnswer : nil))
        #expect(support_transport_pending(software.wire) == 0)
    }

    @Test(.blockingTPM) func authNeverCrossesTheBus() throws {
        support_transport_watch(software.wire, Sample.secret, Sample.secret.count)
        let made = try TPM.PrivateKey(in: tpm, auth: Sample.secret)
        let key = try TPM.PrivateKey(dataRepresentation: made.dataRepresentation, in: tpm, auth: Sample.secret)
        try expectSigns(key, as: made.publicKey)
        #expect(software.commands(SUPPORT_CC_START_AUTH_SESSION) == 2)
        #expect(support_transport_watched(software.wire) == 0)
    }

    @Test(.blockingTPM) func wrongAuth() throws {
        let made = try TPM.PrivateKey(in: tpm, auth: Sample.secret)
        let key = try TPM.PrivateKey(dataRepresentation: made.dataRepresentation, in: tpm, auth: Sample.data)
        let error = errorThrown { try key.blockingSignature(for: .event(Sample.event)) }
        #expect(error?.code.category == .auth)
        #expect(error?.tpmCode != nil)
        let none = errorThrown { try TPM.PrivateKey(dataRepresentation: made.dataRepresentation, in: tpm) }
        #expect(none?.code == .authNeeded)
        let long = [UInt8](repeating: 1, count: 33)
        #expect(
            errorThrown { try TPM.PrivateKey(in: tpm, auth: long) }?.code == .authValue)
    }

    @Test(arguments: [TPM.Session.password, .salted, .encrypted])
    func sessions(_ session: TPM.Session) throws {
        try withTPM(TPM.Options(session: session)) { software, tpm in
            let key = try TPM.PrivateKey(in: tpm)
            try expectSigns(key)
            #expect(support_session_count(software.device) == (session == .password ? 0 : 1))
        }
    }

    @Test(.blockingTPM) func notAKey() throws {
        let pem = try TPM.PrivateKey(in: tpm).dataRepresentation
        for wrong in [[], Sample.data, pem.dropLast(40), pem + Sample.data] {
            let error = errorThrown { try TPM.PrivateKey(dataRepresentation: Array(wrong), in: tpm) }
            #expect(error?.code.category == .format)
        }
    }

    @Test(.blockingTPM) func isGoneAfterAClear() throws {
        let key = try TPM.PrivateKey(in: tpm)
        #expect(support_clear(software.device, SUPPORT_RH_LOCKOUT, nil) == 0)
        let error = errorThrown { try key.blockingSignature(for: .event(Sample.event)) }
        #expect(error?.code == .keyGone)
        #expect(error?.code.category == .gone)
    }
}

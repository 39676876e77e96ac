// SPDX-License-Identifier: Apache-2.0
import AuthsMobile
import CTestSupport
import FlowParts
import Tenon
import TenonAuths
import TenonTPM
import TestFolders
import Testing

/// A KERI identifier whose keys are in a software TPM, at an honest service.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AuthsTPMTests {
    private var software: SoftwareTPM { OpenTPM.current.software }
    private var tpm: TPM { OpenTPM.current.tpm }

    private func identity(_ tpm: TPM, _ service: LogService, _ folder: String) throws -> DeviceIdentity {
        try DeviceIdentity(
            appID: "app", profile: Auths(baseURL: "https://log.example", appID: "app"), vault: TPMKeyVault(tpm),
            transport: service, folder: StateFolder(at: folder), clock: service.time.clock)
    }

    /// The device signs with the key of its last event, in the only form that a strict verifier takes.
    private func expectSigns(
        _ identity: DeviceIdentity, _ service: LogService, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let events = try #require(identity.deviceID.flatMap { service.logs[$0] })
        var log = KeyEventLog()
        for event in events { try log.append(event) }
        let signature = try await identity.signPlain(Sample.data)
        #expect(signature.isLowS, sourceLocation: sourceLocation)
        #expect(try #require(log.key).isValidSignature(signature, for: Digest(hashing: Sample.data)))
        #expect(service.numbersWithTwoEvents == 0, sourceLocation: sourceLocation)
    }

    private func expectCost(_ software: SoftwareTPM, _ service: LogService, exchanges: Int, signatures: UInt32) {
        #expect(service.exchanges == exchanges)
        #expect(software.commands(SUPPORT_CC_SIGN) == signatures)
    }

    @Test(.tpm) func aLifeWithTwoKeysInTheTPM() async throws {
        try await withFolder { folder in
            let service = LogService(FlowTime())
            let first = try identity(tpm, service, folder)
            let prefix = try await first.register().deviceID
            expectCost(software, service, exchanges: 1, signatures: 1)
            try await expectSigns(first, service)
            try await first.rotate()
            // One signature each: of the inception, of the data, and of the rotation.
            expectCost(software, service, exchanges: 3, signatures: 3)
            let second = try identity(tpm, service, folder)
            try await second.rotate()
            try await expectSigns(second, service)
            #expect(second.deviceID == prefix && service.logs[prefix]?.count == 3)
            let events = try await second.events()
            #expect(events.map(\.attachment) == service.logs[prefix]?.map(\.attachment))
        }
    }

    /// Each TPM command fails once: the same call again goes on, no event has a key that is gone, and nothing is left
    /// in the TPM.
    @Test(.tpm, arguments: [false, true])
    func eachCommandFailsOnce(_ isRotation: Bool) async throws {
        var (number, hasFailed) = (UInt32(0), true)
        while hasFailed {
            number += 1
            hasFailed = try await withFolder { folder in
                let service = LogService(FlowTime())
                if isRotation { try await identity(tpm, service, folder).register() }
                support_fail_code(software.wire, support_nth(SUPPORT_ANY, number), 0x101)
                let cut = try identity(tpm, service, folder)
                _ = await errorAwaited {
                    if isRotation { try await cut.rotate() } else { try await cut.register() }
                }
                let hasFailed = support_transport_pending(software.wire) == 0
                support_transport_forget_faults(software.wire)
                let again = try identity(tpm, service, folder)
                try await again.register()
                try await again.rotate()
                try await expectSigns(again, service)
                #expect(service.logs.count == 1, "command \(number)")
                return hasFailed
            }
        }
        #expect(number > 3)
        print("auths, \(isRotation ? "rotate" : "register"): \(number - 1) TPM commands failed once")
    }

    /// Another TPM takes neither key: the old identifier stays readable, goes on when its TPM is back, and only
    /// `register` begins another.
    @Test(.tpm) func anotherTPM() async throws {
        try await withTPM { _, other in
            try await withFolder { folder in
                let service = LogService(FlowTime())
                let prefix = try await identity(tpm, service, folder).register().deviceID
                try await identity(tpm, service, folder).rotate()
                let foreign = try identity(other, service, folder)
                let refusal = await errorAwaited { try await foreign.rotate() }
                #expect(refusal?.code == .keyInvalidated)
                #expect(try foreign.status().state == .keyInvalid && foreign.deviceID == prefix)
                #expect(try await foreign.events().count == 2)
                // Its own TPM is back: it goes on with its log, without a second inception.
                try await identity(tpm, service, folder).rotate()
                try await expectSigns(identity(tpm, service, folder), service)
                #expect(service.logs.count == 1 && service.logs[prefix]?.count == 3)
                _ = await errorAwaited { try await foreign.rotate() }
                let another = try await foreign.register().deviceID
                #expect(another != prefix && service.logs.count == 2)
                #expect(try await foreign.events().count == 1)
                try await expectSigns(foreign, service)
            }
        }
    }

    private enum UIDevice {
        static let current = (name: "a phone", model: "x")
    }

    private enum API {
        static func post(_ path: String, body: [String: String], to service: LogService) throws -> Int {
            let json = body.reduce(into: JSONObject()) { $0[$1.key] = .string($1.value) }
            return try service.exchange(
                HTTPRequest(
                    method: "POST", url: "https://log.example" + path, body: JSON.object(json).encoded())
            ).status
        }
    }

    /// The quick start of Auths' page, without the lines that would save private keys, and with the attachment.
    @Test(.tpm) func theQuickStartOfThePageRuns() async throws {
        try await withFolder { folder in
            AuthsDevice.configure(tpm: tpm, stateDirectory: folder)
            let service = LogService(FlowTime())
            let identity = try createIdentity(deviceName: UIDevice.current.name)
            let response = try API.post(
                "/register",
                body: [
                    "prefix": identity.prefix,
                    "did": identity.did,
                    "public_key_hex": identity.currentPublicKeyHex,
                    "inception_event": identity.inceptionEventJson,
                    "attachment": identity.inceptionAttachment,
                ], to: service)
            #expect(response == 200 && service.logs[identity.prefix]?.count == 1)
            let hex = try signWithIdentity(Sample.data)
            let key = try PublicKey(
                compressedRepresentation: TextEncoding.hex.decode(identity.currentPublicKeyHex))
            let signature = try Signature(rawRepresentation: TextEncoding.hex.decode(hex))
            #expect(hex.utf8.count == 128)
            #expect(try key.isValidSignature(signature, for: Digest(hashing: Sample.data)))
            // The same identity and the same bytes, in this process and in another.
            let again = try createIdentity(deviceName: "x")
            AuthsDevice.configure(tpm: tpm, stateDirectory: folder)
            let other = try createIdentity(deviceName: "x")
            for same in [again, other] {
                #expect(same.inceptionEventJson == identity.inceptionEventJson)
                #expect(same.inceptionAttachment == identity.inceptionAttachment)
            }
            #expect(throws: TenonError.self) { try signWithIdentity(Sample.clientData) }
            // What it keeps must not outlive the TPM of this test.
            AuthsDevice.configure(tpm: nil, stateDirectory: nil)
        }
    }
}

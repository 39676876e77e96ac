// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

/// How much one device may ask of the authority in signature version 2, and how little a stranger may.
@Suite struct CoveredLimitTests {
    private static let limited = "RATE_LIMITED rate_limited"

    /// Fresh signatures have a limit in each second; requests whose signature is known are not counted.
    @Test func freshSignatures() async throws {
        try await CoveredRig.with { rig in
            let known = try rig.batch(100)
            #expect(try await rig.ask(known[0]) == "200")
            for _ in 1..<64 { #expect(try await rig.ask(rig.batch(1)[0]) == "200") }
            let (more, plain) = (try rig.batch(1)[0], try rig.device.plain(CoveredDraft(rig.device, at: rig.seconds)))
            let answer = try await CoveredRig.send(more.question(), to: rig.rig.service)
            #expect(answer.verdict == "429 RATE_LIMITED" && answer.header("Retry-After") == "1")
            #expect(try await rig.ask(plain) == Self.limited)
            #expect(try await rig.metric("signature_verifications_total") == 64)
            for signed in known[1...] { #expect(try await rig.ask(signed) == "200") }
            rig.rig.clock.advance(1_000)
            for signed in [more, plain] { #expect(try await rig.ask(signed) == "200") }
        }
    }

    /// Somebody sends captured requests again, as they were and with another body: the device keeps its share.
    @Test func capturedRequests() async throws {
        try await CoveredRig.with(limits: #"{"requests_per_second": 10}"#) { rig in
            let plain = try rig.device.plain(CoveredDraft(rig.device, at: rig.seconds))
            #expect(try await rig.ask(plain) == "200")
            let other: [String: JSON] = ["body": .string(TextEncoding.base64.encode(Array("another".utf8)))]
            for _ in 0..<70 {
                #expect(try await rig.ask(plain).hasPrefix("NONCE_REPLAY"))
                #expect(try await rig.ask(plain, other).hasSuffix("signing_rule_20"))
            }
            for signed in try rig.batch(9) { #expect(try await rig.ask(signed) == "200") }
        }
    }

    @Test func requestsOfASecond() async throws {
        try await CoveredRig.with(limits: #"{"requests_per_second": 10}"#) { rig in
            let (batch, other) = (try rig.batch(12), try await rig.rig.device(versions: [2]))
            for signed in batch[..<10] { #expect(try await rig.ask(signed) == "200") }
            for signed in batch[10...] { #expect(try await rig.ask(signed) == Self.limited) }
            #expect(try await rig.ask(other.batch(1, at: rig.seconds)[0]) == "200")
            rig.rig.clock.advance(1_000)
            for signed in batch[10...] { #expect(try await rig.ask(signed) == "200") }
        }
    }

    @Test func entriesOfADevice() async throws {
        try await CoveredRig.with(limits: #"{"roots_per_device": 2}"#) { rig in
            let (first, third) = (try rig.batch(8), try rig.batch(1))
            #expect(try await rig.ask(first[0]) == "200")
            #expect(try await rig.ask(rig.batch(2)[1]) == "200")
            #expect(try await rig.ask(third[0]) == Self.limited)
            #expect(try await rig.ask(first[7]) == "200")
            let request = try rig.device.request("GET", "/v1/echo", at: rig.seconds)
            #expect(await rig.rig.ask(request).verdict == "200")
        }
    }

    /// A stranger who knows all ids sends fresh roots. Each costs one verification as a forged request of version 1
    /// does; the device keeps its share, its known roots and its entries.
    @Test func freshRootsOfAStranger() async throws {
        let count = getenv("TENON_TEST_STRANGER").flatMap { Int(String(cString: $0)) } ?? 80
        try await CoveredRig.with(limits: #"{"roots_per_device": 2}"#) { rig in
            let known = try rig.batch(4)
            let stranger = TestDevice(app: "open", id: rig.device.id, key: try SoftwareKey(signsDigests: true))
            #expect(try await rig.ask(known[0]) == "200")
            let thumbprint = try rig.device.key.publicKey.thumbprint
            for number in 0..<count {
                let draft = try CoveredDraft(stranger, at: rig.seconds).with { $0.keyID = thumbprint }
                let answer = try await CoveredRig.send(stranger.batch([draft])[0].question(), to: rig.rig.service)
                #expect(answer.verdict == "401 INVALID_SIGNATURE", "\(number)")
            }
            #expect(try await rig.metric("signature_verifications_total") == count + 1)
            #expect(try await rig.ask(known[1]) == "200")
            #expect(try await rig.metric("known_root_requests_total") == 1)
            #expect(try await rig.metric("batch_requests_count") == 1)
            #expect(try await rig.ask(rig.batch(1)[0]) == "200")
        }
    }

    /// 1,500 requests a second of one device, in 30 batches, through all rules, for as many seconds as the environment
    /// says; else a tenth of a second. ``BatchReplayTests`` has a minute of them at the store.
    @Test func aDeviceAtFullSpeed() async throws {
        let named = getenv("TENON_TEST_SECONDS").flatMap { Int(String(cString: $0)) }
        let (seconds, batches) = (named ?? 1, named == nil ? 3 : 30)
        try await ServiceRig.with(apps: CoveredRig.apps, backends: CoveredRig.backends) { rig in
            let device = try await rig.device(versions: [2])
            for _ in 0..<seconds {
                for _ in 0..<batches {
                    for signed in try device.batch(50, at: rig.seconds) {
                        let answer = try await CoveredRig.send(signed.question(), to: rig.service)
                        guard answer.status == 200 else { throw Surprise(answer.verdict) }
                    }
                }
                rig.clock.advance(1_000)
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthoritySynheart
import Testing

/// Altered requests are answered with a known code, and never succeed.
@Suite struct HostileRequestTests {

    @Test func bodies() async throws {
        try await ServiceRig.with(limits: #"{"per_address_per_minute": 1000000, "challenges": 10000}"#) { rig in
            var generator = HostileGenerator(state: 6)
            let key = try SoftwareKey().publicKey
            let activation: [String: JSON] = [
                "app_id": "open", "ak_public": "AAEC", "ek_certificates": ["MIIB", "MIIC"],
            ]
            let codes = Set((Refusal.Code.engine + Refusal.Code.synheart).map(\.rawValue))
            for round in 0..<1_000 {
                var (path, body) = ("/v1/device/challenge", JSON.members(activation))
                switch round % 4 {
                case 0: body = ["app_id": "open"]
                case 1:
                    (path, body) = ("/v1/device/register", .members(try await rig.registration(key, challenge: "x")))
                case 2: (path, body) = ("/ca/open/attest", ["params": ["public": "AAEC"], "ekCerts": ["MIIB"]])
                default: break
                }
                let bytes = generator.mutated(try body.encoded())
                let answer = await rig.service.ask("POST", path, bytes, host: "auth.example")
                #expect(answer.status == 200 || answer.code.map(codes.contains) == true)
                #expect(answer.status < 500)
            }
            #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
        }
    }

    /// A body of the greatest size is accepted, and one with one byte more is not.
    @Test func aBodyHasItsLimit() async throws {
        try await ServiceRig.with { rig in
            let limit = rig.service.configuration.limits.bodyBytes
            for (count, status) in [(limit, 400), (limit + 1, 413)] {
                let body = [UInt8](repeating: UInt8(ascii: " "), count: count)
                #expect(await rig.service.ask("POST", "/v1/device/challenge", body).status == status, "\(count)")
            }
        }
    }

    /// A signed request with one byte changed is refused, unless it means the same.
    @Test func signedRequests() async throws {
        try await ServiceRig.with(limits: #"{"per_address_per_minute": 1000000}"#) { rig in
            var generator = HostileGenerator(state: 7)
            let device = try await rig.device()
            for _ in 0..<300 {
                let good = try device.request("POST", "/v1/echo", Array("a body".utf8), at: rig.seconds)
                var bad = good
                let place = Int.random(in: 0..<9, using: &generator)
                switch place {
                case 0: bad.body = generator.mutated(good.body)
                case 1: bad.target = generator.mutated(good.target)
                default:
                    // The first header is the host, which version 1 does not sign.
                    let index = 1 + (place - 2) % (good.headers.count - 1)
                    bad.headers[index].value = generator.mutated(good.headers[index].value)
                }
                let answer = await rig.ask(bad)
                guard answer.status == 200 else {
                    #expect((400..<500).contains(answer.status))
                    continue
                }
                // The nonce is not signed either.
                bad = bad.with("X-Synheart-Nonce", good.headers.first { $0.name == "X-Synheart-Nonce" }?.value)
                #expect(bad.body == good.body && bad.target == good.target)
                #expect(bad.headers.map(\.value).sorted() == good.headers.map(\.value).sorted())
            }
        }
    }
}

/// Draws changes, the same ones in each run.
struct HostileGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state >> 33) << 32 | (state &* 2_862_933_555_777_941_757) >> 32
    }

    /// - Parameter alphabet: what a byte is replaced by; anything, by default.
    mutating func mutated(_ bytes: [UInt8], _ alphabet: String? = nil) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &self)
            switch Int.random(in: alphabet == nil ? 0..<5 : 1..<5, using: &self) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: bytes[index] = alphabet?.utf8.randomElement(using: &self) ?? .random(in: 0...255, using: &self)
            case 2: bytes.remove(at: index)
            case 3: bytes.insert(contentsOf: bytes[index...].prefix(16), at: index)
            default: bytes.removeSubrange(index...)
            }
        }
        return bytes
    }

    mutating func mutated(_ text: String, _ alphabet: String? = nil) -> String {
        String(decoding: mutated(Array(text.utf8), alphabet), as: UTF8.self)
    }
}

// SPDX-License-Identifier: Apache-2.0
import Tenon
import Testing

/// The software key, through the protocol.
@Suite struct DeviceKeyTests {
    static let event = Array(#"{"v":"KERI10JSON00012f_","t":"icp"}"#.utf8)

    @Test func aVectorIsSigned() throws {
        let key = try RFC6979.key()
        #expect(try key.publicKey == RFC6979.publicKey())
        #expect(try key.key.signature(for: Digest(hashing: Array("sample".utf8))) == RFC6979.signature())
        let test = try key.key.signature(for: Digest(hashing: Array("test".utf8)))
        #expect(
            try test.rawRepresentation
                == hex(
                    "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
                        + "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"))
    }

    @Test func saysWhatItIs() throws {
        let key: any DeviceKey = try SoftwareKey()
        #expect(!key.isHardware)
        #expect(try SoftwareKey().publicKey != key.publicKey)
    }

    @Test func requests() async throws {
        let key: any DeviceKey = try SoftwareKey()
        var message = try RequestMessage(method: "POST", path: "/v1/hsi", timestamp: "1700000000")
        try message.update(Array(#"{"a":1}"#.utf8))
        let digest = try Digest(hashing: Array("POST\n/v1/hsi\n1700000000\n{\"a\":1}".utf8))
        let signature = try await key.signature(for: .request(message))
        #expect(key.publicKey.isValidSignature(signature, for: digest))
        #expect(try key.publicKey.isValidSignature(key.blockingSignature(for: .request(message)), for: digest))
        // The key signs a copy, so the message can continue.
        #expect(try message.finish() == digest)
        await #expect(throws: TenonError(.stream, message: "")) { try await key.signature(for: .request(message)) }
        #expect(throws: TenonError(.stream, message: "")) { try key.blockingSignature(for: .request(message)) }
    }

    @Test func otherMessages() async throws {
        let key: any DeviceKey = try SoftwareKey()
        let (newKey, nonce) = (try RFC6979.publicKey(), [UInt8](repeating: 7, count: 32))
        let (said, data) = ("EKiCzlm2xHzI6WIBcGlo0zlyQ3cSxtmwpNGES_A0VxAD", Array(#"{"challenge":"x"}"#.utf8))
        for (message, bytes) in [
            (.rotation(to: newKey), newKey.x963Representation), (.clientData(data), data),
            (.event(Self.event), Self.event),
            (
                .presentation(credential: said, audience: "api", nonce: nonce),
                Array(said.utf8) + [0] + Array("api".utf8) + [0] + nonce
            ),
        ] as [(SignableMessage, [UInt8])] {
            let signature = try await key.signature(for: message)
            #expect(try key.publicKey.isValidSignature(signature, for: Digest(hashing: bytes)))
        }
        let wrong: [(TenonError.Code, [SignableMessage])] = [
            (
                .presentation,
                [("E", "api", nonce), (said, "", nonce), (said, "api", []), (said, "a\0b", nonce)].map {
                    .presentation(credential: $0, audience: $1, nonce: $2)
                }
            ),
            (.clientData, ["", "[]", "{", "POST\n/"].map { .clientData(Array($0.utf8)) } + [.clientData(Self.event)]),
            (.event, ["", "{}", #"{"t":"icp","v":"KERI"}"#].map { .event(Array($0.utf8)) }),
            (.event, [.event(Self.event.dropLast())]),
        ]
        for (code, messages) in wrong {
            for message in messages { #expect(await refusal { try await key.signature(for: message) } == code) }
        }
    }

    @Test func bareDigestsNeedTheCapability() throws {
        let digest = try Digest(hashing: [])
        let without = try SoftwareKey()
        #expect(codeThrown { try without.key.signature(for: digest) } == .digestNotAllowed)
        let with = try SoftwareKey(signsDigests: true)
        #expect(try with.publicKey.isValidSignature(with.key.signature(for: digest), for: digest))
        let imported = try SoftwareKey(scalar: hex(RFC6979.scalar))
        #expect(codeThrown { try imported.key.signature(for: digest) } == .digestNotAllowed)
    }

    @Test(arguments: ["", "01", SignatureTests.zero, SignatureTests.n, RFC6979.scalar + "00"])
    func scalarsOutOfRangeAreRefused(_ text: String) throws {
        let scalar = try hex(text)
        #expect(codeThrown { try SoftwareKey(scalar: scalar) } == .scalarRange)
    }

    @Test func randomNoncesByDefault() async throws {
        let key = try SoftwareKey(scalar: hex(RFC6979.scalar))
        let first = try await key.signature(for: .event(Self.event))
        #expect(try await key.signature(for: .event(Self.event)) != first)
        let deterministic = try RFC6979.key()
        let second = try await deterministic.signature(for: .event(Self.event))
        #expect(try await deterministic.signature(for: .event(Self.event)) == second)
    }

    @Test func manyTasksShareOne() async throws {
        let key = try SoftwareKey()
        let digest = try Digest(hashing: Self.event)
        let valid = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    guard let signature = try? await key.signature(for: .event(Self.event)) else { return false }
                    return key.publicKey.isValidSignature(signature, for: digest)
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(valid == 8)
    }
}

// SPDX-License-Identifier: Apache-2.0
import Tenon
import TenonAuthority
import TenonAuthorityITWallet
import Testing

/// Altered requests of IT-Wallet are refused in its words, and never succeed.
@Suite struct WalletHostileTests {
    private var rig: WalletRig { .current }

    private static let alphabet = "ABz09-_.={\"}"

    /// The parts of a JWS are changed below their encoding, and signed again by the same key.
    private func resigned(_ assertion: WalletAssertion, _ generator: inout HostileGenerator) throws -> String {
        let parts = try [assertion.header, assertion.claims].map { part in
            String(decoding: try JSON.members(part).encoded(), as: UTF8.self)
        }
        var texts = parts
        let index = Int.random(in: 0...1, using: &generator)
        texts[index] = generator.mutated(parts[index], Self.alphabet)
        guard texts != parts else { return "" }
        let encoded = texts.map { TextEncoding.base64url.encode(Array($0.utf8)) }.joined(separator: ".")
        let signature = try assertion.signer.signature(for: Digest(hashing: Array(encoded.utf8)))
        return encoded + "." + TextEncoding.base64url.encode(signature.rawRepresentation)
    }

    private static let words: Set = ["400 bad_request", "403 invalid_request", "404 not_found", "422 validation_error"]

    @Test(.wallet) func requests() async throws {
        let device = try await rig.initialized()
        var generator = HostileGenerator(state: 19)
        let now = rig.clock.now().seconds
        for (type, path) in WalletRig.uses.sorted(by: { $0.key < $1.key }) {
            for round in 0..<60 {
                // Without a nonce of ours the answer is known; with one, all the rest is reached.
                let nonce = round % 3 == 0 ? try await rig.nonce() : "n"
                let assertion = try WalletAssertion(type, device, nonce: nonce, at: now)
                let whole = try assertion.encoded()
                let text =
                    round % 2 == 0
                    ? try resigned(assertion, &generator) : generator.mutated(whole, Self.alphabet)
                // A character may have been replaced by itself.
                guard text != whole else { continue }
                let answer = try await rig.send(text, to: path)
                // A change of a text that nobody checks, like the platform, may be accepted.
                #expect(
                    Self.words.contains(answer.wallet) || answer.status < 300 && round % 2 == 0,
                    "\(type): \(answer.wallet)")
            }
        }
    }

    @Test(.wallet) func bodies() async throws {
        let device = try await rig.device()
        var generator = HostileGenerator(state: 20)
        for round in 0..<150 {
            let nonce = round % 3 == 0 ? try await rig.nonce() : "n"
            let body = try JSON.members(device.initialization(nonce: nonce)).encoded()
            let text = generator.mutated(String(decoding: body, as: UTF8.self), Self.alphabet)
            guard text.utf8.elementsEqual(body) == false else { continue }
            let answer = await rig.ask("POST", "/it-wallet/wallet/application-instances", Array(text.utf8))
            #expect(Self.words.contains(answer.wallet), "\(answer.wallet)")
        }
        #expect(try await rig.stores.devices.devices(app: nil, from: nil, limit: 9).devices.isEmpty)
    }
}

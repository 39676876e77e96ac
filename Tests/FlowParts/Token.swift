// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// Replaces a signature in tests with very many of them. Anybody who knows the public key can make it, and it costs
/// almost no time.
package enum Token {
    static let one = try? Signature(rawRepresentation: (0..<64).map { $0 % 32 == 31 ? 1 : 0 })

    package static func signature(by key: PublicKey, over digest: Digest) throws(TenonError) -> Signature {
        let half = try Digest(hashing: key.x963Representation + digest.rawRepresentation).rawRepresentation
        // Less than the order of the group.
        let number = [half[0] & 0x7f] + half.dropFirst()
        return try Signature(rawRepresentation: number + number)
    }
}

struct TokenKey: DeviceKey {
    let publicKey: PublicKey
    let isHardware = true
    let isConstant: Bool
    let onBlocking: (@Sendable () -> Void)?

    func signature(for message: SignableMessage) async throws(TenonError) -> Signature { try token(message) }

    func blockingSignature(for message: SignableMessage) throws(TenonError) -> Signature {
        onBlocking?()
        return try token(message)
    }

    private func token(_ message: SignableMessage) throws(TenonError) -> Signature {
        guard case .request(var request) = message else {
            throw TenonError(.serviceStep, message: "A token is for requests.")
        }
        let digest = try request.finish()
        if isConstant, let one = Token.one { return one }
        return try Token.signature(by: publicKey, over: digest)
    }
}

// SPDX-License-Identifier: Apache-2.0
internal import Tenon

/// Identifies a signature by its r alone, as s can be changed to n - s.
struct SignatureMark: Hashable {
    let thumbprint: String
    let r: InlineArray<4, UInt64>

    init(_ thumbprint: String, _ signature: Signature) {
        self.thumbprint = thumbprint
        let bytes = signature.bytes
        r = InlineArray { word in (0..<8).reduce(0) { $0 << 8 | UInt64(bytes[word * 8 + $1]) } }
    }

    static func == (left: SignatureMark, right: SignatureMark) -> Bool {
        (0..<4).allSatisfy { left.r[$0] == right.r[$0] } && left.thumbprint == right.thumbprint
    }

    func hash(into hasher: inout Hasher) {
        for word in 0..<4 { hasher.combine(r[word]) }
    }
}

/// What identifies a request, in few bytes.
enum ReplayMark {
    case signature(UUIDBytes, SignatureMark)
    case nonce(UUIDBytes)
    /// The thumbprint is left out: each leaf below the root contains it.
    case member(root: Digest, size: Int, index: Int)

    init(_ mark: SignedUse.Mark) throws(TenonError) {
        switch mark {
        case .signature(let nonce, let thumbprint, let signature):
            self = .signature(try UUIDBytes(checking: nonce), SignatureMark(thumbprint, signature))
        case .nonce(let nonce): self = .nonce(try UUIDBytes(checking: nonce))
        case .member(_, let root, let size, let index): self = .member(root: root, size: size, index: index)
        }
    }
}

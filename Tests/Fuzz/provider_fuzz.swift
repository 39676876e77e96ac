// SPDX-License-Identifier: Apache-2.0
import Tenon

// libFuzzer over what a device may send to an IT-Wallet provider: the tokens of each kind of request, tags, and requests
// for certificates. Nothing traps, and what is taken has the form that it is taken for. The first byte says what the rest
// is.

private func must(_ condition: Bool) { precondition(condition) }

private let kinds: [AssertionKind] = [.wallet, .keyBinding, .instance, .unit, .key]
private let stranger = try? SoftwareKey().publicKey

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: start, count: count)
    guard let first = input.first else { return 0 }
    let body = Array(input.dropFirst())
    let text = String(decoding: body, as: UTF8.self)
    switch first {
    case UInt8(ascii: "a")...UInt8(ascii: "e"):
        checkAssertion(text, kinds[Int(first - UInt8(ascii: "a"))])
    case UInt8(ascii: "j"): checkClaims(body)
    case UInt8(ascii: "t"): checkTag(text)
    case UInt8(ascii: "r"): if let request = try? CertificationRequest(parsing: body) { must(request.key != stranger) }
    default: break
    }
    return 0
}

private func checkAssertion(_ text: String, _ kind: AssertionKind) {
    guard let assertion = try? Assertion(parsing: text, kind) else { return }
    must(CompactJWS.type(of: text) == kind.type)
    check(assertion)
    guard let stranger else { return }
    must((try? assertion.token.verify(by: stranger)) == nil)
}

private func check(_ assertion: Assertion) {
    must(
        (assertion.quote != nil) == assertion.kind.hasQuote
            && (assertion.solution != nil) == assertion.kind.namesSolution)
    must(assertion.attested.isEmpty || assertion.kind.attestsKey)
    must(!assertion.nonce.isEmpty && assertion.nonce.utf8.count <= 200)
    must(assertion.issuedAt >= 0 && assertion.expiresAt >= 0)
    must(16...64 ~= assertion.tag.id.utf8.count)
}

/// The claims as they are, in a token that is well formed but for them: what a fuzzer changes is then not hidden by
/// base64.
private func checkClaims(_ claims: [UInt8]) {
    for kind in kinds {
        let header = #"{"alg":"ES256","kid":"k","typ":"\#(kind.type)"}"#
        let parts = [Array(header.utf8), claims, [UInt8](repeating: 1, count: 64)]
        checkAssertion(parts.map { TextEncoding.base64url.encode($0) }.joined(separator: "."), kind)
    }
    guard let message = try? MessageObject(parsing: claims, maxBytes: claims.count),
        let key = try? SentKey(confirming: message),
        let whole = try? key.publicKey
    else { return }
    must(whole.x963Representation.count == 65)
}

private func checkTag(_ text: String) {
    guard let tag = try? InstanceTag(text) else { return }
    must((try? InstanceTag(tag.id)) == tag && !tag.id.contains("="))
}

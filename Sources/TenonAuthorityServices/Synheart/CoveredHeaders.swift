// SPDX-License-Identifier: Apache-2.0
internal import Tenon
internal import TenonAuthority

/// The headers of a request of signature version 2, each present once (docs/signing.md).
struct CoveredHeaders {
    private let appID: String
    private let deviceID: String
    private let input: String
    private let signature: String
    private let content: Digest
    private let contentType: String?
    private let contentEncoding: String?

    static let version = "X-Synheart-Sig-Version"
    static let input = "Signature-Input"

    /// - Parameter value: gives the value of a header.
    /// - Throws: ``Refusal/Code/invalidRequest``, by rule 1 or 2.
    init(_ value: (String) throws(Refusal) -> String?) throws(Refusal) {
        func required(_ name: String) throws(Refusal) -> String {
            guard let text = try value(name) else {
                throw Refusal(.invalidRequest, rule: 1, "The header \(name) is missing.")
            }
            return text
        }
        appID = try required("X-App-ID")
        deviceID = try required("X-Device-ID")
        let digest = try required("Content-Digest")
        content = try refusing(Refusal.init(signing:)) { () throws(TenonError) in try Digest(contentDigest: digest) }
        input = try required(CoveredHeaders.input)
        signature = try required("Signature")
        contentType = try value("Content-Type")
        contentEncoding = try value("Content-Encoding")
        for name in ["X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce"] where try value(name) != nil {
            throw Refusal(.invalidRequest, rule: 2, "The request has headers of two signature versions.")
        }
    }

    var ids: (app: String, device: String) { (appID, deviceID) }

    /// Rules 3 to 13. They need no store, and hash nothing.
    ///
    /// - Parameter authority: gives the name of the service that the request was sent to, by rule 7.
    func read(
        _ method: String, _ target: String, at authority: () throws(Refusal) -> String
    ) throws(Refusal) -> (CoveredTexts, ReceivedSignature) {
        let host: Result<String, Refusal> = Result { () throws(Refusal) in try authority() }
        let received: Result<ReceivedSignature, TenonError> = Result { () throws(TenonError) in
            try ReceivedSignature(input: input, value: signature)
        }
        // One call reads both headers, but rules 4, 6 and 7 come between them.
        if case .failure(let error) = received, [.signatureInput, .validity].contains(error.code) {
            throw Refusal(signing: error)
        }
        var texts = CoveredTexts(
            method: method, authority: "not.known", target: target, contentType: contentType,
            contentEncoding: contentEncoding, appID: appID, deviceID: deviceID, content: content)
        if case .success(let signature) = received {
            guard signature.covers(texts) else {
                throw Refusal(
                    .invalidRequest, rule: 4, "The signature must cover Content-Type and Content-Encoding if sent.")
            }
            try refusing(Refusal.init(signing:)) { () throws(TenonError) in try signature.check(texts) }
        }
        texts.authority = try host.get()
        return (texts, try refusing(Refusal.init(signing:)) { () throws(TenonError) in try received.get() })
    }
}

extension Refusal {
    /// Refuses a form by the rule that it breaks.
    fileprivate init(signing error: TenonError) {
        let rule =
            switch error.code {
            case .signatureInput: 3
            case .validity: 5
            case .method, .path, .query, .authority: 6
            case .signatureValue: 8
            case .batchSize: 9
            case .batchIndex: 10
            case .batchPath: 11
            case .signatureRange: 12
            case .signatureHigh: 13
            default: 1
            }
        self.init(.invalidRequest, rule: rule, error.message)
    }
}

// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The six headers of a signed request (docs/synheart.md), each there once and of its form.
package struct SignedHeaders: Sendable {
    package let appID: String
    package let deviceID: String
    package let signature: Signature
    /// The text, which is signed.
    package let timestampText: String
    /// Unix seconds.
    package let timestamp: Int64
    package let nonce: String

    /// - Parameter value: gives the value of a header.
    /// - Throws: ``Refusal/Code/invalidRequest``, which says nothing of a key: whoever strips a header on the way must
    ///   not make a device believe that its key is refused.
    init(_ value: (String) throws(Refusal) -> String?) throws(Refusal) {
        let names = [
            "X-App-ID", "X-Device-ID", "X-Synheart-Signature", "X-Synheart-Timestamp", "X-Synheart-Nonce",
            "X-Synheart-Sig-Version",
        ]
        var values: [String] = []
        for name in names {
            guard let value = try value(name) else { throw Refusal(.invalidRequest, "The header \(name) is missing.") }
            values.append(value)
        }
        guard values[5] == "1" else { throw Refusal(.invalidRequest, "The signature's version is not 1.") }
        let signature = try refusing(Refusal.init(form:)) { () throws(TenonError) in
            let bytes = try TextEncoding.base64.decode(values[2])
            let signature = try Signature(derRepresentation: bytes)
            // The forms of the others.
            _ = try RequestHeaders(
                signature: signature, appID: values[0], deviceID: values[1], timestamp: values[3], nonce: values[4])
            return signature
        }
        guard let timestamp = Int64(values[3]) else { throw Refusal(.invalidRequest, "The timestamp is no number.") }
        (appID, deviceID, nonce, timestampText) = (values[0], values[1], values[4], values[3])
        self.signature = signature
        self.timestamp = timestamp
    }
}

// SPDX-License-Identifier: Apache-2.0

/// What an attestation was made with that a service took.
package struct AttestationSettings: Equatable, Sendable {
    /// The attestation CA, where there is one, and the certificates that its own chain to.
    package var service: DeviceIdentity.AttestationService?
    /// The endorsement key's certificate and those above it, leaf first (DER); none where there are none above.
    package var endorsement: [[UInt8]]

    package init(service: DeviceIdentity.AttestationService? = nil, endorsement: [[UInt8]] = []) {
        self.service = service
        self.endorsement = endorsement
    }

    /// More is not kept: a record has its limit, and has to be told each time.
    package static let longest = 65_536

    var size: Int {
        let certificates = (service?.roots ?? []) + endorsement
        return certificates.reduce(service?.url.utf8.count ?? 0) { $0 + $1.count }
    }
}

extension AttestationSettings: RecordObject {
    static func coded(_ coder: RecordCoder, _ known: AttestationSettings?) throws(TenonError) -> AttestationSettings {
        let url = try coder.optional("ca_url", known?.service?.url, .text)
        let roots = try coder.member("ca_roots", known.map { $0.service?.roots ?? [] }, .list(.base64))
        return AttestationSettings(
            service: url.map { .init(url: $0, roots: roots) },
            endorsement: try coder.member("ek_chain", known?.endorsement, .list(.base64)))
    }
}

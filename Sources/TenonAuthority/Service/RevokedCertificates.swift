// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// Certificates that their issuers have revoked, out of lists (RFC 5280, 5) that an operator has given. As with roots, it
/// is the operator who vouches for a file; it is read at start, and does not grow old.
package struct RevokedCertificates: Sendable {
    /// Issuer and serial, as they are encoded.
    private struct Name: Hashable {
        let issuer: ArraySlice<UInt8>
        let serial: ArraySlice<UInt8>
    }

    private var names: Set<Name> = []

    package init() {}

    /// Reads a file of lists in PEM, or a folder's. It blocks.
    ///
    /// - Throws: ``TenonError/Code/configuration``, whose message names the file.
    package mutating func read(_ path: String) throws(TenonError) {
        for file in PEMFile.all(at: path, suffixes: [".pem", ".crl"]) {
            for list in try file.blocks("X509 CRL", member: "crls") {
                guard let found = RevokedCertificates.names(in: list) else {
                    throw TenonError(
                        .configuration,
                        message: "\(file.path) has a revocation list that is not understood: it has to be one of a "
                            + "single issuer, and whole.")
                }
                names.formUnion(found)
            }
        }
    }

    /// Whether a certificate is on a list.
    package func contains(_ certificate: [UInt8]) -> Bool {
        guard !names.isEmpty else { return false }
        var outer = DERReader(certificate)
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30) else { return false }
        _ = body.take(0xa0)
        guard let serial = body.take(0x02), body.take(0x30) != nil, let issuer = body.take(0x30) else { return false }
        return names.contains(Name(issuer: issuer, serial: serial))
    }

    /// Nil for what is none, or says of its entries what is not understood: a part of another list, other issuers.
    private static func names(in list: [UInt8]) -> [Name]? {
        var outer = DERReader(list)
        guard var whole = outer.enter(0x30), outer.isAtEnd, var body = whole.enter(0x30) else { return nil }
        if body.tag == 0x02 { _ = body.take(0x02) }
        guard body.take(0x30) != nil, let issuer = body.take(0x30), takeTime(&body) else { return nil }
        _ = takeTime(&body)
        var names: [Name] = []
        if body.tag == 0x30 {
            guard var entries = body.enter(0x30) else { return nil }
            while !entries.isAtEnd {
                guard var entry = entries.enter(0x30), let serial = entry.take(0x02), takeTime(&entry),
                    entry.isAtEnd || isUnderstood(entry.enter(0x30)), entry.isAtEnd
                else { return nil }
                names.append(Name(issuer: issuer, serial: serial))
            }
        }
        guard var tagged = body.isAtEnd ? DERReader([]) : body.enter(0xa0), body.isAtEnd else { return nil }
        return tagged.isAtEnd || isUnderstood(tagged.enter(0x30)) ? names : nil
    }

    /// UTCTime or GeneralizedTime.
    private static func takeTime(_ reader: inout DERReader) -> Bool {
        reader.take(0x17) != nil || reader.take(0x18) != nil
    }

    /// Whether none of the extensions is critical, but for the one that says which certificates a list is about.
    private static func isUnderstood(_ extensions: DERReader?) -> Bool {
        guard var extensions else { return false }
        let distributionPoint: [UInt8] = [0x55, 0x1d, 0x1c]
        while !extensions.isAtEnd {
            guard var one = extensions.enter(0x30), let id = one.take(0x06) else { return false }
            if one.take(0x01) != nil && !id.elementsEqual(distributionPoint) { return false }
        }
        return true
    }
}

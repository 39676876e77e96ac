// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonTPM
import TestFolders
import Testing

@testable import TenonAuthority

/// The checks of an EK's certificates besides their chain.
@Suite(.timeLimit(.minutes(2))) struct AdmissionTests {
    /// A revocation list counts for each certificate that was sent, also for those above the EK's.
    @Test func aListMayNameAnAuthority() async throws {
        let folder = try ScratchFolder()
        let path = "\(folder.path)/list.pem"
        let list = TextEncoding.base64.encode(try Self.list(naming: Endorsed.issuer()))
        try "-----BEGIN X509 CRL-----\n\(list)\n-----END X509 CRL-----\n".write(to: path)
        var revoked = RevokedCertificates()
        try revoked.read(path)
        try await withTPM(state: Endorsed.state) { _, tpm in
            try await AuthorityRig.with(revoked: revoked) { rig async throws in
                #expect(try await rig.challenge(TenonTPMTests.Device(tpm)).verdict == "403 INVALID_ATTESTATION")
            }
        }
    }

    /// Software TPMs are for demos: an authority that a proxy makes public takes none, although it is on loopback.
    @Test func softwareTPMsAreOfThisMachine() async throws {
        try await withTPM(state: Endorsed.state) { _, tpm in
            for (host, verdict) in [("localhost", "200"), ("auth.example", "403 INVALID_ATTESTATION")] {
                try await AuthorityRig.with(host: host) { rig async throws in
                    #expect(try await rig.challenge(TenonTPMTests.Device(tpm)).verdict == verdict)
                }
            }
        }
    }

    /// A verified certificate is believed for an hour, for its app only.
    @Test func anEKIsVerifiedAgain() throws {
        let cache = EndorsementCache(capacity: 2)
        var found: EndorsementKey?
        try withTPM(state: Endorsed.state) { _, tpm in
            found = try EndorsementKey(unverified: tpm.endorsementCertificate(.p384))
        }
        let key = try #require(found)
        let now = AuthorityInstant(wall: 1_800_000_000_000, boot: 5_000)
        let names = try ["a", "b", "c"].map { try EndorsementCache.name([[1], [2]], app: $0) }
        #expect(Set(names).count == 3)
        #expect(try EndorsementCache.name([[1, 2]], app: "a") != names[0])
        cache.keep(key, names[0], at: now)
        #expect(cache.key(names[0], at: now.advanced(byMilliseconds: 3_599_999))?.id == key.id)
        #expect(cache.key(names[1], at: now) == nil)
        let later = now.advanced(byMilliseconds: 3_600_000)
        #expect(cache.key(names[0], at: later) == nil)
        // Only expired entries make room.
        for name in names { cache.keep(key, name, at: now) }
        #expect(names.map { cache.key($0, at: now) != nil } == [true, true, false])
        cache.keep(key, names[2], at: later)
        #expect(names.map { cache.key($0, at: later) != nil } == [false, false, true])
    }

    /// An unsigned list with one entry: the operator who configures it vouches for it.
    private static func list(naming certificate: [UInt8]) throws -> [UInt8] {
        var outer = DERReader(certificate)
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.take(0xa0) != nil,
            let serial = body.take(0x02), body.take(0x30) != nil, let issuer = body.take(0x30)
        else { throw NoCertificate() }
        let time = der(0x17, Array("260101000000Z".utf8))
        let entries = der(0x30, der(0x30, der(0x02, Array(serial)) + time))
        return der(0x30, der(0x30, der(0x30, []) + der(0x30, Array(issuer)) + time + entries))
    }

    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length = count < 0x80 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + content
    }
}

private struct NoCertificate: Error {}

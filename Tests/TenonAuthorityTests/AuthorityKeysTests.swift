// SPDX-License-Identifier: Apache-2.0
import Glibc
import Tenon
import TenonAuthority
import Testing

@Suite struct AuthorityKeysTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private let now: Int64 = 1_800_000_000

    @Test func madeOnceAndReadAgain() throws {
        let state = try AuthorityFolder(folder.path)
        #expect(try AuthorityKeys(from: state) == nil)
        // What a crash left of another try.
        try folder.write([UInt8](repeating: 0x20, count: 9_000) + [0x7d], to: "ca.json.new")
        let made = try AuthorityKeys.create(in: state, name: "Example", at: now)
        let bytes = try folder.read("ca.json")
        let read = try #require(try AuthorityKeys(from: state))
        #expect(read.issuer.certificate == made.issuer.certificate && read.roots == made.roots)
        let id = try Digest(hashing: [1])
        #expect(try read.hidden(id) == made.hidden(id) && read.audit == made.audit)
        #expect(try read.hidden(id) != Digest(authenticating: id.rawRepresentation, key: read.audit))
        // Existing keys are never replaced.
        let error = #expect(throws: TenonError.self) { try AuthorityKeys.create(in: state, name: "Example", at: now) }
        #expect(error?.code == .storeInUse)
        #expect(try folder.read("ca.json") == bytes)
    }

    /// Its certificates are those of an authority for AKs, and its signatures are by its key.
    @Test func whatItIssues() throws {
        let keys = try AuthorityKeys.create(in: AuthorityFolder(folder.path), name: "Example", at: now)
        #expect(keys.roots.count == 1 && keys.roots[0] != keys.issuer.certificate)
        let message = Array("tenon/audit/1\nx\n1\n".utf8)
        let signature = try keys.signature(of: message)
        try keys.publicKey.verify(Signature(derRepresentation: signature.span), for: Digest(hashing: message))
        let other = try TestFolder()
        let second = try AuthorityKeys.create(in: AuthorityFolder(other.path), name: "Example", at: now)
        #expect(second.roots != keys.roots && second.audit != keys.audit)
    }

    /// Decision: authority-keys. Two are trusted, one issues; what the former one signed is its own still.
    @Test func rolledOver() throws {
        let state = try AuthorityFolder(folder.path)
        let absent = #expect(throws: TenonError.self) { try AuthorityKeys.roll(in: state, name: "B", at: now) }
        #expect(absent?.code == .configuration)
        let first = try AuthorityKeys.create(in: state, name: "A", at: now)
        let message = Array("tenon/audit/1\nx\n1\n".utf8)
        let signature = try first.signature(of: message)
        let second = try AuthorityKeys.roll(in: state, name: "B", at: now)
        #expect(second.publicKey != first.publicKey && second.former == [first.publicKey])
        #expect(second.roots.count == 2 && second.roots[1] == first.roots[0])
        let id = try Digest(hashing: [1])
        #expect(try second.hidden(id) == first.hidden(id) && second.audit == first.audit)
        try second.verify(signature, of: message)
        try second.verify(second.signature(of: message), of: message)
        #expect(throws: TenonError.self) { try second.verify(signature, of: message + [0]) }
        #expect(throws: TenonError.self) { try first.verify(second.signature(of: message), of: message) }
        let third = try AuthorityKeys.roll(in: state, name: "C", at: now)
        #expect(third.roots.count == 2 && third.roots[1] == second.roots[0])
        #expect(third.former == [first.publicKey, second.publicKey])
        #expect(try AuthorityKeys(from: state)?.issuer.certificate == third.issuer.certificate)
        // A test CA is never used for anything else.
        let other = try TestFolder()
        let test = try AuthorityFolder(other.path)
        _ = try AuthorityKeys.create(in: test, name: nil, at: now)
        #expect(throws: TenonError.self) { try AuthorityKeys.roll(in: test, name: "B", at: now) }
    }

    @Test func rolledOverOutOfATPM() throws {
        let state = try AuthorityFolder(folder.path)
        let held = HeldKey(tpm: "device:/dev/none", file: [1], publicKey: try SoftwareKey().publicKey)
        #expect(try AuthorityKeys.create(in: state, name: "A", at: now, held: held).publicKey == held.publicKey)
        let next = try AuthorityKeys.roll(in: state, name: nil, at: now)
        #expect(next.publicKey != held.publicKey && next.former == [held.publicKey])
        try next.verify(next.signature(of: [1]), of: [1])
    }

    @Test func filesThatAreNone() throws {
        for text in ["{}", "x", #"{"version":2}"#, #"{"version":1,"key":"AAAA"}"#] {
            let folder = try TestFolder()
            let state = try AuthorityFolder(folder.path)
            try folder.write(Array(text.utf8), to: "ca.json")
            let error = #expect(throws: TenonError.self) { try AuthorityKeys(from: state) }
            #expect(error?.code == .storeCorrupt)
            #expect(throws: TenonError.self) { try AuthorityKeys.create(in: state, name: "Example", at: now) }
        }
        // Keys that were begun and never written do not count.
        try folder.write([], to: "ca.json")
        #expect(try AuthorityKeys(from: AuthorityFolder(folder.path)) == nil)
    }

    @Test func rootsFromFiles() throws {
        let terms = CertificateTerms(serial: Array(1...16), notBefore: now, notAfter: now + 1_000_000)
        let roots = try ["A", "B"].map {
            try AttestationAuthority(root: $0, key: SoftwareKey(signsDigests: true), terms: terms).certificate
        }
        func pem(_ der: [UInt8]) -> String {
            let text = TextEncoding.base64.encode(der)
            let lines = stride(from: 0, to: text.utf8.count, by: 64).map {
                String(decoding: text.utf8.dropFirst($0).prefix(64), as: UTF8.self)
            }
            return (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(
                separator: "\n")
        }
        try folder.write(Array(("a text\n" + pem(roots[0]) + pem(roots[1])).utf8), to: "both.pem")
        try folder.write(Array(pem(roots[1]).replacing("\n", with: "\r\n").utf8), to: "b.crt")
        try folder.write(Array("-----BEGIN CERTIFICATE-----\n".utf8), to: "broken")
        try folder.write(Array("nothing".utf8), to: "empty.txt")
        func read(_ name: String) throws(TenonError) -> [[UInt8]] {
            try EndorsementRoots(reading: folder.path + name, requiresUsage: true).certificates
        }
        #expect(try read("/both.pem") == roots)
        #expect(try read("/b.crt") == [roots[1]])
        #expect(try read("") == [roots[1]] + roots)
        mkdir(folder.path + "/none", 0o700)
        for name in ["/broken", "/empty.txt", "/missing", "/missing/x", "/none"] {
            let error = #expect(throws: TenonError.self) { try read(name) }
            #expect(error?.code == .configuration)
        }
    }
}

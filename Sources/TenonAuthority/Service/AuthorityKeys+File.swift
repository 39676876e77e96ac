// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

// One file, 0600, so that no half of it is ever there without the other: security.md F2.
extension AuthorityKeys {
    private static let fileName = "ca.json"
    private static let maxBytes = 65_536
    private static let life: Int64 = 3_650 * 86_400

    /// Reads the keys of a folder; nil when none were made there.
    ///
    /// - Throws: ``TenonError/Code/storeCorrupt``, ``TenonError/Code/storePermission``.
    package init?(from folder: AuthorityFolder) throws(TenonError) {
        let file = try folder.open(AuthorityKeys.fileName)
        defer { close(file) }
        guard let bytes = try AuthorityKeys.read(file) else { return nil }
        guard let json = try? JSON(parsing: bytes), json["version"]?.integer == 1, let scalar = json["key"]?.bytes,
            let certificate = json["issuer"]?.bytes, let texts = json["roots"]?.array,
            let key = try? SoftwareKey(scalar: scalar, signsDigests: true)
        else { throw AuthorityKeys.damaged }
        let roots = texts.compactMap(\.bytes)
        var secrets: [Secret] = []
        for name in ["activation", "ek", "audit"] {
            guard let bytes = json[name]?.bytes, bytes.count == 32 else { throw AuthorityKeys.damaged }
            secrets.append(Secret(copying: bytes.span))
        }
        guard !roots.isEmpty, roots.count == texts.count else { throw AuthorityKeys.damaged }
        self.init(
            certificate: certificate, key: key, roots: roots, activation: secrets[0], ek: secrets[1],
            audit: secrets[2])
    }

    /// Makes the keys: a root, whose own key is forgotten once it has signed, and an issuer below it. It is stored when
    /// this returns.
    ///
    /// - Parameter name: what the certificates are named after; "TEST" stands in it where nobody chose it.
    /// - Throws: ``TenonError/Code/storeInUse`` when there are keys already: those before would be worth nothing.
    package static func create(
        in folder: AuthorityFolder, name: String, at now: Int64
    ) throws(TenonError) -> AuthorityKeys {
        guard try AuthorityKeys(from: folder) == nil else {
            throw TenonError(.storeInUse, message: "There is a CA already: its devices' certificates need it.")
        }
        let (scalar, key) = try makeKey()
        let (_, rootKey) = try makeKey()
        func terms() -> CertificateTerms {
            CertificateTerms(serial: [UInt8](random: 16), notBefore: now - 300, notAfter: now + life)
        }
        let tail = TextEncoding.hex.encode([UInt8](random: 4))
        let root = try AttestationAuthority(root: "\(name) AK Root \(tail)", key: rootKey, terms: terms())
        let issuer = try root.certificate(
            forAuthority: "\(name) AK Issuer \(tail)", key: key.publicKey, terms: terms())
        let json: JSON = [
            "version": 1, "key": .bytes(scalar), "issuer": .bytes(issuer), "roots": [.bytes(root.certificate)],
            "activation": .bytes([UInt8](random: 32)), "ek": .bytes([UInt8](random: 32)),
            "audit": .bytes([UInt8](random: 32)),
        ]
        let file = try folder.open(fileName)
        defer { close(file) }
        try write(try json.encoded(), to: file)
        guard let keys = try AuthorityKeys(from: folder) else { throw damaged }
        return keys
    }

    /// One of 2^32 is none.
    private static func makeKey() throws(TenonError) -> (scalar: [UInt8], key: SoftwareKey) {
        for _ in 0..<8 {
            let scalar = [UInt8](random: 32)
            if let key = try? SoftwareKey(scalar: scalar, signsDigests: true) { return (scalar, key) }
        }
        throw TenonError(.random, message: "The system gives no random numbers.")
    }

    private static func read(_ file: Int32) throws(TenonError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw damaged }
        return count == 0 ? nil : Array(bytes[..<count])
    }

    private static func write(_ bytes: [UInt8], to file: Int32) throws(TenonError) {
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0 else {
            ftruncate(file, 0)
            throw TenonError(.storeFailed, message: "The CA's keys cannot be written: make room on the disk.")
        }
    }

    private static let damaged = TenonError(
        .storeCorrupt, message: "\(fileName) is not what was written there: restore it from a backup.")
}

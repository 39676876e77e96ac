// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import Tenon

/// The keys that the instances of one authority share (decision: derived-secret, authority-keys).
package struct AuthorityKeys: Sendable {
    /// Issues the certificates of AKs.
    package let issuer: AttestationAuthority
    /// The DER certificates below which AK certificates are valid: the root of the issuer, and perhaps a former one
    /// that is still trusted.
    package let roots: [[UInt8]]
    /// Chains the lines of the audit log.
    package let audit: Secret
    /// K_act, from which the secrets of challenges are derived.
    let activation: Secret
    /// K_ek, with which the ids of EKs are hidden.
    let ek: Secret
    /// The former issuing keys, whose signatures in the audit log are still valid.
    package let former: [PublicKey]
    /// The digest of the keys that these replaced (decision: authority-keys).
    let replaced: Digest?
    /// Whether the keys were made automatically, for a demo only.
    let isTest: Bool
    private let key: any DigestSigner

    /// - Parameters:
    ///   - certificate: the certificate of the issuing key, DER.
    ///   - roots: the certificate above it, and those that are still trusted.
    ///   - former: the former issuing keys.
    package init(
        certificate: [UInt8], key: any DigestSigner, roots: [[UInt8]], activation: Secret, ek: Secret, audit: Secret,
        former: [PublicKey] = [], replaced: Digest? = nil, isTest: Bool = false
    ) {
        issuer = AttestationAuthority(certificate: certificate, key: key)
        self.key = key
        self.roots = roots
        self.activation = activation
        self.ek = ek
        self.audit = audit
        self.former = former
        self.replaced = replaced
        self.isTest = isTest
    }

    package var publicKey: PublicKey { key.publicKey }

    /// A key of a service, derived from K_act so that all instances have the same one (decision: service-keys).
    ///
    /// - Parameter isDeterministic: whether it signs one text always with one signature.
    package func derivedKey(_ label: String, isDeterministic: Bool = false) throws(TenonError) -> SoftwareKey {
        for attempt in UInt8(0)...3 {
            let scalar = try Digest(authenticating: Array("\(label)\n".utf8) + [attempt], key: activation)
            // Of 2^32 keys, about one has to take the next value.
            let key = try? SoftwareKey(
                scalar: scalar.rawRepresentation, deterministic: isDeterministic, signsDigests: true)
            if let key { return key }
        }
        throw TenonError(.storeCorrupt, message: "The authority's keys are damaged. Restore ca.json from a backup.")
    }

    /// HMAC(K_ek, ek_id): the only form in which an EK is kept.
    package func hidden(_ ekID: Digest) throws(TenonError) -> Digest {
        try Digest(authenticating: ekID.rawRepresentation, key: ek)
    }

    /// Lets instances check that they have the same keys, and reveals nothing about the keys.
    var digest: Digest {
        get throws(TenonError) {
            let label = Array("tenon/settle/1".utf8)
            let marks = [
                try Digest(authenticating: label, key: activation), try Digest(authenticating: label, key: ek),
            ].flatMap(\.rawRepresentation)
            return try Digest(hashing: marks + issuer.certificate)
        }
    }

    /// Checks a signature by the present or a former issuing key over something other than a certificate.
    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(TenonError) {
        let (signature, digest) = (try Signature(derRepresentation: signature.span), try Digest(hashing: message))
        for key in former where key.isValidSignature(signature, for: digest) { return }
        try publicKey.verify(signature, for: digest)
    }

    /// Signs something other than a certificate: the head of an audit log. DER.
    package func signature(of message: [UInt8]) throws(TenonError) -> [UInt8] {
        try key.signature(for: Digest(hashing: message)).derRepresentation
    }
}

// All keys are in one file, mode 0600, so that no part is ever there without the rest (decision: authority-keys).
extension AuthorityKeys {
    private static let fileName = "ca.json"
    private static let maxBytes = 65_536
    private static let life: Int64 = 3_650 * 86_400

    /// Reads the keys of a folder; nil if none were made there.
    ///
    /// - Parameter open: opens the key of a CA that a TPM holds; both it and the key block. Without it, such a CA
    ///   cannot sign.
    /// - Throws: ``TenonError/Code/storeCorrupt``, ``TenonError/Code/storePermission``; and the errors of `open`.
    package init?(
        from folder: AuthorityFolder, open: HeldKey.Opener = HeldKey.unopened
    ) throws(TenonError) {
        guard let json = try AuthorityKeys.json(in: folder) else { return nil }
        guard let certificate = json["issuer"]?.bytes else { throw AuthorityKeys.damaged }
        let key = try AuthorityKeys.key(in: json, open)
        let roots = try AuthorityKeys.list("roots", in: json)
        var secrets: [Secret] = []
        for name in ["activation", "ek", "audit"] {
            guard let bytes = json[name]?.bytes, bytes.count == 32 else { throw AuthorityKeys.damaged }
            secrets.append(Secret(copying: bytes.span))
        }
        guard !roots.isEmpty else { throw AuthorityKeys.damaged }
        var former: [PublicKey] = []
        for bytes in try AuthorityKeys.list("former", in: json) {
            former.append(try PublicKey(derRepresentation: bytes))
        }
        self.init(
            certificate: certificate, key: key, roots: roots, activation: secrets[0], ek: secrets[1],
            audit: secrets[2], former: former,
            replaced: try json["replaces"]?.bytes.map { bytes throws(TenonError) in
                try Digest(rawRepresentation: bytes)
            }, isTest: json["test"] == .bool(true))
    }

    /// What lets a CA of a demo go: nothing that it signed, and nobody whom it let in, may stay.
    package static let afterTest =
        "It is that of a demo: stop the authority, move ca.json, authority.db* and audit.log* away,"
        + " and run `tenon-authority ca init`. Devices must register again."

    /// Makes and stores the keys: a root, whose own key is forgotten once it has signed, and an issuer below it.
    ///
    /// - Parameters:
    ///   - name: the name in the certificates; nil makes a test CA, for when nobody chose a name.
    ///   - held: the issuer's key, if a TPM holds it.
    /// - Throws: ``TenonError/Code/storeInUse`` when there are keys already, because replacing them would make them
    ///   worthless.
    package static func create(
        in folder: AuthorityFolder, name: String?, at now: Int64, held: HeldKey? = nil
    ) throws(TenonError) -> AuthorityKeys {
        if let keys = try json(in: folder) {
            let more = keys["test"] == nil ? "" : " \(afterTest)"
            throw TenonError(.storeInUse, message: "A CA exists already, and its devices' certificates need it.\(more)")
        }
        var object = JSONObject()
        object["version"] = 1
        for name in ["activation", "ek", "audit"] { object[name] = .bytes([UInt8](random: 32)) }
        if name == nil { object["test"] = true }
        let root = try addIssuer(named: name ?? "TEST", held, to: &object, at: now)
        object["roots"] = [.bytes(root)]
        return try store(.object(object), in: folder)
    }

    /// Replaces the issuing CA, which stays trusted until the next replacement. If this is done at most once every 90
    /// days, no AK certificate outlives the trust in its CA.
    ///
    /// - Parameter name: nil keeps the present name of the CA.
    /// - Throws: ``TenonError/Code/configuration`` if there is no CA, or only a test CA.
    package static func roll(
        in folder: AuthorityFolder, name: String?, at now: Int64, held: HeldKey? = nil
    ) throws(TenonError) -> AuthorityKeys {
        guard let keys = try AuthorityKeys(from: folder), !keys.isTest, var object = try json(in: folder)?.object else {
            throw TenonError(.configuration, message: "There is no CA, or only a test CA. Make one with `ca init`.")
        }
        guard let name = name ?? AuthorityKeys.name(ofIssuer: keys.issuer.certificate) else { throw damaged }
        let root = try addIssuer(named: name, held, to: &object, at: now)
        object["roots"] = [.bytes(root), .bytes(keys.roots[0])]
        object["former"] = .array((keys.former + [keys.publicKey]).map { .bytes($0.derRepresentation) })
        object["replaces"] = .bytes(try keys.digest.rawRepresentation)
        return try store(.object(object), in: folder)
    }

    private static let issuerTitle = " AK Issuer "
    private static let tailBytes = 4

    /// The CA's name when its issuer was made, from the subject of the issuer's certificate (RFC 5280, 4.1).
    private static func name(ofIssuer certificate: [UInt8]) -> String? {
        var outer = DERReader(certificate)
        guard var whole = outer.enter(0x30), var body = whole.enter(0x30), body.take(0xa0) != nil,
            body.take(0x02) != nil, body.take(0x30) != nil, body.take(0x30) != nil, body.take(0x30) != nil,
            var subject = body.enter(0x30), var set = subject.enter(0x31), var attribute = set.enter(0x30),
            attribute.take(0x06) != nil, let text = attribute.take(0x0c)
        else { return nil }
        let words = String(decoding: text, as: UTF8.self).dropLast(2 * tailBytes)
        return words.hasSuffix(issuerTitle) ? String(words.dropLast(issuerTitle.count)) : nil
    }

    /// Returns the certificate of the root above it.
    private static func addIssuer(
        named name: String, _ held: HeldKey?, to object: inout JSONObject, at now: Int64
    ) throws(TenonError) -> [UInt8] {
        let (scalar, key) = try makeKey()
        let (_, rootKey) = try makeKey()
        func terms() -> CertificateTerms {
            CertificateTerms(serial: [UInt8](random: 16), notBefore: now - 300, notAfter: now + life)
        }
        let tail = TextEncoding.hex.encode([UInt8](random: tailBytes))
        let root = try AttestationAuthority(root: "\(name) AK Root \(tail)", key: rootKey, terms: terms())
        object["key"] = held == nil ? .bytes(scalar) : nil
        object["tpm"] = held?.json
        object["issuer"] = .bytes(
            try root.certificate(
                forAuthority: name + issuerTitle + tail, key: held?.publicKey ?? key.publicKey,
                terms: terms()))
        return root.certificate
    }

    /// One of 2^32 random scalars is not a valid key, so this tries several.
    private static func makeKey() throws(TenonError) -> (scalar: [UInt8], key: SoftwareKey) {
        for _ in 0..<8 {
            let scalar = [UInt8](random: 32)
            if let key = try? SoftwareKey(scalar: scalar, signsDigests: true) { return (scalar, key) }
        }
        throw TenonError(.random, message: "The system returned no random numbers.")
    }

    private static func json(in folder: AuthorityFolder) throws(TenonError) -> JSON? {
        let file = try folder.open(fileName)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: maxBytes)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count >= 0 else { throw damaged }
        guard count > 0 else { return nil }
        guard let json = try? JSON(parsing: Array(bytes[..<count])), json["version"]?.integer == 1 else {
            throw damaged
        }
        return json
    }

    private static func key(in json: JSON, _ open: HeldKey.Opener) throws(TenonError) -> any DigestSigner {
        if let held = json["tpm"].flatMap(HeldKey.init) { return try open(held) }
        guard let scalar = json["key"]?.bytes, let key = try? SoftwareKey(scalar: scalar, signsDigests: true) else {
            throw damaged
        }
        return key
    }

    private static func list(_ name: String, in json: JSON) throws(TenonError) -> [[UInt8]] {
        let texts = json[name]?.array ?? []
        let list = texts.compactMap(\.bytes)
        guard list.count == texts.count else { throw damaged }
        return list
    }

    /// Replaces the file atomically.
    private static func store(_ json: JSON, in folder: AuthorityFolder) throws(TenonError) -> AuthorityKeys {
        let (bytes, name) = (try json.encoded(), fileName + ".new")
        let file = try folder.open(name)
        defer { close(file) }
        guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count, fsync(file) == 0,
            rename("\(folder.path)/\(name)", "\(folder.path)/\(fileName)") == 0
        else { throw TenonError(.storeFailed, message: "The CA's keys cannot be written. Free space on the disk.") }
        // This also syncs the folder.
        guard let keys = try AuthorityKeys(from: folder) else { throw damaged }
        return keys
    }

    private static let damaged = TenonError(
        .storeCorrupt, message: "\(fileName) is damaged. Restore it from a backup.")
}

/// A CA's key that a TPM holds (decision: authority-keys), in the stored form that only that TPM can use.
package struct HeldKey: Equatable, Sendable {
    /// Opens the key. It blocks, and the key that it returns may block, too.
    package typealias Opener = @Sendable (HeldKey) throws(TenonError) -> any DigestSigner

    /// The name by which the TPM is opened, like `device:/dev/tpmrm0`.
    package let tpm: String
    /// The key's file.
    package let file: [UInt8]
    package let publicKey: PublicKey

    package init(tpm: String, file: [UInt8], publicKey: PublicKey) {
        self.tpm = tpm
        self.file = file
        self.publicKey = publicKey
    }

    init?(_ json: JSON) {
        guard let tpm = json["name"]?.string, let file = json["file"]?.bytes, let bytes = json["public_key"]?.bytes,
            let key = try? PublicKey(derRepresentation: bytes)
        else { return nil }
        self.init(tpm: tpm, file: file, publicKey: key)
    }

    var json: JSON {
        ["name": .string(tpm), "file": .bytes(file), "public_key": .bytes(publicKey.derRepresentation)]
    }

    /// For programs that check signatures and make none.
    package static let unopened: Opener = { held in UnopenedKey(publicKey: held.publicKey) }
}

private struct UnopenedKey: DigestSigner {
    let publicKey: PublicKey

    func signature(for digest: Digest) throws(TenonError) -> Signature {
        throw TenonError(.configuration, message: "The CA's key is in a TPM that is not open.")
    }
}

// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// The entry that the authority keeps under a challenge, or under a secret of its attestation CA, until it is redeemed
/// (decision: derived-secret). It contains neither the challenge nor a secret: reading the store allows no forgery.
package struct ChallengeEntry: Equatable, Sendable {
    /// The kind of request that may redeem the entry. An entry is found only under its own purpose.
    package enum Purpose: String, Sendable {
        /// A challenge, redeemed by a registration.
        case registration = "register"
        /// A secret of the attestation CA, redeemed by a request for the AK's certificate.
        case certificate = "certify"
        /// A nonce of a service, redeemed by a request that shows who holds a key.
        case presentation = "present"
    }

    /// The TPM that a credential was made for, and the words about it for the AK's certificate.
    package struct Attestation: Equatable, Sendable {
        /// SHA-256 of the EK's SubjectPublicKeyInfo.
        package var ekID: Digest
        /// SHA-256 of the EK's certificate.
        package var ekCertificate: Digest
        /// The AK's TPMT_PUBLIC as it was sent.
        package var akPublic: [UInt8]
        /// Maker, model and version from the EK's certificate, if it chains, or else from the inventory's line; empty
        /// if unknown.
        package var maker: [UInt8]
        package var model: [UInt8]
        package var version: [UInt8]
        /// The Name of the key's parent, as the device sent it.
        package var parent: [UInt8]?

        package init(
            ekID: Digest, ekCertificate: Digest, akPublic: [UInt8], maker: [UInt8], model: [UInt8], version: [UInt8],
            parent: [UInt8]? = nil
        ) {
            self.parent = parent
            self.ekID = ekID
            self.ekCertificate = ekCertificate
            self.akPublic = akPublic
            self.maker = maker
            self.model = model
            self.version = version
        }
    }

    package var purpose: Purpose
    package var app: String
    package var origin: String
    /// The service's own name for the form of the request.
    package var dialect: String
    package var deadline: AuthorityInstant
    /// The address under which the challenge is counted; "" if it is not counted.
    package var asker: String
    /// Nil without a credential. With one, only the activation that belongs to it redeems the entry (decision:
    /// never-weaker).
    package var attestation: Attestation?

    package init(
        purpose: Purpose, app: String, origin: String, dialect: String, deadline: AuthorityInstant,
        asker: String = "", attestation: Attestation? = nil
    ) {
        self.asker = asker
        self.purpose = purpose
        self.app = app
        self.origin = origin
        self.dialect = dialect
        self.deadline = deadline
        self.attestation = attestation
    }
}

// The form in which every store keeps an entry: JSON, whatever the store's own format is.
extension ChallengeEntry {
    package func encoded() throws(TenonError) -> [UInt8] {
        var json: JSON = [
            "app": .string(app), "origin": .string(origin), "dialect": .string(dialect),
            "purpose": .string(purpose.rawValue), "wall": .integer(deadline.wall), "boot": .integer(deadline.boot),
        ]
        if case .object(var object) = json {
            object["attestation"] = attestation?.json
            object["asker"] = asker.isEmpty ? nil : .string(asker)
            json = .object(object)
        }
        return try json.encoded()
    }

    /// - Throws: ``TenonError/Code/storeCorrupt`` when ``encoded()`` did not make these bytes.
    package init(encoded: [UInt8]) throws(TenonError) {
        guard let json = try? JSON(parsing: encoded), let purpose = json["purpose"]?.string.flatMap(Purpose.init),
            let app = json["app"]?.string, let origin = json["origin"]?.string,
            let dialect = json["dialect"]?.string, let wall = json["wall"]?.integer, let boot = json["boot"]?.integer
        else { throw .damaged("a challenge") }
        self.init(
            purpose: purpose, app: app, origin: origin, dialect: dialect,
            deadline: AuthorityInstant(wall: wall, boot: boot), asker: json["asker"]?.string ?? "",
            attestation: try json["attestation"].map(Attestation.init(json:)))
    }
}

extension ChallengeEntry.Attestation {
    fileprivate var json: JSON {
        var object = JSONObject()
        object["ek_id"] = .bytes(ekID.rawRepresentation)
        object["ek_certificate"] = .bytes(ekCertificate.rawRepresentation)
        object["ak"] = .bytes(akPublic)
        object["maker"] = .bytes(maker)
        object["model"] = .bytes(model)
        object["version"] = .bytes(version)
        // An entry of an earlier version has none, and is still read.
        object["parent"] = parent.map(JSON.bytes)
        return .object(object)
    }

    fileprivate init(json: JSON) throws(TenonError) {
        guard let ekID = json["ek_id"]?.bytes, let certificate = json["ek_certificate"]?.bytes,
            let akPublic = json["ak"]?.bytes, let maker = json["maker"]?.bytes, let model = json["model"]?.bytes,
            let version = json["version"]?.bytes, let ekID = try? Digest(rawRepresentation: ekID),
            let certificate = try? Digest(rawRepresentation: certificate)
        else { throw .damaged("a challenge") }
        self.init(
            ekID: ekID, ekCertificate: certificate, akPublic: akPublic, maker: maker, model: model, version: version,
            parent: json["parent"]?.bytes)
    }
}

extension JSON {
    package static func bytes(_ bytes: [UInt8]) -> JSON { .string(TextEncoding.base64.encode(bytes)) }

    /// The bytes of a base64 text.
    var bytes: [UInt8]? { string.flatMap { try? TextEncoding.base64.decode($0) } }
}

extension TenonError {
    /// The store returned bytes that were never stored.
    static func damaged(_ what: String) -> TenonError {
        TenonError(.storeCorrupt, message: "The store is damaged (\(what)). Restore it from a backup.")
    }
}

/// Entries that are redeemed once and soon: challenges, and the pending secrets of the attestation CA.
///
/// The key of an entry is the SHA-256 of the challenge's text, or of the secret's bytes.
package protocol ChallengeStore: Sendable {
    /// Keeps an entry until its deadline. It is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFull`` when the most entries are outstanding (no entry is dropped for another
    ///   one), or when they are scarce and the asker has its share of them. ``TenonError/Code/storeFailed`` and the
    ///   like: nothing is kept.
    func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError)

    /// Returns the entry and forgets it, in one step. Of any number of concurrent callers, only one gets it, even if
    /// that caller fails or the process crashes. Nil if no entry has that purpose, or its deadline has passed.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` and the like: no caller got the entry; it may still be stored.
    func take(_ purpose: ChallengeEntry.Purpose, under key: Digest) async throws(TenonError) -> ChallengeEntry?
}

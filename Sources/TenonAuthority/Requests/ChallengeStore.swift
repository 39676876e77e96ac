// SPDX-License-Identifier: Apache-2.0
package import Tenon

/// What the authority keeps under a challenge, or under the secret of its attestation CA, until it is redeemed
/// (decision: derived-secret). It contains neither the challenge nor a secret: reading the store allows no forgery.
package struct ChallengeEntry: Equatable, Sendable {
    /// What may redeem the entry. An entry is found under its own purpose only.
    package enum Purpose: String, Sendable {
        /// A challenge, redeemed by a registration.
        case registration = "register"
        /// A secret of the attestation CA, redeemed by a request for the AK's certificate.
        case certificate = "certify"
    }

    /// The TPM that a credential was made for, and what its AK's certificate is going to say of it.
    package struct Attestation: Equatable, Sendable {
        /// SHA-256 of the EK's SubjectPublicKeyInfo.
        package var ekID: Digest
        /// SHA-256 of the EK's certificate.
        package var ekCertificate: Digest
        /// The AK's TPMT_PUBLIC as it was sent.
        package var akPublic: [UInt8]
        /// Maker, model and version out of the EK's certificate, if it chains, or of the inventory's line; empty where
        /// neither says it.
        package var maker: [UInt8]
        package var model: [UInt8]
        package var version: [UInt8]
        /// The Name of the key's parent, as the device said it.
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
    /// The service's own word for the form in which it was asked.
    package var dialect: String
    package var deadline: AuthorityInstant
    /// Who asked for it, as its challenges are counted; "" where nobody counts.
    package var asker: String
    /// With a credential: the entry is redeemed only with the activation that it belongs to (decision: never-weaker).
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

    /// - Throws: ``TenonError/Code/storeCorrupt`` when no ``encoded()`` made this.
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
        // What an earlier version wrote has none, and is read.
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
    /// A store gave what it was never given.
    static func damaged(_ what: String) -> TenonError {
        TenonError(.storeCorrupt, message: "The store is damaged (\(what)). Restore it from a backup.")
    }
}

/// What is redeemed once and soon: challenges, and the pending secrets of the attestation CA.
///
/// The key of an entry is the SHA-256 of the challenge's text, or of the secret's bytes.
package protocol ChallengeStore: Sendable {
    /// Keeps an entry until its deadline. It is stored when this returns.
    ///
    /// - Throws: ``TenonError/Code/storeFull`` when as many entries as may be are outstanding; none makes room for
    ///   another; nor when its asker has its share of them, and they are scarce. ``TenonError/Code/storeFailed`` and the like: nothing is kept.
    func put(_ entry: ChallengeEntry, under key: Digest) async throws(TenonError)

    /// Gives the entry and forgets it, in one step: of any number of callers at once one has it, whatever becomes of
    /// that one, and also over a crash. Nil when there is none of that purpose, or its deadline has passed.
    ///
    /// - Throws: ``TenonError/Code/storeFailed`` and the like: nobody has the entry now; it may be there still.
    func take(_ purpose: ChallengeEntry.Purpose, under key: Digest) async throws(TenonError) -> ChallengeEntry?
}

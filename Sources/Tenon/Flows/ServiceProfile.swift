// SPDX-License-Identifier: Apache-2.0

/// A service: a declaration, and pure functions that make its requests and read its answers. The registrar runs them.
///
/// A profile holds no state, sends nothing and signs nothing. What varies between versions of a service is its dialect,
/// which is a value in the profile.
package protocol ServiceProfile: Sendable {
    var declaration: ServiceDeclaration { get }

    /// Checks what must hold before the first key is made, such as the service's own standing.
    func checkBeforeFirstKey() async throws(TenonError)
    /// What is done from time to time for a registered device, beside what all services need.
    func maintain(_ use: ServiceUse) async throws(TenonError)

    /// The public key as its text stands on the wire, which is what nonces are made of.
    func text(of key: PublicKey) -> String

    /// - Parameter offer: for ``AttestationRule/activation``, else nil.
    func challengeRequest(_ device: ServiceDevice, _ offer: AttestationOffer?) throws(TenonError) -> HTTPRequest
    func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge>

    /// The nonce of the proof, at most 32 bytes.
    func qualifyingData(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> [UInt8]
    func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft
    func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome>

    /// The nonce of the proof of a new key, for a proven rotation.
    func qualifyingData(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> [UInt8]
    func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft
    func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome>

    /// The message of the identity's log in a request; nil for a service whose messages are not numbered.
    func logEntry(in request: HTTPRequest) throws(TenonError) -> LogEntry?
    /// The message in a line of the log that is kept.
    func logEntry(ofLine line: [UInt8]) throws(TenonError) -> LogEntry
    /// Asks for the log that the service holds, from this number on.
    func logRequest(_ device: ServiceDevice, from sequence: Int64) throws(TenonError) -> HTTPRequest
    func log(in answer: HTTPResponse) -> ServiceAnswer<[LogEntry]>
    /// Sends messages that the service took before; its answer is that to a rotation.
    func logMessage(_ device: ServiceDevice, _ entries: [LogEntry]) throws(TenonError) -> HTTPRequest
    /// Whether these messages follow a position of the identity's log, each signed as it has to be.
    func isLog(_ entries: [LogEntry], of device: ServiceDevice, after position: LogPosition?) -> Bool

    /// Asks, signed by a key, whether the service holds that.
    func question(_ device: ServiceDevice, _ stamp: RequestStamp) throws(TenonError) -> ServiceDraft
    func holding(in answer: HTTPResponse, of key: PublicKey) -> ServiceAnswer<KeyHolding>

    /// The headers of an application's request.
    func headers(_ values: RequestHeaders) throws(TenonError) -> [(name: String, value: String)]
    /// The headers of an application's request of signature version 2.
    func headers(_ values: SignatureHeaders) throws(TenonError) -> [(name: String, value: String)]
    /// How the service takes requests, as a success of its own endpoints announces it; nil if it does not say.
    func signing(in answer: HTTPResponse) -> SigningTerms?
    /// The meaning of an answer to an application's request for the device; nil if it has none.
    func refusal(in answer: HTTPResponse) -> ServiceRefusal?
}

// Members that not every service has.
extension ServiceProfile {
    package func checkBeforeFirstKey() async throws(TenonError) {}
    package func maintain(_ use: ServiceUse) async throws(TenonError) {}
    package func challengeRequest(
        _ device: ServiceDevice, _ offer: AttestationOffer?
    ) throws(TenonError) -> HTTPRequest { throw .noSuchStep }
    package func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge> { .unclear(.noSuchStep) }
    package func qualifyingData(
        _ device: ServiceDevice, _ terms: RegistrationTerms
    ) throws(TenonError) -> [UInt8] { throw .noSuchStep }
    package func qualifyingData(
        _ device: ServiceDevice, _ terms: RotationTerms
    ) throws(TenonError) -> [UInt8] { throw .noSuchStep }
    package func rotation(
        _ device: ServiceDevice, _ terms: RotationTerms
    ) throws(TenonError) -> ServiceDraft { throw .noSuchStep }
    package func rotation(
        in answer: HTTPResponse, to request: HTTPRequest
    ) -> ServiceAnswer<RotationOutcome> { .unclear(.noSuchStep) }
    package func logEntry(in request: HTTPRequest) throws(TenonError) -> LogEntry? { nil }
    package func logEntry(ofLine line: [UInt8]) throws(TenonError) -> LogEntry { throw .noSuchStep }
    package func logRequest(
        _ device: ServiceDevice, from sequence: Int64
    ) throws(TenonError) -> HTTPRequest { throw .noSuchStep }
    package func log(in answer: HTTPResponse) -> ServiceAnswer<[LogEntry]> { .unclear(.noSuchStep) }
    package func logMessage(
        _ device: ServiceDevice, _ entries: [LogEntry]
    ) throws(TenonError) -> HTTPRequest { throw .noSuchStep }
    package func isLog(
        _ entries: [LogEntry], of device: ServiceDevice, after position: LogPosition?
    ) -> Bool { false }
    package func question(
        _ device: ServiceDevice, _ stamp: RequestStamp
    ) throws(TenonError) -> ServiceDraft { throw .noSuchStep }
    package func holding(
        in answer: HTTPResponse, of key: PublicKey
    ) -> ServiceAnswer<KeyHolding> { .unclear(.noSuchStep) }
    package func headers(
        _ values: RequestHeaders
    ) throws(TenonError) -> [(name: String, value: String)] { throw .noSuchStep }
    package func headers(
        _ values: SignatureHeaders
    ) throws(TenonError) -> [(name: String, value: String)] { throw .noSuchStep }
    package func signing(in answer: HTTPResponse) -> SigningTerms? { nil }
    package func refusal(in answer: HTTPResponse) -> ServiceRefusal? { nil }
}

extension TenonError {
    static let noSuchStep = TenonError(.serviceStep, message: "This service has no such step.")
}

/// The device as its service's messages name it.
package struct ServiceDevice: Sendable {
    package var appID: String
    /// A UUID that the device drew, on disk before anything is sent.
    package var localID: String
    /// The service's id of the device; nil before it is registered.
    package var deviceID: String?
    /// Whether the device signs requests by version 2 only, also those to the service itself.
    package var isOnlyVersion2 = false

    package init(appID: String, localID: String, deviceID: String? = nil) {
        self.appID = appID
        self.localID = localID
        self.deviceID = deviceID
    }
}

/// The data that a service is shown so that it can make a credential.
package struct AttestationOffer: Sendable {
    /// Leaf first, DER.
    package var endorsementCertificates: [[UInt8]]
    package var attestationKey: PublicArea
    /// The Name of the signing key's parent, by which a service can tell the hierarchy of the key; nil where it is not
    /// known.
    package var parent: [UInt8]?

    package init(endorsementCertificates: [[UInt8]], attestationKey: PublicArea, parent: [UInt8]? = nil) {
        self.endorsementCertificates = endorsementCertificates
        self.attestationKey = attestationKey
        self.parent = parent
    }
}

package struct ServiceChallenge: Sendable {
    /// As it came.
    package var text: String
    /// As the service says, from now on; nil when it does not say, or not so that it can be read.
    package var life: Duration?
    package var credential: Credential?

    package init(text: String, life: Duration? = nil, credential: Credential? = nil) {
        self.text = text
        self.life = life
        self.credential = credential
    }
}

/// The parts of a registration.
package struct RegistrationTerms: Sendable {
    package var key: PublicKey
    /// For ``KeyPlan/committedNext``.
    package var next: PublicKey?
    /// For a service that has them.
    package var challenge: ServiceChallenge?
    package var proof: Proof?
    /// The answer to the credential of the challenge.
    package var activation: Digest?
    /// For a service whose messages are numbered.
    package var slot: Int64?

    package init(
        key: PublicKey, next: PublicKey? = nil, challenge: ServiceChallenge? = nil, proof: Proof? = nil,
        activation: Digest? = nil, slot: Int64? = nil
    ) {
        self.key = key
        self.next = next
        self.challenge = challenge
        self.proof = proof
        self.activation = activation
        self.slot = slot
    }
}

/// The parts of a rotation.
package struct RotationTerms: Sendable {
    /// The key that the service holds, as far as is known; for a self-rotation it is the new one.
    package var current: PublicKey
    package var new: PublicKey
    /// The key after the new one, for ``KeyPlan/committedNext``.
    package var following: PublicKey?
    package var proof: Proof?
    /// The Name of the new key's parent, which goes with a proof.
    package var parent: [UInt8]?
    package var slot: Int64?
    /// The last message that the service took, where messages have numbers.
    package var prior: LogTail?
    package var stamp: RequestStamp

    package init(
        current: PublicKey, new: PublicKey, following: PublicKey? = nil, proof: Proof? = nil, slot: Int64? = nil,
        prior: LogTail? = nil, stamp: RequestStamp
    ) {
        self.current = current
        self.new = new
        self.following = following
        self.proof = proof
        self.slot = slot
        self.prior = prior
        self.stamp = stamp
    }
}

/// The values that make a signed request unique.
package struct RequestStamp: Sendable {
    /// Unix seconds on the service's clock, as text.
    package var timestamp: String
    /// A UUID of version 4.
    package var nonce: String

    package init(timestamp: String, nonce: String) {
        self.timestamp = timestamp
        self.nonce = nonce
    }
}

/// A request that may want a signature yet.
package enum ServiceDraft: Sendable {
    case ready(HTTPRequest)
    /// The registrar has it signed, by the key that the step is signed by.
    case unsigned(SignableMessage, finish: @Sendable (Signature) throws(TenonError) -> HTTPRequest)
    /// The same for a request of signature version 2, in the plain form.
    case unsigned2(
        RequestTarget, body: [UInt8], RequestStamp,
        finish: @Sendable (SignatureHeaders) throws(TenonError) -> HTTPRequest)
}

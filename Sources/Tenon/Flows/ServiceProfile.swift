// SPDX-License-Identifier: Apache-2.0

/// A service: a declaration, and pure functions that make its requests and read its answers. The registrar runs them.
///
/// A profile holds no state, sends nothing and signs nothing. What varies between versions of a service is its dialect,
/// which is a value in the profile.
package protocol ServiceProfile: Sendable {
    var declaration: ServiceDeclaration { get }

    /// The public key as its text stands on the wire, which is what nonces are made of.
    func text(of key: PublicKey) -> String

    /// - Parameter offer: for ``AttestationRule/activation``, else nil.
    func challengeRequest(_ device: ServiceDevice, _ offer: AttestationOffer?) throws(TenonError) -> HTTPRequest
    func challenge(in answer: HTTPResponse) -> ServiceAnswer<ServiceChallenge>

    /// What the proof is made over, at most 32 bytes.
    func qualifyingData(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> [UInt8]
    func registration(_ device: ServiceDevice, _ terms: RegistrationTerms) throws(TenonError) -> ServiceDraft
    func registration(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RegistrationOutcome>

    /// What the proof of a new key is made over, for a rotation that is proven.
    func qualifyingData(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> [UInt8]
    func rotation(_ device: ServiceDevice, _ terms: RotationTerms) throws(TenonError) -> ServiceDraft
    func rotation(in answer: HTTPResponse, to request: HTTPRequest) -> ServiceAnswer<RotationOutcome>

    /// Asks, signed by a key, whether the service holds that.
    func question(_ device: ServiceDevice, _ stamp: RequestStamp) throws(TenonError) -> ServiceDraft
    func holding(in answer: HTTPResponse, of key: PublicKey) -> ServiceAnswer<KeyHolding>

    /// The headers of an application's request.
    func headers(_ values: RequestHeaders) throws(TenonError) -> [(name: String, value: String)]
    /// What an answer to an application's request says about the device; nil when it says nothing.
    func refusal(in answer: HTTPResponse) -> ServiceRefusal?

    /// Called with the exact message when the service has accepted it and before the record says so, for a service
    /// whose messages are a log. It may come again for the same message.
    func keep(_ accepted: HTTPRequest) async throws(TenonError)
}

// What not every service has.
extension ServiceProfile {
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
    package func question(
        _ device: ServiceDevice, _ stamp: RequestStamp
    ) throws(TenonError) -> ServiceDraft { throw .noSuchStep }
    package func holding(
        in answer: HTTPResponse, of key: PublicKey
    ) -> ServiceAnswer<KeyHolding> { .unclear(.noSuchStep) }
    package func headers(
        _ values: RequestHeaders
    ) throws(TenonError) -> [(name: String, value: String)] { throw .noSuchStep }
    package func refusal(in answer: HTTPResponse) -> ServiceRefusal? { nil }
    package func keep(_ accepted: HTTPRequest) async throws(TenonError) {}
}

extension TenonError {
    static let noSuchStep = TenonError(.serviceStep, message: "This service has no such step.")
}

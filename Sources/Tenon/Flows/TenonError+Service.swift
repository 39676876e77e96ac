// SPDX-License-Identifier: Apache-2.0

extension TenonError {
    /// The error that an answer which is no success stands for.
    init(_ answer: HTTPResponse, code: String?, _ verdict: ServiceVerdict?) {
        let (ours, message): (Code, String) =
            switch verdict {
            case .challengeSpent: (.challengeExpired, "The service does not take the challenge any more.")
            case .attestationRefused, .attestationFailed:
                (.attestationFailed, "The service does not believe the attestation.")
            case .rejected: (.registrationRejected, "The service does not want this device.")
            case .revoked: (.deviceRevoked, "The service revoked this device: reset the identity to begin anew.")
            case .keyRefused: (.keyRefused, "The service does not accept the signature of this key.")
            case .clockSkew: (.clockSkew, "The clock of this device is not the service's: set it.")
            case .keyExpired: (.keyExpired, "The key is older than the service takes.")
            case .nonceReplay: (.nonceReplay, "The service says that it has seen this request.")
            case .rotationRefused: (.rotationFailed, "The service refused the new key; both keys are kept.")
            case .busy: (.serviceBusy, "The service cannot just now: try again later.")
            case nil where answer.isTransient: (.serviceBusy, "The service cannot just now: try again later.")
            case nil where 400...499 ~= answer.status:
                (.serviceRefused, "The service refuses the request: look at its code.")
            case nil: (.serviceAnswer, "The answer of the service is none that it gives: look at the base URL.")
            }
        self.init(
            ours, message: message, httpStatus: answer.status, serverCode: code, retryAfter: answer.retryAfter)
    }
}

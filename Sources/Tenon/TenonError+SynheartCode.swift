// SPDX-License-Identifier: Apache-2.0

// The codes of the Synheart profile (bit 22 set, 01e0 to 01ff).
extension TenonError.Code {
    /// The base URL of a service is none.
    public static let serviceURL = Self(rawValue: 0x0140_01e0)
    /// The challenge is not what a service gives: base64 of at least 32 bytes.
    public static let challengeForm = Self(rawValue: 0x0240_01e1)

    /// The name in the manner of the C core.
    var synheartName: String? {
        switch self {
        case .serviceURL: "TENON_ERROR_SERVICE_URL"
        case .challengeForm: "TENON_ERROR_CHALLENGE_FORM"
        default: nil
        }
    }
}

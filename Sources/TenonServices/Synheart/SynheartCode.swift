// SPDX-License-Identifier: Apache-2.0
public import Tenon

// The codes of this service (01e1 to 01ef).
extension TenonError.Code {
    /// The challenge is not what a service gives: base64 of at least 32 bytes.
    public static let challengeForm = Self(0x0240_01e1, "TENON_ERROR_CHALLENGE_FORM")
}

// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The rules of `tenon/verify.h` and `tenon/activate.h`, each by its number there.
extension TenonError.Code {
    /// A part of the proof is larger than allowed.
    public static let rule1Size = Self(TENON_RULE_1_SIZE)
    /// The proof is not deterministic CBOR.
    public static let rule2CBOR = Self(TENON_RULE_2_CBOR)
    /// The proof has an unsupported version or algorithm.
    public static let rule3Version = Self(TENON_RULE_3_VERSION)
    /// A part of the proof cannot be read to its end, or has bytes after it.
    public static let rule4Trailing = Self(TENON_RULE_4_TRAILING)
    /// The statement was not made by a TPM.
    public static let rule5Magic = Self(TENON_RULE_5_MAGIC)
    /// The statement is not about a certified key.
    public static let rule6Type = Self(TENON_RULE_6_TYPE)
    /// The statement is not for this nonce.
    public static let rule7Nonce = Self(TENON_RULE_7_NONCE)
    /// The key's Name does not use SHA-256.
    public static let rule8NameAlgorithm = Self(TENON_RULE_8_NAME_ALGORITHM)
    /// The statement and the public area are about different keys.
    public static let rule9Name = Self(TENON_RULE_9_NAME)
    /// The key was loaded into the TPM from outside.
    public static let rule10QualifiedName = Self(TENON_RULE_10_QUALIFIED_NAME)
    /// The key is not under the required parent.
    public static let rule11Parent = Self(TENON_RULE_11_PARENT)
    /// The key was not created in the TPM, or can leave it.
    public static let rule12BornInTPM = Self(TENON_RULE_12_BORN_IN_TPM)
    /// The key is not a plain signing key.
    public static let rule13SignsOnly = Self(TENON_RULE_13_SIGNS_ONLY)
    /// The key does not rely on its user authorization alone.
    public static let rule14AuthorisedByUser = Self(TENON_RULE_14_AUTHORISED_BY_USER)
    /// The key has an attribute that is not allowed.
    public static let rule15Attributes = Self(TENON_RULE_15_ATTRIBUTES)
    /// The key is not a P-256 key in the expected form.
    public static let rule16P256 = Self(TENON_RULE_16_P256)
    /// A coordinate of the key's point is too long.
    public static let rule17Coordinates = Self(TENON_RULE_17_COORDINATES)
    /// The key's point is not on the curve.
    public static let rule18OnCurve = Self(TENON_RULE_18_ON_CURVE)
    /// The proof is not about the submitted key.
    public static let rule19PublicKey = Self(TENON_RULE_19_PUBLIC_KEY)
    /// The signature over the statement has an unsupported algorithm.
    public static let rule20Algorithm = Self(TENON_RULE_20_ALGORITHM)
    /// r or s of the signature over the statement is out of range.
    public static let rule21Range = Self(TENON_RULE_21_RANGE)
    /// A certificate of the chain is missing, unexpected, or malformed.
    public static let rule22Certificate = Self(TENON_RULE_22_CERTIFICATE)
    /// A certificate has an unknown critical extension.
    public static let rule23Critical = Self(TENON_RULE_23_CRITICAL)
    /// The certificates do not lead to a trusted root.
    public static let rule24Chain = Self(TENON_RULE_24_CHAIN)
    /// The certificate does not name the TPM in the required form.
    public static let rule25Subject = Self(TENON_RULE_25_SUBJECT)
    /// The TPM's maker is not allowed.
    public static let rule26Maker = Self(TENON_RULE_26_MAKER)
    /// The certificate is not for this use.
    public static let rule27Usage = Self(TENON_RULE_27_USAGE)
    /// The key's certificate is a CA certificate.
    public static let rule28NotACA = Self(TENON_RULE_28_NOT_A_CA)
    /// The attestation key does not have the attributes of an attestation key.
    public static let rule29AK = Self(TENON_RULE_29_AK)
    /// The TPM's firmware is older than allowed.
    public static let rule30Firmware = Self(TENON_RULE_30_FIRMWARE)
    /// The key certified itself.
    public static let rule31AnotherKey = Self(TENON_RULE_31_ANOTHER_KEY)
    /// The statement was not signed by the trusted attestation key.
    public static let rule32Signature = Self(TENON_RULE_32_SIGNATURE)
    /// The EK certificate does not lead to a trusted root.
    public static let rule33EKChain = Self(TENON_RULE_33_EK_CHAIN)
    /// The EK certificate is not of the expected form.
    public static let rule34EKCertificate = Self(TENON_RULE_34_EK_CERTIFICATE)
    /// The EK certificate says that its key is for RSAES-OAEP.
    public static let rule35NotOAEP = Self(TENON_RULE_35_NOT_OAEP)
    /// The EK is of a kind that is not accepted.
    public static let rule36EKKey = Self(TENON_RULE_36_EK_KEY)
    /// This EK is not allowed.
    public static let rule37EKAllowed = Self(TENON_RULE_37_EK_ALLOWED)
}

// SPDX-License-Identifier: Apache-2.0

extension TenonError {
    /// What went wrong: a status of the C core, or a code of this module.
    ///
    /// The raw value is a `tenon_status` (`tenon/status.h`): bits 24-30 are the category, the rest the cause. Causes with
    /// bit 23 set are the TPM's; those with bit 22 set belong to this module and are never given by the C core.
    ///
    /// Not an enum: a later version may know more. Switch with a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int32

        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// What a caller does about it.
        public var category: Category { Category(rawValue: rawValue >> 24 & 0x7f) }

        /// The TPM's layer (bits 16-19) and response code (bits 0-15), when the TPM is the cause.
        public var tpmCode: UInt32? { rawValue & 0x80_0000 == 0 ? nil : UInt32(rawValue & 0xf_ffff) }
    }
}

// The statuses of the C core. `tenon/status.h` says what each means.
extension TenonError.Code {
    public static let nullPointer = Self(rawValue: 0x0100_0001)
    public static let bufferTooSmall = Self(rawValue: 0x0100_0002)
    public static let tooLarge = Self(rawValue: 0x0100_0003)
    public static let empty = Self(rawValue: 0x0100_0004)
    public static let flags = Self(rawValue: 0x0100_0005)
    public static let keyOperations = Self(rawValue: 0x0100_0006)
    public static let stream = Self(rawValue: 0x0100_0007)
    public static let method = Self(rawValue: 0x0100_0008)
    public static let path = Self(rawValue: 0x0100_0009)
    public static let timestamp = Self(rawValue: 0x0100_000a)
    public static let nonce = Self(rawValue: 0x0100_000b)
    public static let appID = Self(rawValue: 0x0100_000c)
    public static let deviceID = Self(rawValue: 0x0100_000d)
    public static let clientData = Self(rawValue: 0x0100_000e)
    public static let event = Self(rawValue: 0x0100_000f)
    public static let digestNotAllowed = Self(rawValue: 0x0100_0010)

    public static let base64Length = Self(rawValue: 0x0200_0001)
    public static let base64Alphabet = Self(rawValue: 0x0200_0002)
    public static let base64Padding = Self(rawValue: 0x0200_0003)
    public static let base64StrayBits = Self(rawValue: 0x0200_0004)
    public static let hexLength = Self(rawValue: 0x0200_0005)
    public static let hexAlphabet = Self(rawValue: 0x0200_0006)
    public static let derTruncated = Self(rawValue: 0x0200_0007)
    public static let derTag = Self(rawValue: 0x0200_0008)
    public static let derLength = Self(rawValue: 0x0200_0009)
    public static let derInteger = Self(rawValue: 0x0200_000a)
    public static let derTrailing = Self(rawValue: 0x0200_000b)
    public static let signatureRange = Self(rawValue: 0x0200_000c)
    public static let pointForm = Self(rawValue: 0x0200_000d)
    public static let pointRange = Self(rawValue: 0x0200_000e)
    public static let pointOffCurve = Self(rawValue: 0x0200_000f)
    public static let spkiForm = Self(rawValue: 0x0200_0010)
    public static let scalarRange = Self(rawValue: 0x0200_0011)

    public static let signatureInvalid = Self(rawValue: 0x0300_0001)

    public static let memory = Self(rawValue: 0x0900_0001)
    public static let random = Self(rawValue: 0x0900_0002)
    public static let crypto = Self(rawValue: 0x0900_0003)
}

// SPDX-License-Identifier: Apache-2.0

// The codes of this module (bit 22 set).
extension TenonError.Code {
    /// The bytes have another length than a value of this type.
    public static let length = Self(rawValue: 0x0240_0001)

    /// A member of a message is missing, or is not of the type and size that it has to have; the message names it.
    public static let messageMember = Self(rawValue: 0x0240_0002)

    /// The JSON text is longer than the reader was told to take.
    public static let jsonTooLarge = Self(rawValue: 0x0240_0101)
    /// The JSON text holds more values than the reader was told to take.
    public static let jsonTooManyValues = Self(rawValue: 0x0240_0102)
    /// Arrays and objects are nested more than 8 deep.
    public static let jsonTooDeep = Self(rawValue: 0x0240_0103)
    /// The JSON text begins with a byte order mark.
    public static let jsonByteOrderMark = Self(rawValue: 0x0240_0104)
    /// A byte stands where JSON has no place for it.
    public static let jsonSyntax = Self(rawValue: 0x0240_0105)
    /// The JSON text ends within a value.
    public static let jsonTruncated = Self(rawValue: 0x0240_0106)
    /// Bytes stand behind the value.
    public static let jsonTrailingBytes = Self(rawValue: 0x0240_0107)
    /// A comma stands before the end of an array or object.
    public static let jsonTrailingComma = Self(rawValue: 0x0240_0108)
    /// An object has the same key twice.
    public static let jsonDuplicateKey = Self(rawValue: 0x0240_0109)
    /// A string is not UTF-8: an overlong form, a surrogate, beyond U+10FFFF, or cut short.
    public static let jsonUTF8 = Self(rawValue: 0x0240_010a)
    /// A string holds a control character that is not escaped.
    public static let jsonControlCharacter = Self(rawValue: 0x0240_010b)
    /// A backslash is not followed by an escape of JSON.
    public static let jsonEscape = Self(rawValue: 0x0240_010c)
    /// An escape names one half of a surrogate pair.
    public static let jsonLoneSurrogate = Self(rawValue: 0x0240_010d)
    /// A number has no digit where it needs one.
    public static let jsonNumberForm = Self(rawValue: 0x0240_010e)
    /// A number begins with a zero that it does not need.
    public static let jsonLeadingZero = Self(rawValue: 0x0240_010f)
    /// NaN or an infinity.
    public static let jsonNotFinite = Self(rawValue: 0x0240_0110)
    /// An integer beyond 64 bits, or a fraction that no Double comes near.
    public static let jsonNumberRange = Self(rawValue: 0x0240_0111)

    /// A secret that an attestation CA does not wait for: it was never given out, was used, or came too late.
    public static let secretNotPending = Self(rawValue: 0x0340_0001)

    /// As many activations wait for their secrets as are waited for: try again later.
    public static let pendingFull = Self(rawValue: 0x0440_0001)

    /// The task was cancelled before anything was sent: nothing was lost.
    public static let cancelled = Self(rawValue: 0x0a40_0001)

    /// The name in the manner of the C core, for the codes of this module.
    var moduleName: String? {
        switch self {
        case .length: "TENON_ERROR_LENGTH"
        case .jsonTooLarge: "TENON_ERROR_JSON_TOO_LARGE"
        case .jsonTooManyValues: "TENON_ERROR_JSON_TOO_MANY_VALUES"
        case .jsonTooDeep: "TENON_ERROR_JSON_TOO_DEEP"
        case .jsonByteOrderMark: "TENON_ERROR_JSON_BYTE_ORDER_MARK"
        case .jsonSyntax: "TENON_ERROR_JSON_SYNTAX"
        case .jsonTruncated: "TENON_ERROR_JSON_TRUNCATED"
        case .jsonTrailingBytes: "TENON_ERROR_JSON_TRAILING_BYTES"
        case .jsonTrailingComma: "TENON_ERROR_JSON_TRAILING_COMMA"
        case .jsonDuplicateKey: "TENON_ERROR_JSON_DUPLICATE_KEY"
        case .jsonUTF8: "TENON_ERROR_JSON_UTF8"
        case .jsonControlCharacter: "TENON_ERROR_JSON_CONTROL_CHARACTER"
        case .jsonEscape: "TENON_ERROR_JSON_ESCAPE"
        case .jsonLoneSurrogate: "TENON_ERROR_JSON_LONE_SURROGATE"
        case .jsonNumberForm: "TENON_ERROR_JSON_NUMBER_FORM"
        case .jsonLeadingZero: "TENON_ERROR_JSON_LEADING_ZERO"
        case .jsonNotFinite: "TENON_ERROR_JSON_NOT_FINITE"
        case .jsonNumberRange: "TENON_ERROR_JSON_NUMBER_RANGE"
        case .messageMember: "TENON_ERROR_MESSAGE_MEMBER"
        case .secretNotPending: "TENON_ERROR_SECRET_NOT_PENDING"
        case .pendingFull: "TENON_ERROR_PENDING_FULL"
        case .cancelled: "TENON_ERROR_CANCELLED"
        default: httpName ?? storeName
        }
    }
}

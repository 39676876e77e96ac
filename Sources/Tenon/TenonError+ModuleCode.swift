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

    /// No folder for the state is named, or not as a path can be.
    public static let statePath = Self(rawValue: 0x0140_01a0)
    /// The state, or its folder, has another owner, or others may write or read it.
    public static let stateOwner = Self(rawValue: 0x0640_01a1)
    /// The state, or its folder, is a link or no file or folder.
    public static let stateKind = Self(rawValue: 0x0640_01a2)
    /// The state may not be opened or written by this user.
    public static let statePermission = Self(rawValue: 0x0640_01a3)
    /// There is no room for the state.
    public static let stateFull = Self(rawValue: 0x0540_01a4)
    /// The state lies on a disk that may only be read.
    public static let stateReadOnly = Self(rawValue: 0x0540_01a5)
    /// The state cannot be read or written, for another reason.
    public static let stateIO = Self(rawValue: 0x0540_01a6)
    /// The folder of the state was removed while it was in use.
    public static let stateFolderGone = Self(rawValue: 0x0540_01a7)
    /// Another operation, or another process, works on the identity.
    public static let stateBusy = Self(rawValue: 0x0440_01a8)
    /// A record is cut short, or does not have the form of a record.
    public static let recordForm = Self(rawValue: 0x0240_01a9)
    /// A record is not what was written: its sum is wrong.
    public static let recordSum = Self(rawValue: 0x0240_01aa)
    /// A record was written by a later version.
    public static let recordVersion = Self(rawValue: 0x0240_01ab)
    /// There is a key of an identity, and no record of it.
    public static let stateMissing = Self(rawValue: 0x0a40_01ac)
    /// Only an older record can be read: which key the service holds is not known.
    public static let stateUnresolved = Self(rawValue: 0x0a40_01ad)
    /// The state may not follow the one before.
    public static let invalidStateTransition = Self(rawValue: 0x0a40_01ae)
    /// An operation is in flight, whose outcome comes first.
    public static let operationInFlight = Self(rawValue: 0x0a40_01af)
    /// Another message was made for the same place: it is that one that is sent again.
    public static let slotTaken = Self(rawValue: 0x0a40_01b0)
    /// There is no such key, or there is one already.
    public static let keyGeneration = Self(rawValue: 0x0a40_01b1)
    /// The identity was registered in another dialect.
    public static let dialectChanged = Self(rawValue: 0x0a40_01b2)

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
        case .statePath: "TENON_ERROR_STATE_PATH"
        case .stateOwner: "TENON_ERROR_STATE_OWNER"
        case .stateKind: "TENON_ERROR_STATE_KIND"
        case .statePermission: "TENON_ERROR_STATE_PERMISSION"
        case .stateFull: "TENON_ERROR_STATE_FULL"
        case .stateReadOnly: "TENON_ERROR_STATE_READ_ONLY"
        case .stateIO: "TENON_ERROR_STATE_IO"
        case .stateFolderGone: "TENON_ERROR_STATE_FOLDER_GONE"
        case .stateBusy: "TENON_ERROR_STATE_BUSY"
        case .recordForm: "TENON_ERROR_RECORD_FORM"
        case .recordSum: "TENON_ERROR_RECORD_SUM"
        case .recordVersion: "TENON_ERROR_RECORD_VERSION"
        case .stateMissing: "TENON_ERROR_STATE_MISSING"
        case .stateUnresolved: "TENON_ERROR_STATE_UNRESOLVED"
        case .invalidStateTransition: "TENON_ERROR_INVALID_STATE_TRANSITION"
        case .operationInFlight: "TENON_ERROR_OPERATION_IN_FLIGHT"
        case .slotTaken: "TENON_ERROR_SLOT_TAKEN"
        case .keyGeneration: "TENON_ERROR_KEY_GENERATION"
        case .dialectChanged: "TENON_ERROR_DIALECT_CHANGED"
        default: httpName ?? flowName ?? synheartName ?? storeName ?? commandName
        }
    }
}

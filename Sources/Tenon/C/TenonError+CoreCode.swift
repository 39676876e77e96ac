// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The statuses of the C core, category by category. `tenon/status.h` says what each means.
extension TenonError.Code {
    public static let nullPointer = Self(TENON_ERROR_NULL)
    public static let bufferTooSmall = Self(TENON_ERROR_BUFFER_TOO_SMALL)
    public static let tooLarge = Self(TENON_ERROR_TOO_LARGE)
    public static let empty = Self(TENON_ERROR_EMPTY)
    public static let flags = Self(TENON_ERROR_FLAGS)
    public static let keyOperations = Self(TENON_ERROR_KEY_OPS)
    public static let stream = Self(TENON_ERROR_STREAM)
    public static let method = Self(TENON_ERROR_METHOD)
    public static let path = Self(TENON_ERROR_PATH)
    public static let timestamp = Self(TENON_ERROR_TIMESTAMP)
    public static let nonce = Self(TENON_ERROR_NONCE)
    public static let appID = Self(TENON_ERROR_APP_ID)
    public static let deviceID = Self(TENON_ERROR_DEVICE_ID)
    public static let clientData = Self(TENON_ERROR_CLIENT_DATA)
    public static let event = Self(TENON_ERROR_EVENT)
    public static let digestNotAllowed = Self(TENON_ERROR_DIGEST_NOT_ALLOWED)
    public static let options = Self(TENON_ERROR_OPTIONS)
    public static let tcti = Self(TENON_ERROR_TCTI)
    public static let simulator = Self(TENON_ERROR_SIMULATOR)
    public static let authValue = Self(TENON_ERROR_AUTH_VALUE)
    public static let forked = Self(TENON_ERROR_FORKED)
    public static let notPersistent = Self(TENON_ERROR_NOT_PERSISTENT)

    public static let base64Length = Self(TENON_ERROR_BASE64_LENGTH)
    public static let base64Alphabet = Self(TENON_ERROR_BASE64_ALPHABET)
    public static let base64Padding = Self(TENON_ERROR_BASE64_PADDING)
    public static let base64StrayBits = Self(TENON_ERROR_BASE64_STRAY_BITS)
    public static let hexLength = Self(TENON_ERROR_HEX_LENGTH)
    public static let hexAlphabet = Self(TENON_ERROR_HEX_ALPHABET)
    public static let derTruncated = Self(TENON_ERROR_DER_TRUNCATED)
    public static let derTag = Self(TENON_ERROR_DER_TAG)
    public static let derLength = Self(TENON_ERROR_DER_LENGTH)
    public static let derInteger = Self(TENON_ERROR_DER_INTEGER)
    public static let derTrailing = Self(TENON_ERROR_DER_TRAILING)
    public static let signatureRange = Self(TENON_ERROR_SIGNATURE_RANGE)
    public static let pointForm = Self(TENON_ERROR_POINT_FORM)
    public static let pointRange = Self(TENON_ERROR_POINT_RANGE)
    public static let pointOffCurve = Self(TENON_ERROR_POINT_OFF_CURVE)
    public static let spkiForm = Self(TENON_ERROR_SPKI_FORM)
    public static let scalarRange = Self(TENON_ERROR_SCALAR_RANGE)
    public static let pemForm = Self(TENON_ERROR_PEM_FORM)
    public static let pemFact = Self(TENON_ERROR_PEM_FACT)
    public static let keyType = Self(TENON_ERROR_KEY_TYPE)
    public static let keyField = Self(TENON_ERROR_KEY_FIELD)
    public static let keyPublic = Self(TENON_ERROR_KEY_PUBLIC)
    public static let keyPrivate = Self(TENON_ERROR_KEY_PRIVATE)

    public static let signatureInvalid = Self(TENON_ERROR_SIGNATURE_INVALID)
    public static let keyAttributes = Self(TENON_ERROR_KEY_ATTRIBUTES)
    public static let keyName = Self(TENON_ERROR_KEY_NAME)
    public static let session = Self(TENON_ERROR_SESSION)

    public static let tpmTransport = Self(TENON_ERROR_TPM_TRANSPORT)
    public static let tpmBusy = Self(TENON_ERROR_TPM_BUSY)

    public static let tpmMissing = Self(TENON_ERROR_TPM_MISSING)
    public static let tpmAnswer = Self(TENON_ERROR_TPM_ANSWER)
    public static let parentMissing = Self(TENON_ERROR_PARENT_MISSING)

    public static let tpmPermission = Self(TENON_ERROR_TPM_PERMISSION)

    public static let authNeeded = Self(TENON_ERROR_AUTH_NEEDED)

    public static let keyGone = Self(TENON_ERROR_KEY_GONE)

    public static let memory = Self(TENON_ERROR_MEMORY)
    public static let random = Self(TENON_ERROR_RANDOM)
    public static let crypto = Self(TENON_ERROR_CRYPTO)

    private init(_ status: Int) { self.init(rawValue: Int32(truncatingIfNeeded: status)) }
}

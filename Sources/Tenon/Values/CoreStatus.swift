// SPDX-License-Identifier: Apache-2.0
internal import CTenon

// The one place where a status becomes an error.
extension TenonError {
    package init(status: Int32) {
        self.init(Code(rawValue: status), message: String(cString: tenon_status_text(status)))
    }

    /// Throws what is not success.
    package static func check(_ status: Int32) throws(TenonError) {
        guard status == 0 else { throw TenonError(status: status) }
    }
}

extension TenonError.Code: CustomStringConvertible {
    /// The code's own name, as in `tenon/status.h`.
    public var description: String { name ?? String(cString: tenon_status_name(rawValue)) }
}

extension TenonError: CustomStringConvertible {
    /// The code's name, then the message, then what else is known.
    public var description: String {
        var text = "\(code): \(message)"
        if let tpmCode { text += " [TPM 0x\(String(tpmCode, radix: 16))]" }
        if let httpStatus { text += " [HTTP \(httpStatus)]" }
        // The peer wrote it: only what cannot spoil a line of a log is shown.
        if let serverCode, serverCode.utf8.count <= 64, serverCode.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) {
            text += " [\(serverCode)]"
        }
        if let retryAfter { text += " [retry after \(retryAfter)]" }
        return text
    }
}

// The statuses of the C core, category by category, as `tenon/status.h` explains them.
extension TenonError.Code {
    /// A pointer is NULL.
    public static let nullPointer = Self(TENON_ERROR_NULL)
    /// A buffer is smaller than what is written into it.
    public static let bufferTooSmall = Self(TENON_ERROR_BUFFER_TOO_SMALL)
    /// An input is longer than the function accepts.
    public static let tooLarge = Self(TENON_ERROR_TOO_LARGE)
    /// A required input is empty.
    public static let empty = Self(TENON_ERROR_EMPTY)
    /// A flag that does not exist, or does not belong here.
    public static let flags = Self(TENON_ERROR_FLAGS)
    /// A tenon_key_ops of unknown size or with a function missing.
    public static let keyOperations = Self(TENON_ERROR_KEY_OPS)
    /// A stream that was not begun, or is already finished.
    public static let stream = Self(TENON_ERROR_STREAM)
    /// A method that is not [A-Z]{1,32}.
    public static let method = Self(TENON_ERROR_METHOD)
    /// A path that may not be signed.
    public static let path = Self(TENON_ERROR_PATH)
    /// A timestamp that is not [1-9][0-9]{9,11}.
    public static let timestamp = Self(TENON_ERROR_TIMESTAMP)
    /// A nonce that is not a UUID of version 4.
    public static let nonce = Self(TENON_ERROR_NONCE)
    /// An app id that is not 1-200 bytes 0x21-0x7E.
    public static let appID = Self(TENON_ERROR_APP_ID)
    /// A device id that is not 1-128 bytes 0x21-0x7E.
    public static let deviceID = Self(TENON_ERROR_DEVICE_ID)
    /// Client data that is not a JSON object, or is an event.
    public static let clientData = Self(TENON_ERROR_CLIENT_DATA)
    /// An event that does not begin as one.
    public static let event = Self(TENON_ERROR_EVENT)
    /// The key was opened without TENON_KEY_SIGNS_DIGESTS.
    public static let digestNotAllowed = Self(TENON_ERROR_DIGEST_NOT_ALLOWED)
    /// A structure of options of unknown size, or a value in it that does not exist.
    public static let options = Self(TENON_ERROR_OPTIONS)
    /// A TPM's name that may not be opened.
    public static let tcti = Self(TENON_ERROR_TCTI)
    /// A simulator's name without allow_simulator.
    public static let simulator = Self(TENON_ERROR_SIMULATOR)
    /// An auth value of more than 32 bytes, or of zeros alone.
    public static let authValue = Self(TENON_ERROR_AUTH_VALUE)
    /// A TPM that another process opened: open it again in this one.
    public static let forked = Self(TENON_ERROR_FORKED)
    /// A key without a persistent handle.
    public static let notPersistent = Self(TENON_ERROR_NOT_PERSISTENT)
    /// An AK that was loaded: only when it is made its creation is known.
    public static let notMadeHere = Self(TENON_ERROR_NOT_MADE_HERE)
    /// Data that could be taken for one of the messages of tenon/key.h.
    public static let dataIsMessage = Self(TENON_ERROR_DATA_IS_MESSAGE)
    /// The next key of an identifier is its current one.
    public static let nextKey = Self(TENON_ERROR_NEXT_KEY)
    /// A presentation whose credential, audience or nonce does not have the form that `tenon/key.h` asks for.
    public static let presentation = Self(TENON_ERROR_PRESENTATION)
    /// The signing input of a JWS is not the base64url of a JSON object, a dot, and base64url.
    public static let jws = Self(TENON_ERROR_JWS)
    /// An authority of a URI that is not in its only form.
    public static let authority = Self(TENON_ERROR_AUTHORITY)
    /// A query of a URI that is not in its only form.
    public static let query = Self(TENON_ERROR_QUERY)
    /// A content type or encoding that may not be signed.
    public static let component = Self(TENON_ERROR_COMPONENT)
    /// A keyid that is not the thumbprint of the key.
    public static let keyID = Self(TENON_ERROR_KEYID)
    /// A batch that is empty, not signed yet, or signed already.
    public static let batchState = Self(TENON_ERROR_BATCH_STATE)

    /// A length that no encoding has.
    public static let base64Length = Self(TENON_ERROR_BASE64_LENGTH)
    /// A character of no or the other alphabet, white space included.
    public static let base64Alphabet = Self(TENON_ERROR_BASE64_ALPHABET)
    /// Padding missing (base64), present (base64url) or misplaced.
    public static let base64Padding = Self(TENON_ERROR_BASE64_PADDING)
    /// Unused bits of the last character are not zero.
    public static let base64StrayBits = Self(TENON_ERROR_BASE64_STRAY_BITS)
    /// An odd number of digits.
    public static let hexLength = Self(TENON_ERROR_HEX_LENGTH)
    /// A character that is not 0-9 a-f A-F.
    public static let hexAlphabet = Self(TENON_ERROR_HEX_ALPHABET)
    /// Ends within an element.
    public static let derTruncated = Self(TENON_ERROR_DER_TRUNCATED)
    /// Another element than the one expected.
    public static let derTag = Self(TENON_ERROR_DER_TAG)
    /// A length that is indefinite, not minimal, or not its content's.
    public static let derLength = Self(TENON_ERROR_DER_LENGTH)
    /// An INTEGER that is empty, negative, not minimal or over 256 bits.
    public static let derInteger = Self(TENON_ERROR_DER_INTEGER)
    /// Bytes after the end.
    public static let derTrailing = Self(TENON_ERROR_DER_TRAILING)
    /// R or s is not in 1 .. n-1.
    public static let signatureRange = Self(TENON_ERROR_SIGNATURE_RANGE)
    /// A length or first byte that no P-256 point has.
    public static let pointForm = Self(TENON_ERROR_POINT_FORM)
    /// A coordinate is not below p.
    public static let pointRange = Self(TENON_ERROR_POINT_RANGE)
    /// X, y is not on P-256.
    public static let pointOffCurve = Self(TENON_ERROR_POINT_OFF_CURVE)
    /// Not the 91 bytes of an uncompressed P-256 key.
    public static let spkiForm = Self(TENON_ERROR_SPKI_FORM)
    /// A private key that is not in 1 .. n-1.
    public static let scalarRange = Self(TENON_ERROR_SCALAR_RANGE)
    /// Not one TSS2 PRIVATE KEY with base64 in lines, and facts before it.
    public static let pemForm = Self(TENON_ERROR_PEM_FORM)
    /// A fact before BEGIN that is unknown, twice there, or not what it says.
    public static let pemFact = Self(TENON_ERROR_PEM_FACT)
    /// Not a loadable key (2.23.133.10.1.3).
    public static let keyType = Self(TENON_ERROR_KEY_TYPE)
    /// A field that is missing, or that Tenon does not take: policy, secret.
    public static let keyField = Self(TENON_ERROR_KEY_FIELD)
    /// A public area that is not a P-256 key's, or has bytes after its end.
    public static let keyPublic = Self(TENON_ERROR_KEY_PUBLIC)
    /// A private area whose size is not its bytes'.
    public static let keyPrivate = Self(TENON_ERROR_KEY_PRIVATE)
    /// Ends within an item.
    public static let cborTruncated = Self(TENON_ERROR_CBOR_TRUNCATED)
    /// Another item than the one expected.
    public static let cborType = Self(TENON_ERROR_CBOR_TYPE)
    /// An indefinite length.
    public static let cborIndefinite = Self(TENON_ERROR_CBOR_INDEFINITE)
    /// A number or length that is not in its shortest form.
    public static let cborNotMinimal = Self(TENON_ERROR_CBOR_NOT_MINIMAL)
    /// A map's key that is unknown, out of order, or there twice.
    public static let cborKey = Self(TENON_ERROR_CBOR_KEY)
    /// Another number of entries.
    public static let cborCount = Self(TENON_ERROR_CBOR_COUNT)
    /// Bytes after the end.
    public static let cborTrailing = Self(TENON_ERROR_CBOR_TRAILING)
    /// Another format, version or algorithm.
    public static let proofForm = Self(TENON_ERROR_PROOF_FORM)
    /// Neither a TPMT_SIGNATURE of ECDSA with SHA-256 nor DER.
    public static let signatureForm = Self(TENON_ERROR_SIGNATURE_FORM)
    /// Not a certificate in the accepted form; see tenon/activate.h.
    public static let certificateForm = Self(TENON_ERROR_CERTIFICATE_FORM)
    /// Not the two TPM2B of a credential.
    public static let credentialForm = Self(TENON_ERROR_CREDENTIAL_FORM)
    /// A text that is not the expected value in CESR.
    public static let cesr = Self(TENON_ERROR_CESR)
    /// A Signature-Input that is not exactly the text of this profile.
    public static let signatureInput = Self(TENON_ERROR_SIGNATURE_INPUT)
    /// A request that does not expire 1 to 300 seconds after it was created.
    public static let validity = Self(TENON_ERROR_VALIDITY)
    /// A Signature that does not hold what its form has.
    public static let signatureValue = Self(TENON_ERROR_SIGNATURE_VALUE)
    /// A batch without members, or with more than 1,024.
    public static let batchSize = Self(TENON_ERROR_BATCH_SIZE)
    /// An index that is not below the size of its batch.
    public static let batchIndex = Self(TENON_ERROR_BATCH_INDEX)
    /// A path without exactly the steps of its index.
    public static let batchPath = Self(TENON_ERROR_BATCH_PATH)
    /// A batch whose signature has a high s.
    public static let signatureHigh = Self(TENON_ERROR_SIGNATURE_HIGH)

    /// Well formed, and not made by this key over this digest.
    public static let signatureInvalid = Self(TENON_ERROR_SIGNATURE_INVALID)
    /// The key's attributes are not those of a signing key of ours.
    public static let keyAttributes = Self(TENON_ERROR_KEY_ATTRIBUTES)
    /// The TPM holds another key there: its Name differs.
    public static let keyName = Self(TENON_ERROR_KEY_NAME)
    /// An answer whose HMAC or nonces do not fit: somebody is on the bus.
    public static let session = Self(TENON_ERROR_SESSION)
    /// An activation that was not made with the secret of this challenge.
    public static let activation = Self(TENON_ERROR_ACTIVATION)
    /// A Content-Digest that is not exactly one SHA-256 of the content.
    public static let contentDigest = Self(TENON_ERROR_CONTENT_DIGEST)

    /// The connection to the TPM failed, and failed again after it was reopened.
    public static let tpmTransport = Self(TENON_ERROR_TPM_TRANSPORT)
    /// The node is held by another process, and was until the deadline.
    public static let tpmBusy = Self(TENON_ERROR_TPM_BUSY)
    /// Too many requests wait for the key.
    public static let batchFull = Self(TENON_ERROR_BATCH_FULL)
    /// A request waited too long for its key, and was not signed.
    public static let deadline = Self(TENON_ERROR_DEADLINE)

    /// The node does not exist, or is not a TPM's.
    public static let tpmMissing = Self(TENON_ERROR_TPM_MISSING)
    /// A malformed answer: too short, too long, or with wrong sizes.
    public static let tpmAnswer = Self(TENON_ERROR_TPM_ANSWER)
    /// The TPM is the right one, but the key's parent was removed: provision it again.
    public static let parentMissing = Self(TENON_ERROR_PARENT_MISSING)
    /// No EK certificate of this kind, or no EK that fits the certificate.
    public static let ekMissing = Self(TENON_ERROR_EK_MISSING)
    /// The TPM does not keep all of these PCRs with SHA-256.
    public static let pcrsMissing = Self(TENON_ERROR_PCRS_MISSING)

    /// The node may not be opened: join its group, usually tss.
    public static let tpmPermission = Self(TENON_ERROR_TPM_PERMISSION)

    /// The key has an auth value, and none was given.
    public static let authNeeded = Self(TENON_ERROR_AUTH_NEEDED)

    /// Another seed, and the TPM refused the key twice: register again.
    public static let keyGone = Self(TENON_ERROR_KEY_GONE)

    /// No memory.
    public static let memory = Self(TENON_ERROR_MEMORY)
    /// Getrandom(2) failed.
    public static let random = Self(TENON_ERROR_RANDOM)
    /// The backend failed where it cannot.
    public static let crypto = Self(TENON_ERROR_CRYPTO)

    init(_ status: Int) { self.init(rawValue: Int32(truncatingIfNeeded: status)) }
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

#include "tenon/api.h"

TENON_BEGIN

/*
 * The result of a call: 0, or a value whose bits 24-30 are a category and whose low 24 bits are the cause. The category
 * is what a caller acts on. With bit 23 set the cause is the TPM's: bits 16-19 its layer, bits 0-15 its response code.
 */
typedef int32_t tenon_status;

/* The categories, each with what its caller does. */
enum {
    TENON_CATEGORY_ARGUMENT = 1, /* the caller's mistake: fix the call */
    TENON_CATEGORY_FORMAT = 2,   /* bytes that are not what they claim: reject the input */
    TENON_CATEGORY_REJECTED = 3, /* a signature, proof, certificate or credential that fails a check: refuse the peer */
    TENON_CATEGORY_TRANSIENT = 4,   /* busy: try again later */
    TENON_CATEGORY_UNAVAILABLE = 5, /* no TPM, hierarchy off, parent missing: tell the operator */
    TENON_CATEGORY_PERMISSION = 6,  /* the device node or file may not be opened */
    TENON_CATEGORY_AUTH = 7,        /* wrong or missing auth value, lockout */
    TENON_CATEGORY_GONE = 8,        /* the key is lost for good: register again */
    TENON_CATEGORY_INTERNAL = 9,    /* a bug, no memory, no randomness: report it */
    TENON_CATEGORY_STATE = 10,      /* not registered, revoked, pending, not allowed now */
    TENON_CATEGORY_UNKNOWN = 11     /* sent, no answer: ask again later, nothing was lost */
};

/*
 * Each cause with its name, its value, and the sentence of tenon_status_text. In the core a new code is a row here and
 * nothing else: the enumerators below, tenon_status_name and tenon_status_text are made from this list.
 */
#define TENON_STATUS_LIST(CODE)                                                                                        \
    /* TENON_CATEGORY_ARGUMENT */                                                                                      \
    CODE(TENON_ERROR_NULL, 0x01000001, "A required pointer is NULL; see the function in the header.")                  \
    CODE(TENON_ERROR_BUFFER_TOO_SMALL, 0x01000002,                                                                     \
         "The output buffer is too small; call again with the size in *written.")                                      \
    CODE(TENON_ERROR_TOO_LARGE, 0x01000003, "An input is longer than this function accepts.")                          \
    CODE(TENON_ERROR_EMPTY, 0x01000004, "A required input is empty.")                                                  \
    CODE(TENON_ERROR_FLAGS, 0x01000005, "A flag does not exist or does not belong here; see the flags in the header.") \
    CODE(TENON_ERROR_KEY_OPS, 0x01000006,                                                                              \
         "The table of key functions has an unknown size, or lacks sign or public_key.")                               \
    CODE(TENON_ERROR_STREAM, 0x01000007, "The stream was not begun or is already finished; begin a new one.")          \
    CODE(TENON_ERROR_METHOD, 0x01000008, "The method must be 1 to 32 letters A-Z; write it in upper case.")            \
    CODE(TENON_ERROR_PATH, 0x01000009,                                                                                 \
         "The path must begin with / and be printable ASCII without ?, # or spaces; remove the query and "             \
         "percent-encode the rest.")                                                                                   \
    CODE(TENON_ERROR_TIMESTAMP, 0x0100000A, "The timestamp must be Unix seconds: 10 to 12 digits, the first not 0.")   \
    CODE(TENON_ERROR_NONCE, 0x0100000B, "The nonce must be a UUID of version 4; use a fresh one for each request.")    \
    CODE(TENON_ERROR_APP_ID, 0x0100000C, "The app id must be 1 to 200 printable ASCII characters without spaces.")     \
    CODE(TENON_ERROR_DEVICE_ID, 0x0100000D,                                                                            \
         "The device id must be 1 to 128 printable ASCII characters without spaces.")                                  \
    CODE(TENON_ERROR_CLIENT_DATA, 0x0100000E, "Client data must be a JSON object that does not begin like an event.")  \
    CODE(TENON_ERROR_EVENT, 0x0100000F, "An event must be a JSON object that begins with {\"v\":\"KERI.")              \
    CODE(TENON_ERROR_DIGEST_NOT_ALLOWED, 0x01000010,                                                                   \
         "This key does not sign bare digests; open it with that capability or use the function for the message.")     \
    CODE(TENON_ERROR_OPTIONS, 0x01000011,                                                                              \
         "An options or transport struct has an unknown size, or a value that does not exist.")                        \
    CODE(TENON_ERROR_TCTI, 0x01000012, "The TPM's name must begin with device: and a node, or with tabrmd:.")          \
    CODE(TENON_ERROR_SIMULATOR, 0x01000013, "The name selects a simulated TPM; allow simulators to use it.")           \
    CODE(TENON_ERROR_AUTH_VALUE, 0x01000014, "An auth value has more than 32 bytes, or only zeros.")                   \
    CODE(TENON_ERROR_FORKED, 0x01000015, "Another process opened this TPM; open it again in this one.")                \
    CODE(TENON_ERROR_NOT_PERSISTENT, 0x01000016, "The key has no persistent handle.")                                  \
    CODE(TENON_ERROR_NOT_MADE_HERE, 0x01000017,                                                                        \
         "The attestation key was loaded from a file; make a new one for this.")                                       \
    CODE(TENON_ERROR_DATA_IS_MESSAGE, 0x01000018,                                                                      \
         "This data could be taken for a message of a service; use the function for that message, or open the "        \
         "key with the capability to sign digests.")                                                                   \
    CODE(TENON_ERROR_NEXT_KEY, 0x01000019, "The next key must not be the current one.")                                \
    CODE(TENON_ERROR_PRESENTATION, 0x0100001A,                                                                         \
         "A presentation needs the SAID of a credential, an audience without NUL, and a nonce of 16 to 128 bytes.")    \
    CODE(TENON_ERROR_JWS, 0x0100001B,                                                                                  \
         "The signing input of a JWS is the base64url of a JSON object, a dot, and base64url.")                        \
    CODE(TENON_ERROR_AUTHORITY, 0x01000401,                                                                            \
         "The authority must be the host in lower case, and its port only if it is not the scheme's own.")             \
    CODE(TENON_ERROR_QUERY, 0x01000402,                                                                                \
         "The query must begin with ? and be normal: characters of RFC 3986, escapes in upper case where needed.")     \
    CODE(TENON_ERROR_COMPONENT, 0x01000403,                                                                            \
         "A content type or encoding must be 1 to 1024 printable ASCII characters without space at either end.")       \
    CODE(TENON_ERROR_KEYID, 0x01000404, "The keyid is not the thumbprint of this key.")                                \
    CODE(TENON_ERROR_BATCH_STATE, 0x01000405,                                                                          \
         "The batch is empty, not signed yet, or already signed; add members, sign once, then clear it.")              \
    /* TENON_CATEGORY_FORMAT */                                                                                        \
    CODE(TENON_ERROR_BASE64_LENGTH, 0x02000001, "No base64 text has this length.")                                     \
    CODE(TENON_ERROR_BASE64_ALPHABET, 0x02000002, "The text has a character outside this base64 alphabet.")            \
    CODE(TENON_ERROR_BASE64_PADDING, 0x02000003,                                                                       \
         "The padding of the base64 text is missing, misplaced or not allowed.")                                       \
    CODE(TENON_ERROR_BASE64_STRAY_BITS, 0x02000004,                                                                    \
         "The last character of the base64 text has unused bits that are set.")                                        \
    CODE(TENON_ERROR_HEX_LENGTH, 0x02000005, "The hexadecimal text has an odd number of digits.")                      \
    CODE(TENON_ERROR_HEX_ALPHABET, 0x02000006, "The text has a character that is not a hexadecimal digit.")            \
    CODE(TENON_ERROR_DER_TRUNCATED, 0x02000007, "The DER bytes end within an element.")                                \
    CODE(TENON_ERROR_DER_TAG, 0x02000008, "The DER bytes hold an unexpected element.")                                 \
    CODE(TENON_ERROR_DER_LENGTH, 0x02000009, "A DER length is indefinite, not in its shortest form, or too large.")    \
    CODE(TENON_ERROR_DER_INTEGER, 0x0200000A,                                                                          \
         "A DER integer is empty, negative, not in its shortest form, or too large.")                                  \
    CODE(TENON_ERROR_DER_TRAILING, 0x0200000B, "There are bytes after the end of the DER element.")                    \
    CODE(TENON_ERROR_SIGNATURE_RANGE, 0x0200000C, "r or s of the signature is not between 1 and n-1.")                 \
    CODE(TENON_ERROR_POINT_FORM, 0x0200000D, "The bytes are not a P-256 point in this form.")                          \
    CODE(TENON_ERROR_POINT_RANGE, 0x0200000E, "A coordinate of the point is not below p.")                             \
    CODE(TENON_ERROR_POINT_OFF_CURVE, 0x0200000F, "The point is not on the curve P-256.")                              \
    CODE(TENON_ERROR_SPKI_FORM, 0x02000010,                                                                            \
         "The bytes are not the SubjectPublicKeyInfo of an uncompressed P-256 key.")                                   \
    CODE(TENON_ERROR_SCALAR_RANGE, 0x02000011, "The private key is not between 1 and n-1.")                            \
    CODE(TENON_ERROR_PEM_FORM, 0x02000012, "The text is not exactly one PEM block of the type TSS2 PRIVATE KEY.")      \
    CODE(TENON_ERROR_PEM_FACT, 0x02000013, "A line before the PEM block is unknown, repeated, or malformed.")          \
    CODE(TENON_ERROR_KEY_TYPE, 0x02000014, "The key file does not hold a loadable TPM key.")                           \
    CODE(TENON_ERROR_KEY_FIELD, 0x02000015, "The key file lacks a field, or has one that Tenon does not accept.")      \
    CODE(TENON_ERROR_KEY_PUBLIC, 0x02000016, "The public area in the key file is not a P-256 key's.")                  \
    CODE(TENON_ERROR_KEY_PRIVATE, 0x02000017,                                                                          \
         "The private area in the key file does not have the size that it states.")                                    \
    CODE(TENON_ERROR_CBOR_TRUNCATED, 0x02000018, "The CBOR ends within an item.")                                      \
    CODE(TENON_ERROR_CBOR_TYPE, 0x02000019, "The CBOR holds an unexpected item.")                                      \
    CODE(TENON_ERROR_CBOR_INDEFINITE, 0x0200001A, "The CBOR has an indefinite length.")                                \
    CODE(TENON_ERROR_CBOR_NOT_MINIMAL, 0x0200001B, "A number in the CBOR is not in its shortest form.")                \
    CODE(TENON_ERROR_CBOR_KEY, 0x0200001C, "A key in the CBOR is unknown, out of order or repeated.")                  \
    CODE(TENON_ERROR_CBOR_COUNT, 0x0200001D, "The CBOR has an unexpected number of entries.")                          \
    CODE(TENON_ERROR_CBOR_TRAILING, 0x0200001E, "There are bytes after the end of the CBOR.")                          \
    CODE(TENON_ERROR_PROOF_FORM, 0x0200001F, "The proof has an unsupported format, version or algorithm.")             \
    CODE(TENON_ERROR_SIGNATURE_FORM, 0x02000020,                                                                       \
         "The signature is neither a TPMT_SIGNATURE of ECDSA with SHA-256 nor DER.")                                   \
    CODE(TENON_ERROR_CERTIFICATE_FORM, 0x02000021, "The bytes are not a certificate in the accepted form.")            \
    CODE(TENON_ERROR_CREDENTIAL_FORM, 0x02000022, "The bytes are not the two parts of a credential.")                  \
    CODE(TENON_ERROR_CESR, 0x02000023, "The text is not the expected value in CESR.")                                  \
    CODE(TENON_ERROR_SIGNATURE_INPUT, 0x02000401, "Signature-Input is not exactly the text of this profile.")          \
    CODE(TENON_ERROR_VALIDITY, 0x02000402, "A request must expire 1 to 300 seconds after it was created.")             \
    CODE(TENON_ERROR_SIGNATURE_VALUE, 0x02000403, "Signature does not hold what its form has.")                        \
    CODE(TENON_ERROR_BATCH_SIZE, 0x02000404, "A batch has 1 to 1024 members.")                                         \
    CODE(TENON_ERROR_BATCH_INDEX, 0x02000405, "The index of a member must be below the size of its batch.")            \
    CODE(TENON_ERROR_BATCH_PATH, 0x02000406, "The path does not have the steps of this index in this batch.")          \
    CODE(TENON_ERROR_SIGNATURE_HIGH, 0x02000407, "The signature of a batch has a high s.")                             \
    /* TENON_CATEGORY_REJECTED */                                                                                      \
    CODE(TENON_ERROR_SIGNATURE_INVALID, 0x03000001, "The signature was not made by this key over this digest.")        \
    CODE(TENON_ERROR_KEY_ATTRIBUTES, 0x03000002,                                                                       \
         "The key's attributes are not those of a signing key; import it to use it anyway.")                           \
    CODE(TENON_ERROR_KEY_NAME, 0x03000003, "The TPM holds another key there; its Name differs.")                       \
    CODE(TENON_ERROR_SESSION, 0x03000004, "The TPM's answer is not authentic; check what is on the bus.")              \
    CODE(TENON_ERROR_ACTIVATION, 0x03000005, "The activation was not made with the secret of this challenge.")         \
    /* The rules of tenon/verify.h and tenon/activate.h, 1 to 37. */                                                   \
    CODE(TENON_RULE_1_SIZE, 0x03000101, "A part of the proof is larger than allowed.")                                 \
    CODE(TENON_RULE_2_CBOR, 0x03000102, "The proof is not deterministic CBOR.")                                        \
    CODE(TENON_RULE_3_VERSION, 0x03000103, "The proof has an unsupported version or algorithm.")                       \
    CODE(TENON_RULE_4_TRAILING, 0x03000104, "A part of the proof cannot be read to its end, or has bytes after it.")   \
    CODE(TENON_RULE_5_MAGIC, 0x03000105, "The statement was not made by a TPM.")                                       \
    CODE(TENON_RULE_6_TYPE, 0x03000106, "The statement is not about a certified key.")                                 \
    CODE(TENON_RULE_7_NONCE, 0x03000107, "The statement is not for this nonce.")                                       \
    CODE(TENON_RULE_8_NAME_ALGORITHM, 0x03000108, "The key's Name does not use SHA-256.")                              \
    CODE(TENON_RULE_9_NAME, 0x03000109, "The statement and the public area are about different keys.")                 \
    CODE(TENON_RULE_10_QUALIFIED_NAME, 0x0300010A, "The key was loaded into the TPM from outside.")                    \
    CODE(TENON_RULE_11_PARENT, 0x0300010B, "The key is not under the required parent.")                                \
    CODE(TENON_RULE_12_BORN_IN_TPM, 0x0300010C, "The key was not created in the TPM, or can leave it.")                \
    CODE(TENON_RULE_13_SIGNS_ONLY, 0x0300010D, "The key is not a plain signing key.")                                  \
    CODE(TENON_RULE_14_AUTHORISED_BY_USER, 0x0300010E, "The key does not rely on its user authorization alone.")       \
    CODE(TENON_RULE_15_ATTRIBUTES, 0x0300010F, "The key has an attribute that is not allowed.")                        \
    CODE(TENON_RULE_16_P256, 0x03000110, "The key is not a P-256 key in the expected form.")                           \
    CODE(TENON_RULE_17_COORDINATES, 0x03000111, "A coordinate of the key's point is too long.")                        \
    CODE(TENON_RULE_18_ON_CURVE, 0x03000112, "The key's point is not on the curve.")                                   \
    CODE(TENON_RULE_19_PUBLIC_KEY, 0x03000113, "The proof is not about the submitted key.")                            \
    CODE(TENON_RULE_20_ALGORITHM, 0x03000114, "The signature over the statement has an unsupported algorithm.")        \
    CODE(TENON_RULE_21_RANGE, 0x03000115, "r or s of the signature over the statement is out of range.")               \
    CODE(TENON_RULE_22_CERTIFICATE, 0x03000116, "A certificate of the chain is missing, unexpected, or malformed.")    \
    CODE(TENON_RULE_23_CRITICAL, 0x03000117, "A certificate has an unknown critical extension.")                       \
    CODE(TENON_RULE_24_CHAIN, 0x03000118, "The certificates do not lead to a trusted root.")                           \
    CODE(TENON_RULE_25_SUBJECT, 0x03000119, "The certificate does not name the TPM in the required form.")             \
    CODE(TENON_RULE_26_MAKER, 0x0300011A, "The TPM's maker is not allowed.")                                           \
    CODE(TENON_RULE_27_USAGE, 0x0300011B, "The certificate is not for this use.")                                      \
    CODE(TENON_RULE_28_NOT_A_CA, 0x0300011C, "The key's certificate is a CA certificate.")                             \
    CODE(TENON_RULE_29_AK, 0x0300011D, "The attestation key does not have the attributes of an attestation key.")      \
    CODE(TENON_RULE_30_FIRMWARE, 0x0300011E, "The TPM's firmware is older than allowed.")                              \
    CODE(TENON_RULE_31_ANOTHER_KEY, 0x0300011F, "The key certified itself.")                                           \
    CODE(TENON_RULE_32_SIGNATURE, 0x03000120, "The statement was not signed by the trusted attestation key.")          \
    CODE(TENON_RULE_33_EK_CHAIN, 0x03000121, "The EK certificate does not lead to a trusted root.")                    \
    CODE(TENON_RULE_34_EK_CERTIFICATE, 0x03000122, "The EK certificate is not of the expected form.")                  \
    CODE(TENON_RULE_35_NOT_OAEP, 0x03000123, "The EK certificate says that its key is for RSAES-OAEP.")                \
    CODE(TENON_RULE_36_EK_KEY, 0x03000124, "The EK is of a kind that is not accepted.")                                \
    CODE(TENON_RULE_37_EK_ALLOWED, 0x03000125, "This EK is not allowed.")                                              \
    /* The rules of tenon_keri_append in tenon/keri.h, 1 to 24 in the order in which they are asked. */                \
    CODE(TENON_KERI_1_SIZE, 0x03000201, "The event is empty or larger than allowed.")                                  \
    CODE(TENON_KERI_2_UNSIGNED, 0x03000202, "The event has no attachment, so nothing proves who made it.")             \
    CODE(TENON_KERI_3_VERSION, 0x03000203, "The event does not begin with a version of KERI 1 in JSON.")               \
    CODE(TENON_KERI_4_STATED_SIZE, 0x03000204, "The size that the event states is not its size.")                      \
    CODE(TENON_KERI_5_TYPE, 0x03000205, "The event is not an inception, a rotation or an interaction.")                \
    CODE(TENON_KERI_6_NO_INCEPTION, 0x03000206, "The log does not begin with an inception.")                           \
    CODE(TENON_KERI_7_INCEPTION_AGAIN, 0x03000207, "The log has a second inception.")                                  \
    CODE(TENON_KERI_8_FORM, 0x03000208,                                                                                \
         "The event does not have the fields of its type, in order and as compact JSON.")                              \
    CODE(TENON_KERI_9_ENDED, 0x03000209, "The log has ended: its last event committed to no next key.")                \
    CODE(TENON_KERI_10_ROTATIONS_ONLY, 0x0300020A, "The inception allows rotations only.")                             \
    CODE(TENON_KERI_11_SAID, 0x0300020B, "The event's SAID is not its digest.")                                        \
    CODE(TENON_KERI_12_SEQUENCE, 0x0300020C, "The event's sequence number is not the next one.")                       \
    CODE(TENON_KERI_13_IDENTIFIER, 0x0300020D, "The event belongs to another identifier.")                             \
    CODE(TENON_KERI_14_PRIOR, 0x0300020E, "The event does not follow the last one of the log.")                        \
    CODE(TENON_KERI_15_KEY, 0x0300020F, "The event does not have exactly one P-256 key in CESR.")                      \
    CODE(TENON_KERI_16_ATTACHMENT, 0x03000210, "The attachment is not one signature in CESR with index 0.")            \
    CODE(TENON_KERI_17_LOW_S, 0x03000211, "The signature of the event has a high s.")                                  \
    CODE(TENON_KERI_18_SIGNATURE, 0x03000212, "The event was not signed by its key.")                                  \
    CODE(TENON_KERI_19_SELF_CERTIFYING, 0x03000213, "The identifier is not the SAID of its inception.")                \
    CODE(TENON_KERI_20_WITNESSES, 0x03000214, "The event has witnesses, which Tenon does not support.")                \
    CODE(TENON_KERI_21_THRESHOLD, 0x03000215, "The thresholds of the event are not those of one key.")                 \
    CODE(TENON_KERI_22_NEXT, 0x03000216, "The event does not commit to exactly one next key by its BLAKE3 digest.")    \
    CODE(TENON_KERI_23_TRAITS, 0x03000217, "The inception has an unknown trait, or one twice.")                        \
    CODE(TENON_KERI_24_COMMITMENT, 0x03000218, "The key of the rotation is not the one that the log committed to.")    \
    /* The rules of tenon_quote_verify in tenon/quote.h, 1 to 13. */                                                   \
    CODE(TENON_QUOTE_1_SIZE, 0x03000301, "A part of the quote is larger than allowed.")                                \
    CODE(TENON_QUOTE_2_CBOR, 0x03000302, "The quote is not deterministic CBOR.")                                       \
    CODE(TENON_QUOTE_3_VERSION, 0x03000303, "The quote has an unsupported format, version or algorithm.")              \
    CODE(TENON_QUOTE_4_TRAILING, 0x03000304,                                                                           \
         "The quote's statement cannot be read to its end, or has bytes after it.")                                    \
    CODE(TENON_QUOTE_5_MAGIC, 0x03000305, "The quote's statement was not made by a TPM.")                              \
    CODE(TENON_QUOTE_6_TYPE, 0x03000306, "The quote's statement is not about PCRs.")                                   \
    CODE(TENON_QUOTE_7_NONCE, 0x03000307, "The quote is not for this nonce.")                                          \
    CODE(TENON_QUOTE_8_BANK, 0x03000308, "The quote is not about exactly one bank of PCRs, that of SHA-256.")          \
    CODE(TENON_QUOTE_9_PCRS, 0x03000309, "The quote is about other PCRs than required.")                               \
    CODE(TENON_QUOTE_10_VALUES, 0x0300030A, "The PCRs do not have accepted values.")                                   \
    CODE(TENON_QUOTE_11_ALGORITHM, 0x0300030B, "The signature of the quote has an unsupported algorithm.")             \
    CODE(TENON_QUOTE_12_RANGE, 0x0300030C, "r or s of the signature of the quote is out of range.")                    \
    CODE(TENON_QUOTE_13_SIGNATURE, 0x0300030D, "The quote was not signed by the attestation key.")                     \
    CODE(TENON_ERROR_CONTENT_DIGEST, 0x03000401, "Content-Digest is not exactly one SHA-256 of the content.")          \
    /* TENON_CATEGORY_TRANSIENT */                                                                                     \
    CODE(TENON_ERROR_TPM_TRANSPORT, 0x04000001, "The connection to the TPM failed; try again later.")                  \
    CODE(TENON_ERROR_TPM_BUSY, 0x04000002,                                                                             \
         "Another process held the TPM's node until the deadline; use /dev/tpmrm0 or try again later.")                \
    CODE(TENON_ERROR_BATCH_FULL, 0x04000401, "Too many requests wait for this key; try again later.")                  \
    CODE(TENON_ERROR_DEADLINE, 0x04000402, "The request waited too long for its key; try again later.")                \
    /* TENON_CATEGORY_UNAVAILABLE */                                                                                   \
    CODE(TENON_ERROR_TPM_MISSING, 0x05000001,                                                                          \
         "There is no TPM at this node; check that it is enabled in the firmware.")                                    \
    CODE(TENON_ERROR_TPM_ANSWER, 0x05000002, "The TPM's answer cannot be read; no key is lost.")                       \
    CODE(TENON_ERROR_PARENT_MISSING, 0x05000003,                                                                       \
         "The key's parent is not in the TPM; provision it again, the key is not lost.")                               \
    CODE(TENON_ERROR_EK_MISSING, 0x05000004,                                                                           \
         "The TPM has no EK for this certificate, or no certificate; give one as a file.")                             \
    CODE(TENON_ERROR_PCRS_MISSING, 0x05000005, "The TPM does not keep all of these PCRs with SHA-256; choose others.") \
    /* TENON_CATEGORY_PERMISSION */                                                                                    \
    CODE(TENON_ERROR_TPM_PERMISSION, 0x06000001,                                                                       \
         "This process may not open the TPM's node; join its group, usually tss.")                                     \
    /* TENON_CATEGORY_AUTH */                                                                                          \
    CODE(TENON_ERROR_AUTH_NEEDED, 0x07000001, "The key has an auth value; give it when the key is loaded.")            \
    /* TENON_CATEGORY_GONE */                                                                                          \
    CODE(TENON_ERROR_KEY_GONE, 0x08000001,                                                                             \
         "The TPM no longer accepts the key: it was cleared or replaced; register again.")                             \
    /* TENON_CATEGORY_INTERNAL */                                                                                      \
    CODE(TENON_ERROR_MEMORY, 0x09000001, "There is not enough memory.")                                                \
    CODE(TENON_ERROR_RANDOM, 0x09000002, "The kernel returned no random bytes; check that getrandom is allowed.")      \
    CODE(TENON_ERROR_CRYPTO, 0x09000003, "The cryptographic library failed unexpectedly; please report this.")

#define TENON_STATUS_ENUMERATOR(name, value, text) name = value,

enum { TENON_OK = 0, TENON_STATUS_LIST(TENON_STATUS_ENUMERATOR) };

#undef TENON_STATUS_ENUMERATOR

/* All four depend only on the value, and accept any value. */

/* One of TENON_CATEGORY_*, or 0 for success. */
TENON_API int32_t tenon_status_category(tenon_status status);

/* The TPM's layer (bits 16-19) and response code (bits 0-15), or 0 when the cause is not the TPM's. */
TENON_API uint32_t tenon_status_tpm_rc(tenon_status status);

/*
 * "TENON_OK", "TENON_ERROR_PATH", "TENON_TPM_TRANSIENT"; "TENON_ERROR_UNNAMED" for a value that no version of the
 * library gives. Never NULL.
 */
TENON_API const char *tenon_status_name(tenon_status status);

/* One English sentence for a person: the cause, and what to do about it if something can be done. Never NULL. */
TENON_API const char *tenon_status_text(tenon_status status);

TENON_END

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/status.h"

#include <stdbool.h>

enum { TPM_CAUSE = 0x800000 };

typedef struct {
    const char *name;
    const char *text;
} words;

static const words unnamed = {"TENON_ERROR_UNNAMED", "The status is not one that this version knows."};

#define WORDS(code, sentence)                                                                                          \
    case code:                                                                                                         \
        return (words)                                                                                                 \
        {                                                                                                              \
#code, sentence                                                                                            \
        }

static words words_of_code(tenon_status status)
{
    switch (status) {
        WORDS(TENON_OK, "Success.");
        WORDS(TENON_ERROR_NULL, "A pointer is NULL that may not be; see its function in the header.");
        WORDS(TENON_ERROR_BUFFER_TOO_SMALL, "The output buffer is too small; call again with the size in *written.");
        WORDS(TENON_ERROR_TOO_LARGE, "An input is longer than this function takes.");
        WORDS(TENON_ERROR_EMPTY, "An input is empty that may not be.");
        WORDS(TENON_ERROR_FLAGS, "A flag does not exist or does not belong here; see the flags in the header.");
        WORDS(TENON_ERROR_KEY_OPS, "The table of key functions has an unknown size or lacks sign or public_key.");
        WORDS(TENON_ERROR_STREAM, "The stream was not begun or is already finished; begin a new one.");
        WORDS(TENON_ERROR_METHOD, "The method must be 1 to 32 letters A-Z; write it in upper case.");
        WORDS(TENON_ERROR_PATH, "The path must begin with / and be printable ASCII without ?, # or spaces; "
                                "take the query off and percent-encode the rest.");
        WORDS(TENON_ERROR_TIMESTAMP, "The timestamp must be Unix seconds: 10 to 12 digits, the first not 0.");
        WORDS(TENON_ERROR_NONCE, "The nonce must be a UUID of version 4; use a fresh one for each request.");
        WORDS(TENON_ERROR_APP_ID, "The app id must be 1 to 200 printable ASCII characters without spaces.");
        WORDS(TENON_ERROR_DEVICE_ID, "The device id must be 1 to 128 printable ASCII characters without spaces.");
        WORDS(TENON_ERROR_CLIENT_DATA, "Client data must be a JSON object that does not begin as an event does.");
        WORDS(TENON_ERROR_EVENT, "An event must be a JSON object that begins with {\"v\":\"KERI.");
        WORDS(TENON_ERROR_DIGEST_NOT_ALLOWED, "This key does not sign bare digests; open it with that capability or "
                                              "use the function for the message.");
        WORDS(TENON_ERROR_OPTIONS,
              "An options or transport struct has an unknown size, or a value that does not exist.");
        WORDS(TENON_ERROR_TCTI, "The TPM's name must begin with device: and a node, or with tabrmd:.");
        WORDS(TENON_ERROR_SIMULATOR, "This is a simulator's name; allow simulators if that is meant.");
        WORDS(TENON_ERROR_AUTH_VALUE, "An auth value has more than 32 bytes, or is nothing but zeros.");
        WORDS(TENON_ERROR_FORKED, "Another process opened this TPM; open it again in this one.");
        WORDS(TENON_ERROR_NOT_PERSISTENT, "The key has no persistent handle.");
        WORDS(TENON_ERROR_NOT_MADE_HERE, "The attestation key was loaded from a file; make a new one for this.");
        WORDS(TENON_ERROR_DATA_IS_MESSAGE,
              "This data could be taken for a message of a service; use the function for that "
              "message, or open the key with the capability to sign digests.");
        WORDS(TENON_ERROR_BASE64_LENGTH, "The text has a length that no base64 has.");
        WORDS(TENON_ERROR_BASE64_ALPHABET, "The text holds a character that is not of this base64 alphabet.");
        WORDS(TENON_ERROR_BASE64_PADDING, "The padding of the base64 text is missing, misplaced or not allowed.");
        WORDS(TENON_ERROR_BASE64_STRAY_BITS, "The last character of the base64 text has bits that belong to no byte.");
        WORDS(TENON_ERROR_HEX_LENGTH, "The hexadecimal text has an odd number of digits.");
        WORDS(TENON_ERROR_HEX_ALPHABET, "The text holds a character that is not a hexadecimal digit.");
        WORDS(TENON_ERROR_DER_TRUNCATED, "The DER bytes end within an element.");
        WORDS(TENON_ERROR_DER_TAG, "The DER bytes hold another element than the one expected.");
        WORDS(TENON_ERROR_DER_LENGTH, "A DER length is indefinite, not in its shortest form, or too large.");
        WORDS(TENON_ERROR_DER_INTEGER, "A DER integer is empty, negative, not in its shortest form, or too large.");
        WORDS(TENON_ERROR_DER_TRAILING, "There are bytes behind the end of the DER element.");
        WORDS(TENON_ERROR_SIGNATURE_RANGE, "r or s of the signature is not between 1 and n-1.");
        WORDS(TENON_ERROR_POINT_FORM, "The bytes are not a P-256 point in this form.");
        WORDS(TENON_ERROR_POINT_RANGE, "A coordinate of the point is not below p.");
        WORDS(TENON_ERROR_POINT_OFF_CURVE, "The point is not on the curve P-256.");
        WORDS(TENON_ERROR_SPKI_FORM, "The bytes are not the SubjectPublicKeyInfo of an uncompressed P-256 key.");
        WORDS(TENON_ERROR_SCALAR_RANGE, "The private key is not between 1 and n-1.");
        WORDS(TENON_ERROR_PEM_FORM, "The text is not one TSS2 PRIVATE KEY in PEM.");
        WORDS(TENON_ERROR_PEM_FACT, "A line before the PEM block is unknown, there twice, or malformed.");
        WORDS(TENON_ERROR_KEY_TYPE, "The key file does not hold a loadable TPM key.");
        WORDS(TENON_ERROR_KEY_FIELD, "The key file lacks a field or has one that Tenon does not take.");
        WORDS(TENON_ERROR_KEY_PUBLIC, "The public area in the key file is not a P-256 key's.");
        WORDS(TENON_ERROR_KEY_PRIVATE, "The private area in the key file has another size than it says.");
        WORDS(TENON_ERROR_SIGNATURE_INVALID, "The signature was not made by this key over this digest.");
        WORDS(TENON_ERROR_KEY_ATTRIBUTES,
              "The key's attributes are not those of a signing key; import it if it is meant.");
        WORDS(TENON_ERROR_KEY_NAME, "What the TPM holds there is another key; its Name differs.");
        WORDS(TENON_ERROR_SESSION, "The TPM's answer is not authentic; check what is on the bus.");
        WORDS(TENON_ERROR_TPM_TRANSPORT, "The connection to the TPM failed; try again later.");
        WORDS(TENON_ERROR_TPM_BUSY,
              "Another process held the TPM's node until the deadline; use /dev/tpmrm0 or try again later.");
        WORDS(TENON_ERROR_TPM_MISSING, "There is no TPM at this node; check that it is enabled in the firmware.");
        WORDS(TENON_ERROR_TPM_ANSWER, "The TPM's answer cannot be read; no key is lost.");
        WORDS(TENON_ERROR_PARENT_MISSING,
              "The key's parent is not in the TPM; provision it again, the key is not lost.");
        WORDS(TENON_ERROR_EK_MISSING, "The TPM has no EK for this certificate, or no certificate; give one by file.");
        WORDS(TENON_ERROR_TPM_PERMISSION, "The TPM's node may not be opened; join its group, usually tss.");
        WORDS(TENON_ERROR_AUTH_NEEDED, "The key has an auth value; give it when the key is loaded.");
        WORDS(TENON_ERROR_KEY_GONE,
              "The key is lost for good: the TPM was cleared, or is another one; register again.");
        WORDS(TENON_ERROR_MEMORY, "There is no memory.");
        WORDS(TENON_ERROR_RANDOM, "The kernel gave no randomness; check that getrandom is allowed.");
        WORDS(TENON_ERROR_CRYPTO, "The cryptographic library failed where it should not; please report this.");
        WORDS(TENON_ERROR_ACTIVATION, "The activation was not made with the secret of this challenge.");
        WORDS(TENON_ERROR_CBOR_TRUNCATED, "The CBOR ends within an item.");
        WORDS(TENON_ERROR_CBOR_TYPE, "The CBOR holds another item than the one expected.");
        WORDS(TENON_ERROR_CBOR_INDEFINITE, "The CBOR has an indefinite length.");
        WORDS(TENON_ERROR_CBOR_NOT_MINIMAL, "A number in the CBOR is not in its shortest form.");
        WORDS(TENON_ERROR_CBOR_KEY, "A key in the CBOR is unknown, out of order or there twice.");
        WORDS(TENON_ERROR_CBOR_COUNT, "The CBOR has another number of entries than expected.");
        WORDS(TENON_ERROR_CBOR_TRAILING, "There are bytes behind the end of the CBOR.");
        WORDS(TENON_ERROR_PROOF_FORM, "The proof has another format, version or algorithm.");
        WORDS(TENON_ERROR_SIGNATURE_FORM, "The signature is neither a TPMT_SIGNATURE of ECDSA with SHA-256 nor DER.");
        WORDS(TENON_ERROR_CERTIFICATE_FORM, "The bytes are not a certificate in the form that is taken.");
        WORDS(TENON_ERROR_CREDENTIAL_FORM, "The bytes are not the two parts of a credential.");
        WORDS(TENON_RULE_1_SIZE, "A part of the proof is larger than allowed.");
        WORDS(TENON_RULE_2_CBOR, "The proof is not deterministic CBOR.");
        WORDS(TENON_RULE_3_VERSION, "The proof has another version or algorithm.");
        WORDS(TENON_RULE_7_MAGIC, "The statement was not made by a TPM.");
        WORDS(TENON_RULE_8_TYPE, "The statement is not about a certified key.");
        WORDS(TENON_RULE_9_NONCE, "The statement is not for this nonce.");
        WORDS(TENON_RULE_10_NAME, "The statement is about another key than the public area.");
        WORDS(TENON_RULE_11_NAME_ALGORITHM, "The key's Name is not made with SHA-256.");
        WORDS(TENON_RULE_12_QUALIFIED_NAME, "The key is of the NULL hierarchy or was loaded from outside.");
        WORDS(TENON_RULE_13_BORN_IN_TPM, "The key was not born in the TPM, or can leave it.");
        WORDS(TENON_RULE_14_SIGNS_ONLY, "The key is not a plain signing key.");
        WORDS(TENON_RULE_15_AUTHORISED_BY_USER, "The key is not used by its user authorization alone.");
        WORDS(TENON_RULE_16_ATTRIBUTES, "The key has an attribute that is not allowed.");
        WORDS(TENON_RULE_17_P256, "The key is not a P-256 key in the expected form.");
        WORDS(TENON_RULE_18_ON_CURVE, "The key's point is not on the curve.");
        WORDS(TENON_RULE_19_COORDINATES, "A coordinate of the key's point is too long.");
        WORDS(TENON_RULE_20_PUBLIC_KEY, "The proof is about another key than the one submitted.");
        WORDS(TENON_RULE_21_ALGORITHM, "The signature over the statement has another algorithm.");
        WORDS(TENON_RULE_22_RANGE, "r or s of the signature over the statement is out of range.");
        WORDS(TENON_RULE_23_TRAILING, "A part of the proof cannot be read to its end, or has bytes behind it.");
        WORDS(TENON_RULE_24_CERTIFICATE,
              "A certificate of the chain is missing, not expected, or not of the expected form.");
        WORDS(TENON_RULE_25_SUBJECT, "The certificate does not name the TPM as it should.");
        WORDS(TENON_RULE_26_USAGE, "The certificate is not for this use.");
        WORDS(TENON_RULE_27_NOT_A_CA, "The key's certificate is one of an authority.");
        WORDS(TENON_RULE_28_CHAIN, "The certificates do not lead to a trusted root.");
        WORDS(TENON_RULE_29_AK, "The attestation key has other attributes than one has.");
        WORDS(TENON_RULE_30_ANOTHER_KEY, "The key was certified by itself.");
        WORDS(TENON_RULE_31_EK_CERTIFICATE, "The EK certificate is not of the expected form.");
        WORDS(TENON_RULE_32_EK_CHAIN, "The EK certificate does not lead to a trusted root.");
        WORDS(TENON_RULE_33_EK_KEY, "The EK is of a kind that is not taken.");
        WORDS(TENON_RULE_34_FIRMWARE, "The TPM's firmware is older than allowed.");
        WORDS(TENON_RULE_12A_PARENT, "The key is not under the parent that it should be under.");
        WORDS(TENON_RULE_23A_SIGNATURE, "The statement was not signed by the trusted attestation key.");
        WORDS(TENON_RULE_25A_MAKER, "The TPM's maker is not one of those that are allowed.");
        WORDS(TENON_RULE_24A_CRITICAL, "A certificate has a critical extension that is not known here.");
        WORDS(TENON_RULE_33A_EK_ALLOWED, "This EK is not allowed.");
        WORDS(TENON_RULE_33B_NOT_OAEP, "The EK certificate says that its key is for RSAES-OAEP.");
    default:
        return unnamed;
    }
}

/* What a caller does about a TPM's code hangs on its category alone, so the category is what is named. */
static words words_of_tpm(int32_t category)
{
    switch (category) {
    case TENON_CATEGORY_ARGUMENT:
        return (words){"TENON_TPM_ARGUMENT", "The TPM refused the command's arguments; this is a caller's mistake."};
    case TENON_CATEGORY_FORMAT:
        return (words){"TENON_TPM_FORMAT", "The TPM could not read the bytes that it was given."};
    case TENON_CATEGORY_REJECTED:
        return (words){"TENON_TPM_REJECTED", "The TPM refused the key, credential or signature."};
    case TENON_CATEGORY_TRANSIENT:
        return (words){"TENON_TPM_TRANSIENT", "The TPM is busy; try again later."};
    case TENON_CATEGORY_UNAVAILABLE:
        return (words){"TENON_TPM_UNAVAILABLE", "The TPM cannot be used now; no key is lost."};
    case TENON_CATEGORY_PERMISSION:
        return (words){"TENON_TPM_PERMISSION", "The TPM may not be used by this process."};
    case TENON_CATEGORY_AUTH:
        return (words){"TENON_TPM_AUTH", "The TPM refused the auth value or is in lockout."};
    case TENON_CATEGORY_GONE:
        return (words){"TENON_TPM_GONE",
                       "The key is lost for good: the TPM was cleared, or is another one; register again."};
    case TENON_CATEGORY_INTERNAL:
        return (words){"TENON_TPM_INTERNAL", "The TPM gave an answer that it should not; please report this."};
    case TENON_CATEGORY_STATE:
        return (words){"TENON_TPM_STATE", "The TPM does not allow this now."};
    case TENON_CATEGORY_UNKNOWN:
        return (words){"TENON_TPM_UNKNOWN", "The TPM gave no answer; ask again later, nothing was lost."};
    default:
        return unnamed;
    }
}

enum { TPM_RC_LOCKOUT = 0x921 };

/* Bits that no status has. */
static bool is_foreign(tenon_status status)
{
    return ((uint32_t)status & 0x80000000) != 0 || (tenon_status_tpm_rc(status) != 0 && (status & 0x700000) != 0);
}

/* TPM 2.0 Part 2, 6.6.3: OBJECT_MEMORY, SESSION_MEMORY, MEMORY, SESSION_HANDLES, OBJECT_HANDLES. */
static bool lacks_room(tenon_status status)
{
    uint32_t code = tenon_status_tpm_rc(status) & 0xffff;
    return tenon_status_category(status) == TENON_CATEGORY_TRANSIENT && code >= 0x902 && code <= 0x906;
}

static words words_of(tenon_status status)
{
    if (is_foreign(status))
        return unnamed;
    if (lacks_room(status))
        return (words){"TENON_TPM_FULL",
                       "The TPM has no room: others have loaded keys or sessions there; wait until they "
                       "are done, or flush what a program left that has ended."};
    if (tenon_status_tpm_rc(status) != 0 && (tenon_status_tpm_rc(status) & 0xffff) == TPM_RC_LOCKOUT)
        return (words){"TENON_TPM_LOCKOUT", "The TPM is in lockout after failed tries; wait until it forgives one."};
    return tenon_status_tpm_rc(status) != 0 ? words_of_tpm(tenon_status_category(status)) : words_of_code(status);
}

int32_t tenon_status_category(tenon_status status)
{
    return status >> 24 & 0x7f;
}

uint32_t tenon_status_tpm_rc(tenon_status status)
{
    return (status & TPM_CAUSE) != 0 ? (uint32_t)status & 0xfffff : 0;
}

const char *tenon_status_name(tenon_status status)
{
    return words_of(status).name;
}

const char *tenon_status_text(tenon_status status)
{
    return words_of(status).text;
}

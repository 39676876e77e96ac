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

enum {
    TENON_OK = 0,

    TENON_ERROR_NULL = 0x01000001,               /* a pointer is NULL */
    TENON_ERROR_BUFFER_TOO_SMALL = 0x01000002,   /* *written is the size that is needed */
    TENON_ERROR_TOO_LARGE = 0x01000003,          /* an input is longer than its function takes */
    TENON_ERROR_EMPTY = 0x01000004,              /* an input is empty that may not be */
    TENON_ERROR_FLAGS = 0x01000005,              /* a flag that does not exist, or does not belong here */
    TENON_ERROR_KEY_OPS = 0x01000006,            /* a tenon_key_ops of unknown size or with a function missing */
    TENON_ERROR_STREAM = 0x01000007,             /* a stream that was not begun, or is finished */
    TENON_ERROR_METHOD = 0x01000008,             /* a method that is not [A-Z]{1,32} */
    TENON_ERROR_PATH = 0x01000009,               /* a path that may not be signed */
    TENON_ERROR_TIMESTAMP = 0x0100000A,          /* a timestamp that is not [1-9][0-9]{9,11} */
    TENON_ERROR_NONCE = 0x0100000B,              /* a nonce that is not a UUID of version 4 */
    TENON_ERROR_APP_ID = 0x0100000C,             /* an app id that is not 1-200 bytes 0x21-0x7E */
    TENON_ERROR_DEVICE_ID = 0x0100000D,          /* a device id that is not 1-128 bytes 0x21-0x7E */
    TENON_ERROR_CLIENT_DATA = 0x0100000E,        /* client data that is not a JSON object, or is an event */
    TENON_ERROR_EVENT = 0x0100000F,              /* an event that does not begin as one */
    TENON_ERROR_DIGEST_NOT_ALLOWED = 0x01000010, /* the key was opened without TENON_KEY_SIGNS_DIGESTS */
    TENON_ERROR_OPTIONS =
        0x01000011,                /* an options or transport struct of unknown size, or a value that does not exist */
    TENON_ERROR_TCTI = 0x01000012, /* a TPM's name that is not one of those that may be opened */
    TENON_ERROR_SIMULATOR = 0x01000013,       /* a simulator's name without allow_simulator */
    TENON_ERROR_AUTH_VALUE = 0x01000014,      /* an auth value of more than 32 bytes, or of zeros alone */
    TENON_ERROR_FORKED = 0x01000015,          /* a TPM that another process opened: open it again in this one */
    TENON_ERROR_NOT_PERSISTENT = 0x01000016,  /* a key without a persistent handle */
    TENON_ERROR_NOT_MADE_HERE = 0x01000017,   /* an AK that was loaded: only when it is made its creation is known */
    TENON_ERROR_DATA_IS_MESSAGE = 0x01000018, /* data that could be taken for one of the messages of tenon/key.h */

    TENON_ERROR_BASE64_LENGTH = 0x02000001,     /* a length that no encoding has */
    TENON_ERROR_BASE64_ALPHABET = 0x02000002,   /* a character of no or the other alphabet, white space included */
    TENON_ERROR_BASE64_PADDING = 0x02000003,    /* padding missing (base64), present (base64url) or misplaced */
    TENON_ERROR_BASE64_STRAY_BITS = 0x02000004, /* unused bits of the last character are not zero */
    TENON_ERROR_HEX_LENGTH = 0x02000005,        /* an odd number of digits */
    TENON_ERROR_HEX_ALPHABET = 0x02000006,      /* a character that is not 0-9 a-f A-F */
    TENON_ERROR_DER_TRUNCATED = 0x02000007,     /* ends within an element */
    TENON_ERROR_DER_TAG = 0x02000008,           /* another element than the one expected */
    TENON_ERROR_DER_LENGTH = 0x02000009,        /* a length that is indefinite, not minimal, or not its content's */
    TENON_ERROR_DER_INTEGER = 0x0200000A,       /* an INTEGER that is empty, negative, not minimal or over 256 bits */
    TENON_ERROR_DER_TRAILING = 0x0200000B,      /* bytes behind the end */
    TENON_ERROR_SIGNATURE_RANGE = 0x0200000C,   /* r or s is not in 1 .. n-1 */
    TENON_ERROR_POINT_FORM = 0x0200000D,        /* a length or first byte that no P-256 point has */
    TENON_ERROR_POINT_RANGE = 0x0200000E,       /* a coordinate is not below p */
    TENON_ERROR_POINT_OFF_CURVE = 0x0200000F,   /* x, y is not on P-256 */
    TENON_ERROR_SPKI_FORM = 0x02000010,         /* not the 91 bytes of an uncompressed P-256 key */
    TENON_ERROR_SCALAR_RANGE = 0x02000011,      /* a private key that is not in 1 .. n-1 */
    TENON_ERROR_PEM_FORM = 0x02000012,          /* not one TSS2 PRIVATE KEY with base64 in lines, and facts before it */
    TENON_ERROR_PEM_FACT = 0x02000013,       /* a fact before BEGIN that is unknown, twice there, or not what it says */
    TENON_ERROR_KEY_TYPE = 0x02000014,       /* not a loadable key (2.23.133.10.1.3) */
    TENON_ERROR_KEY_FIELD = 0x02000015,      /* a field that is missing, or that Tenon does not take: policy, secret */
    TENON_ERROR_KEY_PUBLIC = 0x02000016,     /* a public area that is not a P-256 key's, or has bytes behind its end */
    TENON_ERROR_KEY_PRIVATE = 0x02000017,    /* a private area whose size is not its bytes' */
    TENON_ERROR_CBOR_TRUNCATED = 0x02000018, /* ends within an item */
    TENON_ERROR_CBOR_TYPE = 0x02000019,      /* another item than the one expected */
    TENON_ERROR_CBOR_INDEFINITE = 0x0200001A,  /* an indefinite length */
    TENON_ERROR_CBOR_NOT_MINIMAL = 0x0200001B, /* a number or length that is not in its shortest form */
    TENON_ERROR_CBOR_KEY = 0x0200001C,         /* a map's key that is unknown, out of order, or there twice */
    TENON_ERROR_CBOR_COUNT = 0x0200001D,       /* another number of entries */
    TENON_ERROR_CBOR_TRAILING = 0x0200001E,    /* bytes behind the end */
    TENON_ERROR_PROOF_FORM = 0x0200001F,       /* another format, version or algorithm */
    TENON_ERROR_SIGNATURE_FORM = 0x02000020,   /* neither a TPMT_SIGNATURE of ECDSA with SHA-256 nor DER */
    TENON_ERROR_CERTIFICATE_FORM = 0x02000021, /* not a certificate in the form that is taken; see tenon/activate.h */
    TENON_ERROR_CREDENTIAL_FORM = 0x02000022,  /* not the two TPM2B of a credential */

    TENON_ERROR_SIGNATURE_INVALID = 0x03000001, /* well formed, and not made by this key over this digest */
    TENON_ERROR_KEY_ATTRIBUTES = 0x03000002,    /* the key's attributes are not those of a signing key of ours */
    TENON_ERROR_KEY_NAME = 0x03000003,          /* what the TPM holds is not the key: its Name is another */
    TENON_ERROR_SESSION = 0x03000004,           /* an answer whose HMAC or nonces do not fit: somebody is on the bus */
    TENON_ERROR_ACTIVATION = 0x03000005,        /* an activation that was not made with the secret of this challenge */

    /* The rules of tenon/verify.h and tenon/activate.h. */
    TENON_RULE_1_SIZE = 0x03000101,
    TENON_RULE_2_CBOR = 0x03000102,
    TENON_RULE_3_VERSION = 0x03000103,
    TENON_RULE_7_MAGIC = 0x03000107,
    TENON_RULE_8_TYPE = 0x03000108,
    TENON_RULE_9_NONCE = 0x03000109,
    TENON_RULE_10_NAME = 0x0300010A,
    TENON_RULE_11_NAME_ALGORITHM = 0x0300010B,
    TENON_RULE_12_QUALIFIED_NAME = 0x0300010C,
    TENON_RULE_13_BORN_IN_TPM = 0x0300010D,
    TENON_RULE_14_SIGNS_ONLY = 0x0300010E,
    TENON_RULE_15_AUTHORISED_BY_USER = 0x0300010F,
    TENON_RULE_16_ATTRIBUTES = 0x03000110,
    TENON_RULE_17_P256 = 0x03000111,
    TENON_RULE_18_ON_CURVE = 0x03000112,
    TENON_RULE_19_COORDINATES = 0x03000113,
    TENON_RULE_20_PUBLIC_KEY = 0x03000114,
    TENON_RULE_21_ALGORITHM = 0x03000115,
    TENON_RULE_22_RANGE = 0x03000116,
    TENON_RULE_23_TRAILING = 0x03000117,
    TENON_RULE_24_CERTIFICATE = 0x03000118,
    TENON_RULE_25_SUBJECT = 0x03000119,
    TENON_RULE_26_USAGE = 0x0300011A,
    TENON_RULE_27_NOT_A_CA = 0x0300011B,
    TENON_RULE_28_CHAIN = 0x0300011C,
    TENON_RULE_29_AK = 0x0300011D,
    TENON_RULE_30_ANOTHER_KEY = 0x0300011E,
    TENON_RULE_31_EK_CERTIFICATE = 0x0300011F,
    TENON_RULE_32_EK_CHAIN = 0x03000120,
    TENON_RULE_33_EK_KEY = 0x03000121,
    TENON_RULE_34_FIRMWARE = 0x03000122,
    TENON_RULE_12A_PARENT = 0x0300018C,
    TENON_RULE_23A_SIGNATURE = 0x03000197,
    TENON_RULE_25A_MAKER = 0x03000199,
    TENON_RULE_24A_CRITICAL = 0x03000198,
    TENON_RULE_33A_EK_ALLOWED = 0x030001A1,
    TENON_RULE_33B_NOT_OAEP = 0x030001E1,

    TENON_ERROR_TPM_TRANSPORT = 0x04000001, /* the way to the TPM failed, and again after it was opened anew */
    TENON_ERROR_TPM_BUSY = 0x04000002,      /* the node is held by another process, and was until the deadline */

    TENON_ERROR_TPM_MISSING = 0x05000001,    /* no such node, or it is no TPM's */
    TENON_ERROR_TPM_ANSWER = 0x05000002,     /* an answer that is none: too short, too long, or its sizes lie */
    TENON_ERROR_PARENT_MISSING = 0x05000003, /* the TPM is the key's, the parent was taken away: provision it again */
    TENON_ERROR_EK_MISSING = 0x05000004,     /* no EK certificate of this kind, or no EK that fits the certificate */

    TENON_ERROR_TPM_PERMISSION = 0x06000001, /* the node may not be opened: join its group, usually tss */

    TENON_ERROR_AUTH_NEEDED = 0x07000001, /* the key has an auth value, and none was given */

    TENON_ERROR_KEY_GONE = 0x08000001, /* another seed, and the TPM refused the key twice: register again */

    TENON_ERROR_MEMORY = 0x09000001, /* no memory */
    TENON_ERROR_RANDOM = 0x09000002, /* getrandom(2) failed */
    TENON_ERROR_CRYPTO = 0x09000003  /* the backend failed where it cannot */
};

/* All four are functions of the value alone; any value may be asked about. */

/* One of TENON_CATEGORY_*, or 0 for success. */
TENON_API int32_t tenon_status_category(tenon_status status);

/* The TPM's layer (bits 16-19) and response code (bits 0-15), or 0 when the cause is not the TPM's. */
TENON_API uint32_t tenon_status_tpm_rc(tenon_status status);

/* "TENON_OK", "TENON_ERROR_PATH", "TENON_TPM_TRANSIENT"; "TENON_ERROR_UNNAMED" for a value that no version had. Never
 * NULL. */
TENON_API const char *tenon_status_name(tenon_status status);

/* One English sentence for a person: the cause, and the mend where there is one. Never NULL. */
TENON_API const char *tenon_status_text(tenon_status status);

TENON_END

#endif

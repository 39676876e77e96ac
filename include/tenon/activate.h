/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENON_ACTIVATE_H
#define TENON_ACTIVATE_H

#include "tenon/api.h"
#include "tenon/key.h"
#include "tenon/proof.h"
#include "tenon/status.h"
#include "tenon/types.h"
#include "tenon/verify.h"

/*
 * How a service comes to trust an AK: it verifies that a TPM maker issued the EK certificate, makes a credential that
 * only the TPM of that EK can open and only for that AK, and issues a certificate for the AK.
 */

TENON_BEGIN

/* ---- EK certificates ---- */

/* The kinds of EK. The kind determines the algorithms of the credential (TCG EK Credential Profile). */
enum {
    TENON_EK_ANY = 0,      /* where a certificate is looked for: of the smallest key that has one */
    TENON_EK_RSA_2048 = 1, /* templates L-1, H-1: SHA-256, AES-128 */
    TENON_EK_P256 = 2,     /* L-2, H-2: SHA-256, AES-128 */
    TENON_EK_P384 = 3      /* H-3: SHA-384, AES-256 */
};

/* Sizes of an EK and of what is made for it. */
enum {
    TENON_EK_KEY_MAX = 256,     /* an RSA modulus, or x || y */
    TENON_EK_TEXT_MAX = 64,     /* maker, model, version: as the certificate has them */
    TENON_CREDENTIAL_MAX = 512, /* TPM2B_ID_OBJECT, TPM2B_ENCRYPTED_SECRET: each with its size */
    TENON_ACTIVATION_SECRET_SIZE = 32
};

/* The same sizes, for callers without a C preprocessor. */
TENON_API size_t tenon_credential_max(void);
TENON_API size_t tenon_activation_secret_size(void);

/* An EK whose certificate was verified. */
typedef struct {
    uint32_t kind;
    tenon_digest id;          /* ek_id: SHA-256 of the SubjectPublicKeyInfo */
    tenon_digest certificate; /* SHA-256 of the certificate */
    uint8_t key[TENON_EK_KEY_MAX];
    size_t key_n;
    uint8_t maker[TENON_EK_TEXT_MAX]; /* TCG attributes 2.23.133.2.1, .2, .3 of the subject's alternative name */
    size_t maker_n;
    uint8_t model[TENON_EK_TEXT_MAX];
    size_t model_n;
    uint8_t version[TENON_EK_TEXT_MAX];
    size_t version_n;
} tenon_ek;

/* Flags of a tenon_ek_policy. */
enum {
    TENON_EK_REQUIRE_USAGE = 0x1,  /* the certificate must name EKU 2.23.133.8.1; else it need not name any */
    TENON_EK_ALLOW_SIMULATOR = 0x2 /* makers that are known to be software */
};

/* TPMs with these texts, as a tenon_ek has them, in upper or lower case; an empty text matches any. */
typedef struct {
    tenon_bytes maker;
    tenon_bytes model;
    tenon_bytes version;
} tenon_ek_pattern;

/* Which EKs are accepted. */
typedef struct {
    size_t size;              /* sizeof(tenon_ek_policy) */
    uint32_t flags;           /* TENON_EK_* */
    const tenon_bytes *roots; /* DER; none is TENON_RULE_33_EK_CHAIN for every certificate */
    size_t roots_count;
    int64_t now;                /* Unix seconds */
    const tenon_digest *denied; /* ek_ids that are no longer accepted */
    size_t denied_count;
    const tenon_ek_pattern *denied_models; /* makers, models, firmware that are not accepted */
    size_t denied_models_count;
} tenon_ek_policy;

/*
 * Verifies an EK certificate with those above it, leaf first, at most TENON_CERTIFICATES_MAX of them. Strip the bytes
 * that NV holds after the certificate (00 or FF), and the wrapper 10 01 00 before it: tenon_certificate_trim. These
 * are the rules in the order in which they are checked; the first that does not hold decides:
 *   22   each certificate passes a strict walk of its DER, before any signature is checked: at most 4 KiB, no bytes
 *        behind its end, v3; RSA 2048-4096 with e = 65537 or another odd e of up to 32 bits, or P-256/384/521; signed
 *        with SHA-256/384/512; no two with one subject; each issued by the next; 12 KiB in all
 *   23   none of them has a critical extension that is not known here, or name constraints
 *   33   from the root down: the chain ends below one of the roots, each signature is good, each above the leaf is an
 *        authority that may sign certificates within its path length and, below the root, names EKU 2.23.133.8.1 or any
 *        if it names EKUs, and all dates hold
 *   34   the leaf: not an authority; key usage keyEncipherment or keyAgreement; EKU 2.23.133.8.1 or, where that is not
 *        required, none, and not 8.3; maker, model and version of the TPM in the alternative name, one each, which is
 *        critical if the subject is empty
 *   35   the key is not said to be for RSAES-OAEP
 *   36   the key is of one of the kinds, e = 65537 or the point on its curve, an RSA key without the pattern of ROCA
 *   37   neither the ek_id nor the maker, model and version is denied
 */
TENON_API TENON_MUST_USE tenon_status tenon_ek_verify(tenon_ek *out, tenon_report *report, const tenon_bytes *chain,
                                                      size_t count, const tenon_ek_policy *policy);

/*
 * Reads what a certificate says about an EK, without verifying it, for a device that looks for that EK in its own TPM.
 * Applies rules 22, 23, 35 and 36 above. maker, model and version are empty if the certificate does not name them.
 */
TENON_API TENON_MUST_USE tenon_status tenon_ek_read(tenon_ek *out, const uint8_t *TENON_COUNTED(n) certificate,
                                                    size_t n);

/*
 * Finds where the one certificate in bytes from NV begins and ends. If other bytes than those above surround it, or the
 * wrapper's size does not cover it, the result is TENON_ERROR_CERTIFICATE_FORM.
 */
TENON_API TENON_MUST_USE tenon_status tenon_certificate_trim(tenon_bytes *out, const uint8_t *TENON_COUNTED(n) bytes,
                                                             size_t n);

/* ---- Credentials ---- */

/*
 * MakeCredential (TPM 2.0 Part 1, 24). TPM2_ActivateCredential opens the result to the secret, only in the TPM with
 * this EK, and only for an object with this Name. credential and encrypted are TPM2B_ID_OBJECT and
 * TPM2B_ENCRYPTED_SECRET with their sizes. The secret has 1 byte up to a digest of the EK's nameAlg: 32, or 48 for
 * P-384. Of ek only the kind and the key are read. An unknown kind, or a Name whose nameAlg is not SHA-256, is
 * TENON_ERROR_OPTIONS; a key that does not fit its kind is TENON_RULE_36_EK_KEY. If either output is too short, both
 * sizes are set to what is needed, and neither output is written.
 */
TENON_API TENON_MUST_USE tenon_status
tenon_credential_make(uint8_t *TENON_COUNTED(credential_size) credential, size_t credential_size, size_t *credential_n,
                      uint8_t *TENON_COUNTED(encrypted_size) encrypted, size_t encrypted_size, size_t *encrypted_n,
                      const tenon_ek *ek, const uint8_t *TENON_COUNTED(name_n) name, size_t name_n,
                      const uint8_t *TENON_COUNTED(secret_n) secret, size_t secret_n);

/* ---- Folded activation ---- */

/*
 * Below, F(a, b, ...) writes each field as a 4-byte big-endian length and its bytes; texts are as they are on the wire.
 *
 * The secret of a challenge, derived and never stored: HMAC-SHA256(key, F("tenon/secret/1", challenge, ek_id,
 * ak_name)). key is K_act, at least 32 bytes, else TENON_ERROR_OPTIONS. No field of an F may be empty, or longer than
 * 65535 bytes.
 */
TENON_API TENON_MUST_USE tenon_status tenon_activation_secret(tenon_digest *out,
                                                              const uint8_t *TENON_COUNTED(key_n) key, size_t key_n,
                                                              const char *TENON_COUNTED(challenge_n) challenge,
                                                              size_t challenge_n, const tenon_digest *ek_id,
                                                              const uint8_t *TENON_COUNTED(name_n) name, size_t name_n);

/* What an activation binds. origin is scheme://host[:port] in lower case, without a default port. */
typedef struct {
    size_t size; /* sizeof(tenon_activation) */
    const char *origin;
    size_t origin_n;
    const char *app_id;
    size_t app_id_n;
    const char *challenge;
    size_t challenge_n;
    const char *public_key; /* the base64 text */
    size_t public_key_n;
    tenon_digest ek_id;
    const uint8_t *ak_name;
    size_t ak_name_n;
} tenon_activation;

/*
 * HMAC-SHA256(secret, F("tenon/register/1", origin, app_id, challenge, public_key, ek_id, ak_name)). A secret that does
 * not have TENON_ACTIVATION_SECRET_SIZE bytes is TENON_ERROR_CREDENTIAL_FORM: none of our credentials holds such a
 * secret.
 */
TENON_API TENON_MUST_USE tenon_status tenon_activation_value(tenon_digest *out,
                                                             const uint8_t *TENON_COUNTED(secret_n) secret,
                                                             size_t secret_n, const tenon_activation *activation);

/*
 * Computes the same value and compares it in constant time. If value differs, even only in length, the result is
 * TENON_ERROR_ACTIVATION.
 */
TENON_API TENON_MUST_USE tenon_status tenon_activation_verify(const uint8_t *TENON_COUNTED(secret_n) secret,
                                                              size_t secret_n, const tenon_activation *activation,
                                                              const uint8_t *TENON_COUNTED(value_n) value,
                                                              size_t value_n);

/*
 * The nonce with which the AK certifies a rotated key: SHA-256(F("tenon/rotate/1", origin, app_id, device_id,
 * old_public_key, new_public_key, timestamp)).
 */
typedef struct {
    size_t size; /* sizeof(tenon_rotation) */
    const char *origin;
    size_t origin_n;
    const char *app_id;
    size_t app_id_n;
    const char *device_id;
    size_t device_id_n;
    const char *old_public_key; /* base64 texts */
    size_t old_public_key_n;
    const char *new_public_key;
    size_t new_public_key_n;
    const char *timestamp;
    size_t timestamp_n;
} tenon_rotation;

/* Computes the nonce. */
TENON_API TENON_MUST_USE tenon_status tenon_rotation_nonce(tenon_digest *out, const tenon_rotation *rotation);

/* ---- AK certificates ---- */

enum { TENON_SERIAL_SIZE = 16 };

/*
 * Issues a certificate for an AK (decision: ak-certificate): v3, this serial, empty subject, critical alternative
 * name with the EK's maker, model and version, EKU 2.23.133.8.3, key usage digitalSignature, no authority, authority
 * key identifier, from not_before to not_after. issuer is the issuing certificate, whose key signs.
 */
typedef struct {
    size_t size;        /* sizeof(tenon_ak_request) */
    tenon_bytes ak;     /* TPMT_PUBLIC, which has to pass tenon_ak_check */
    const tenon_ek *ek; /* maker, model, version */
    uint8_t serial[TENON_SERIAL_SIZE];
    int64_t not_before;
    int64_t not_after;
} tenon_ak_request;

/* Issues the certificate that the request describes. */
TENON_API TENON_MUST_USE tenon_status tenon_ak_certificate_issue(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                 size_t *written, const tenon_key *issuer_key,
                                                                 const uint8_t *TENON_COUNTED(issuer_n) issuer,
                                                                 size_t issuer_n, const tenon_ak_request *request);

/*
 * A self-signed root (path length 1) or, with an issuer, an issuing authority below it (path length 0), for AK
 * certificates only: EKU 2.23.133.8.3, key usage keyCertSign and cRLSign. name is its common name, UTF-8, at most 64.
 */
typedef struct {
    size_t size; /* sizeof(tenon_authority_request) */
    const char *name;
    size_t name_n;
    uint8_t serial[TENON_SERIAL_SIZE];
    int64_t not_before;
    int64_t not_after;
    const tenon_public_key *key; /* of the authority; NULL: the signing key's own, self-signed */
    tenon_bytes issuer;          /* the certificate above; empty: self-signed */
} tenon_authority_request;

/* Issues the authority's certificate that the request describes. */
TENON_API TENON_MUST_USE tenon_status tenon_authority_certificate_issue(uint8_t *TENON_COUNTED(n) out, size_t n,
                                                                        size_t *written, const tenon_key *signing_key,
                                                                        const tenon_authority_request *request);

TENON_END

#endif

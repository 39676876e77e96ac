/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_CERTIFICATE_H
#define TENONI_CERTIFICATE_H

#include "crypto/certified_key.h"
#include "tenon/proof.h"

/*
 * X.509 certificates as far as TPMs need them: a strict walk over the DER of RFC 5280 (4.1), which accepts the fields
 * below and refuses everything else before any signature is checked. What it finds points into the certificate's bytes.
 */

/* RFC 5280, 4.2.1.3: bits of keyUsage; bit 0 of the BIT STRING is the highest. */
enum {
    TENONI_USAGE_DIGITAL_SIGNATURE = 0x8000,
    TENONI_USAGE_KEY_ENCIPHERMENT = 0x2000,
    TENONI_USAGE_KEY_AGREEMENT = 0x0800,
    TENONI_USAGE_CERT_SIGN = 0x0400,
    TENONI_USAGE_CRL_SIGN = 0x0200
};

typedef struct {
    tenoni_reader signed_part; /* tbsCertificate with its header */
    tenoni_reader issuer;      /* whole Names */
    tenoni_reader subject;
    bool subject_empty;
    int64_t not_before;
    int64_t not_after;
    tenoni_certified_key key;
    bool signed_with_rsa; /* PKCS #1 v1.5, else ECDSA */
    tenoni_hash hash;
    tenoni_reader signature;
    bool authority; /* basicConstraints */
    bool has_path_length;
    uint32_t path_length;
    bool has_key_usage;
    uint16_t key_usage;             /* TENONI_USAGE_* */
    tenoni_reader extended_usage;   /* the SEQUENCE's content; left 0: none */
    tenoni_reader alternative_name; /* the GeneralNames' content */
    bool alternative_name_critical;
    tenoni_reader key_id;        /* subjectKeyIdentifier; left 0: none */
    tenoni_reader issuer_key_id; /* keyIdentifier of authorityKeyIdentifier; left 0: none */
    bool asks_for_more;          /* it has an unknown critical extension, or name constraints */
} tenoni_certificate;

/* TCG EK Credential Profile: content bytes of its OIDs. */
enum { TENONI_TCG_OID_SIZE = 5 };
extern const uint8_t tenoni_usage_ek[TENONI_TCG_OID_SIZE];  /* 2.23.133.8.1 */
extern const uint8_t tenoni_usage_ak[TENONI_TCG_OID_SIZE];  /* 2.23.133.8.3 */
extern const uint8_t tenoni_tpm_maker[TENONI_TCG_OID_SIZE]; /* 2.23.133.2.1, the attributes of the alternative name */
extern const uint8_t tenoni_tpm_model[TENONI_TCG_OID_SIZE];
extern const uint8_t tenoni_tpm_version[TENONI_TCG_OID_SIZE];

/*
 * Any deviation from the form is TENON_RULE_22_CERTIFICATE. A certificate with demands that are unknown here is
 * TENON_RULE_23_CRITICAL, and is read.
 */
tenon_status tenoni_certificate_read(tenoni_certificate *out, const uint8_t *der, size_t n);

/* The extended key usage names this OID (its content bytes). */
bool tenoni_certificate_has_usage(const tenoni_certificate *certificate, const uint8_t *oid, size_t n);

/*
 * The one attribute with this OID in the directory names of the alternative name; false: none, more than one, or not
 * 1-64 printable ASCII characters.
 */
bool tenoni_certificate_tpm_attribute(const tenoni_certificate *certificate, const uint8_t *oid, size_t n,
                                      tenoni_reader *text);

/* Whether it is an authority that may sign certificates with this many authorities between it and the leaf. */
bool tenoni_certificate_may_sign(const tenoni_certificate *certificate, size_t between);

/* Whether an authority that names extended key usages names this one of the TCG, or any. */
bool tenoni_certificate_allows(const tenoni_certificate *certificate, const uint8_t *usage);

/*
 * A chain, leaf first: all forms first (TENON_RULE_22_CERTIFICATE), then TENON_RULE_23_CRITICAL, then from the root
 * down (chain_rule). usage is what the leaf is for; authorities below the root that name usages name it. *leaf is read
 * when forms are good. roots: DER, trusted because they are in the list; a root that cannot be read is ignored. The
 * last certificate of the chain may itself be a root, unless it is the leaf.
 */
tenon_status tenoni_chain_verify(tenoni_certificate *leaf, const tenon_bytes *chain, size_t count,
                                 const tenon_bytes *roots, size_t roots_count, int64_t now, const uint8_t *usage,
                                 tenon_status chain_rule);

/* Reads the content of Extensions (RFC 5280, 4.2) into the certificate; false: they deviate from the form. */
bool tenoni_extensions_read(tenoni_certificate *certificate, tenoni_reader extensions);

#endif

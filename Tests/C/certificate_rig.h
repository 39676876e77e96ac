/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CERTIFICATE_RIG_H
#define CERTIFICATE_RIG_H

#include "proof/certificate.h"
#include "test.h"

/* The vectors of Tests/Vectors/certificates, and certificates that the tests make, with the keys that sign them. */

/* The public half of a scalar, and its signature over bytes. */
tenon_public_key rig_public(const uint8_t *scalar);
tenon_signature rig_sign(const uint8_t *scalar, const void *bytes, size_t n);

/* Scalars of an AK, of the key that it certifies, and of an unrelated key. */
extern const uint8_t rig_ak_scalar[TENON_SCALAR_SIZE];
extern const uint8_t rig_key_scalar[TENON_SCALAR_SIZE];
extern const uint8_t rig_other_scalar[TENON_SCALAR_SIZE];

/* A certificate, written without the core's code. Members that are NULL or false are left out. */
typedef struct {
    const char *subject, *issuer; /* common names */
    const uint8_t *key, *signer;  /* scalars */
    tenon_bytes spki;             /* replaces that of the key */
    const char *from, *to;        /* years */
    bool authority, leaf;         /* basic constraints that say yes, or no */
    const char *usage;            /* key usage: the content of its BIT STRING */
    const char *extended;         /* OIDs: the content of the SEQUENCE */
    const char *name;             /* the alternative name's directory name: its attributes */
    bool name_not_critical;
    bool asks_for_more; /* by a critical extension 1.2.3 */
} certificate_form;

enum { CERTIFICATE_MADE_MAX = 1024 };
size_t certificate_write(uint8_t *out, const certificate_form *from);

/* 2.23.133.8.3 and .8.1 */
#define USAGE_AK "06056781050803"
#define USAGE_EK "06056781050801"

/* The DER of a certificate in certificates.txt or swtpm.txt; an unknown name ends the run. It lives as long as the
 * program. */
tenon_bytes certificate_named(const char *name);
tenon_bytes certificate_of_swtpm(const char *name);

enum { CERTIFICATE_CASE_MAX = 8 };

typedef struct {
    char *name;
    tenon_bytes chain[CERTIFICATE_CASE_MAX];
    size_t count;
    tenon_bytes roots[CERTIFICATE_CASE_MAX];
    size_t roots_count;
    int64_t now;
    bool requires_usage;
    bool allows_simulator;
    tenon_status result; /* of tenon_ek_verify */
} certificate_case;

/* Calls visit for each of cases.txt. */
void certificate_each_case(void (*visit)(const certificate_case *one));

/*
 * Whether a table has to try this case: all of them, but in a quick run of those that cost a signature only some for
 * each result, the first among them. numbers are the table's own, zeros at first.
 */
enum { CERTIFICATE_RESULTS = 0x200 };
bool certificate_case_is_due(const certificate_case *one, size_t *numbers);

/* One of them, by its name. */
certificate_case certificate_case_named(const char *name);

/* What it asks for. */
tenon_ek_policy certificate_case_policy(const certificate_case *one);

/* What tenon_ek_verify would say of it without this rule. */
tenon_status certificate_case_without(const certificate_case *one, tenon_status rule);

enum { CERTIFICATE_NOW = 1800000000 };

#endif

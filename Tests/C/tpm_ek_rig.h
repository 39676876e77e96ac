/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPM_EK_RIG_H
#define TPM_EK_RIG_H

#include "tenon/activate.h"
#include "tpm_rig.h"

/*
 * A TPM whose maker gave it EK certificates: the state that Tests/Scripts/swtpm_state.sh makes in .build/make/swtpm.
 * Its EKs of RSA-2048 (L-1) and P-384 (H-3) are persistent and have certificates in NV; there is none of P-256.
 */
tpm_rig tpm_ek_rig_start(const tenon_tpm_options *options);

#define EK_RSA_HANDLE 0x81010001u
#define EK_P384_HANDLE 0x81010016u

/* The templates, in the order of their NV indices. */
typedef enum { EK_L1, EK_L2, EK_H1, EK_H2, EK_H3, EK_TEMPLATES } tpm_ek_template;

typedef struct {
    const char *name;
    uint32_t kind;
    uint32_t certificate; /* NV indices */
    uint32_t template;
} tpm_ek_place;

extern const tpm_ek_place tpm_ek_places[EK_TEMPLATES];

typedef struct {
    uint8_t bytes[TENON_CERTIFICATE_MAX];
    size_t n;
} tpm_certificate;

typedef struct {
    uint8_t credential[TENON_CREDENTIAL_MAX];
    size_t credential_n;
    uint8_t encrypted[TENON_CREDENTIAL_MAX];
    size_t encrypted_n;
} tpm_credential;

/* A template's bytes, by code that is not the core's; and the primary that it makes, by hand. */
void tpm_ek_rig_template(tpm_ek_template which, support_public *out);
uint32_t tpm_ek_rig_create(tpm_rig *rig, const support_public *template, const char *auth, support_public *out);

/* A certificate for the EK with this public area, by an authority of the tests' own. */
tpm_certificate tpm_ek_rig_issue(const support_public *area);

/* What a service trusts: this authority, and the root of swtpm_state.sh; and the authority between that and the EKs. */
tpm_certificate tpm_ek_rig_own_root(void);
tpm_certificate tpm_ek_rig_root(void);
tpm_certificate tpm_ek_rig_issuer(void);

/* A service that trusts the two authorities that sign: what tenon_ek_verify says. */
tenon_ek tpm_ek_rig_read(const tpm_certificate *certificate);

/* What a service makes for an AK; and the same as the TPM itself makes it, for the EK at a handle. */
tpm_credential tpm_ek_rig_credential(const tpm_certificate *certificate, const tenon_tpm_key *ak,
                                     const tenon_digest *secret);
tpm_credential tpm_ek_rig_credential_of_tpm(tpm_rig *rig, uint32_t ek, const tenon_tpm_key *ak,
                                            const tenon_digest *secret);

/* Opens a credential to a secret of 32 bytes. */
tenon_status tpm_ek_rig_open(tenon_tpm_key *ak, tenon_digest *secret, const tpm_certificate *certificate,
                             const tpm_credential *credential);

/* A key, an AK beside it, and the certificate of this kind out of NV. */
typedef struct {
    tenon_tpm_key *key;
    tenon_tpm_key *ak;
    tpm_certificate certificate;
} tpm_device;

tpm_device tpm_ek_rig_device(tpm_rig *rig, uint32_t kind);
void tpm_ek_rig_free(tpm_device *device);

#endif

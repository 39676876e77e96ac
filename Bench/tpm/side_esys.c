/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_tctildr.h>

#include "rig.h"

/* tpm2-tss by the interface that programs use. What may be kept is kept: context, key, session. */
typedef struct {
    rig *rig;
    TSS2_TCTI_CONTEXT *tcti;
    ESYS_CONTEXT *esys;
    ESYS_TR key, parent, session;
    TPM2B_DIGEST digest;
    TPM2B_PUBLIC *area;
    TPM2B_PRIVATE *blob; /* below the storage key at 0x81000001, or below a primary that is made each time */
} esys_side;

static const TPM2_HANDLE storage_key = 0x81000001;

static const TPM2B_SENSITIVE_CREATE no_secret;
static const TPM2B_DATA no_data;
static const TPML_PCR_SELECTION no_registers;

static const TPM2B_PUBLIC storage_template = {
    .publicArea = {.type = TPM2_ALG_ECC,
                   .nameAlg = TPM2_ALG_SHA256,
                   .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT |
                                       TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA |
                                       TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT,
                   .parameters.eccDetail = {.symmetric = {TPM2_ALG_AES, {128}, {TPM2_ALG_CFB}},
                                            .scheme.scheme = TPM2_ALG_NULL,
                                            .curveID = TPM2_ECC_NIST_P256,
                                            .kdf.scheme = TPM2_ALG_NULL}}};

static const TPM2B_PUBLIC signing_template = {
    .publicArea = {.type = TPM2_ALG_ECC,
                   .nameAlg = TPM2_ALG_SHA256,
                   .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT |
                                       TPMA_OBJECT_SENSITIVEDATAORIGIN | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA |
                                       TPMA_OBJECT_SIGN_ENCRYPT,
                   .parameters.eccDetail = {.symmetric.algorithm = TPM2_ALG_NULL,
                                            .scheme.scheme = TPM2_ALG_NULL,
                                            .curveID = TPM2_ECC_NIST_P256,
                                            .kdf.scheme = TPM2_ALG_NULL}}};

static const char *version(void) { return rig_version("BENCH_ESYS"); }

static void esys_close(void *context)
{
    esys_side *self = context;
    Esys_Free(self->area);
    Esys_Free(self->blob);
    if (self->esys != NULL)
        Esys_Finalize(&self->esys);
    Tss2_TctiLdr_Finalize(&self->tcti);
    rig_leave(self->rig);
}

static bool start_session(esys_side *self, ESYS_TR salt, TPMA_SESSION attributes)
{
    static const TPMT_SYM_DEF aes = {TPM2_ALG_AES, {128}, {TPM2_ALG_CFB}};
    return Esys_StartAuthSession(self->esys, salt, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, NULL,
                                 TPM2_SE_HMAC, &aes, TPM2_ALG_SHA256, &self->session) == TSS2_RC_SUCCESS &&
           Esys_TRSess_SetAttributes(self->esys, self->session, attributes | TPMA_SESSION_CONTINUESESSION, 0xFF) ==
               TSS2_RC_SUCCESS;
}

static bool create(esys_side *self, ESYS_TR parent)
{
    return Esys_Create(self->esys, parent, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &no_secret, &signing_template,
                       &no_data, &no_registers, &self->blob, &self->area, NULL, NULL, NULL) == TSS2_RC_SUCCESS;
}

static bool make_primary(const esys_side *self, ESYS_TR *out)
{
    return Esys_CreatePrimary(self->esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, &no_secret,
                              &storage_template, &no_data, &no_registers, out, NULL, NULL, NULL,
                              NULL) == TSS2_RC_SUCCESS;
}

static bool find_keys(esys_side *self)
{
    return Esys_TR_FromTPMPublic(self->esys, self->rig->handle, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &self->key) ==
               TSS2_RC_SUCCESS &&
           Esys_TR_FromTPMPublic(self->esys, storage_key, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE, &self->parent) ==
               TSS2_RC_SUCCESS;
}

typedef enum { SALTED, ENCRYPTED, HMAC } way;

static bool make_session(void *context, size_t which)
{
    esys_side *self = context;
    return start_session(self, which == HMAC ? ESYS_TR_NONE : self->parent,
                         which == ENCRYPTED ? TPMA_SESSION_DECRYPT : 0);
}

static bool create_below_srk(void *context, size_t unused)
{
    esys_side *self = context;
    return create(self, self->parent);
}

static bool create_below_primary(void *context, size_t unused)
{
    esys_side *self = context;
    ESYS_TR primary = ESYS_TR_NONE;
    return make_primary(self, &primary) && create(self, primary) &&
           Esys_FlushContext(self->esys, primary) == TSS2_RC_SUCCESS;
}

static bool esys_open(void *context, const fixture *made)
{
    char tcti[RIG_NAME_MAX];
    esys_side *self = context;
    self->digest.size = sizeof made->digests[0].bytes;
    memcpy(self->digest.buffer, made->digests[0].bytes, self->digest.size);
    return (self->rig = rig_share()) != NULL && rig_tcti(self->rig, tcti) &&
           Tss2_TctiLdr_Initialize(tcti, &self->tcti) == TSS2_RC_SUCCESS &&
           Esys_Initialize(&self->esys, self->tcti, NULL) == TSS2_RC_SUCCESS && find_keys(self);
}

static bool sign_with(const esys_side *self, ESYS_TR key, ESYS_TR session)
{
    static const TPMT_SIG_SCHEME scheme = {.scheme = TPM2_ALG_ECDSA, .details.ecdsa.hashAlg = TPM2_ALG_SHA256};
    static const TPMT_TK_HASHCHECK ticket = {.tag = TPM2_ST_HASHCHECK, .hierarchy = TPM2_RH_NULL};
    TPMT_SIGNATURE *signature = NULL;
    bool done = Esys_Sign(self->esys, key, session, ESYS_TR_NONE, ESYS_TR_NONE, &self->digest, &scheme, &ticket,
                          &signature) == TSS2_RC_SUCCESS;
    Esys_Free(signature);
    return done;
}

static bool sign(void *context, size_t unused)
{
    const esys_side *self = context;
    return sign_with(self, self->key, ESYS_TR_PASSWORD);
}

static bool sign_in_session(void *context, size_t unused)
{
    const esys_side *self = context;
    return sign_with(self, self->key, self->session);
}

static bool load_sign_flush(const esys_side *self, ESYS_TR parent)
{
    ESYS_TR key = ESYS_TR_NONE;
    if (Esys_Load(self->esys, parent, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE, self->blob, self->area, &key) !=
        TSS2_RC_SUCCESS)
        return false;
    bool signs = sign_with(self, key, ESYS_TR_PASSWORD);
    return Esys_FlushContext(self->esys, key) == TSS2_RC_SUCCESS && signs;
}

static bool sign_below_srk(void *context, size_t unused)
{
    const esys_side *self = context;
    return load_sign_flush(self, self->parent);
}

static bool sign_below_primary(void *context, size_t unused)
{
    const esys_side *self = context;
    ESYS_TR primary = ESYS_TR_NONE;
    if (!make_primary(self, &primary))
        return false;
    bool signs = load_sign_flush(self, primary);
    return Esys_FlushContext(self->esys, primary) == TSS2_RC_SUCCESS && signs;
}

static const side_line lines[] = {
    {"tpm-sign", sign},
    {"tpm-sign-salted", sign_in_session, SALTED, .prepare = make_session},
    {"tpm-sign-encrypted", sign_in_session, ENCRYPTED, .prepare = make_session},
    {"tpm-first-srk", sign_below_srk, .prepare = create_below_srk},
    {"tpm-first-primary", sign_below_primary, .prepare = create_below_primary},
};
static const side_line hmac_lines[] = {{"tpm-sign-salted", sign_in_session, HMAC, .prepare = make_session}};

const side side_esys = {"esys", version, sizeof(esys_side), esys_open, esys_close, SIDE_LINES(lines), &rig_commands};

/* The same with a session that is not salted. */
const side side_esys_hmac = {"esys-hmac",  version, sizeof(esys_side), esys_open, esys_close, SIDE_LINES(hmac_lines),
                             &rig_commands};

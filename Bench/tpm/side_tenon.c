/* SPDX-License-Identifier: Apache-2.0 */
#include "canned.h"
#include "crowd.h"
#include "owned.h"
#include "rig.h"

typedef struct {
    rig *rig;
    const fixture *fixture;
    support_canned *canned; /* what answers in this process for the line without a TPM */
    tenon_key *key;         /* ready */
    /* The same once more, and an AK beside it. */
    tenon_tpm *tpm;
    tenon_tpm_key *certified, *ak;
    crowd *crowd; /* that signs with the key */
    size_t turn;
} tpm_side;

/* Everything from opening the TPM to a key that signs. It keeps its TPM open. */
static tenon_key *open_key(const tenon_tpm_transport *wire, uint32_t session, const rig_file *file)
{
    tenon_tpm_options options = {.size = sizeof options, .session = session};
    OWNED_TPM tpm = NULL;
    OWNED_TPM_KEY loaded = NULL;
    tenon_key *key = NULL;
    bool opens = tenon_tpm_open_transport(&tpm, wire, &options) == TENON_OK &&
                 tenon_tpm_key_load(tpm, &loaded, file->text, file->n, NULL, 0) == TENON_OK &&
                 tenon_tpm_key_open(loaded, &key, TENON_KEY_SIGNS_DIGESTS) == TENON_OK;
    return opens ? key : NULL;
}

/* The first signature makes the session that the next ones use; and it is good, or the bench is worth nothing. */
static bool warm_up(const tpm_side *self)
{
    const tenon_key *key = self->key;
    const tenon_digest *digest = &self->fixture->digests[0];
    tenon_public_key public_key;
    tenon_signature signature;
    return key != NULL && tenon_key_public_key(key, &public_key) == TENON_OK &&
           tenon_key_sign_digest(key, &signature, digest) == TENON_OK &&
           tenon_p256_verify(&public_key, digest, &signature) == TENON_OK;
}

static bool make_key(void *context, size_t session)
{
    tpm_side *self = context;
    self->key = open_key(&self->rig->table, (uint32_t)session, &self->rig->kept);
    return warm_up(self);
}

/* The answers that a key needed over the wire, from its file to its first signature, answer the next one. */
static bool make_host_key(void *context, size_t session)
{
    tpm_side *self = context;
    support_transport *wire = self->rig->wire;
    support_record record;
    const uint64_t before = support_transport_count(wire, SUPPORT_ANY);
    self->canned = support_canned_new();
    if (self->canned == NULL || !make_key(self, session))
        return false;
    for (size_t age = support_transport_count(wire, SUPPORT_ANY) - before; age-- > 0;)
        if (support_transport_record(wire, age, &record))
            support_canned_answer(self->canned, record.code, record.answer, record.answer_n);
    tenon_tpm_transport table = support_canned_table(self->canned);
    tenon_key_free(&self->key);
    self->key = open_key(&table, (uint32_t)session, &self->rig->kept);
    return warm_up(self);
}

static bool attest(void *context, size_t unused)
{
    const tpm_side *self = context;
    const tenon_digest *nonce = &self->fixture->digests[0];
    uint8_t proof[TENON_PROOF_MAX];
    size_t n;
    return tenon_tpm_key_attest(self->certified, self->ak, proof, sizeof proof, &n, nonce->bytes, sizeof nonce->bytes,
                                NULL, 0) == TENON_OK;
}

/* The first proof looks at what the next ones know. */
static bool make_ak(void *context, size_t unused)
{
    tpm_side *self = context;
    const rig_file *file = &self->rig->kept;
    return tenon_tpm_open_transport(&self->tpm, &self->rig->table, NULL) == TENON_OK &&
           tenon_tpm_key_load(self->tpm, &self->certified, file->text, file->n, NULL, 0) == TENON_OK &&
           tenon_tpm_ak_create(self->certified, &self->ak) == TENON_OK && attest(self, 0);
}

static bool sign_in_thread(void *context, size_t unused)
{
    const tpm_side *self = context;
    tenon_signature signature;
    return tenon_key_sign_digest(self->key, &signature, &self->fixture->digests[0]) == TENON_OK;
}

static bool make_crowd(void *context, size_t unused)
{
    tpm_side *self = context;
    void *contexts[CROWD_MAX];
    for (size_t i = 0; i < CROWD_MAX; i++)
        contexts[i] = self;
    self->crowd = crowd_new(sign_in_thread, contexts, 1);
    return self->crowd != NULL && make_key(self, TENON_TPM_SESSION_PASSWORD);
}

static void tpm_close(void *context)
{
    tpm_side *self = context;
    crowd_free(self->crowd);
    tenon_key_free(&self->key);
    tenon_tpm_key_free(&self->ak);
    tenon_tpm_key_free(&self->certified);
    tenon_tpm_free(&self->tpm);
    support_canned_free(self->canned);
    rig_leave(self->rig);
}

static bool tpm_open(void *context, const fixture *made)
{
    tpm_side *self = context;
    self->fixture = made;
    self->rig = rig_share();
    return self->rig != NULL;
}

static bool sign_with(tpm_side *self, const tenon_key *key)
{
    tenon_signature signature;
    return tenon_key_sign_digest(key, &signature, &self->fixture->digests[fixture_next(&self->turn)]) == TENON_OK;
}

static bool sign(void *context, size_t unused)
{
    tpm_side *self = context;
    return sign_with(self, self->key);
}

typedef enum { KEPT, BELOW_SRK, BELOW_PRIMARY } place;

/* What a fresh process does, to its end. */
static bool first(void *context, size_t which)
{
    tpm_side *self = context;
    const rig_file *const files[] = {
        [KEPT] = &self->rig->kept, [BELOW_SRK] = &self->rig->srk, [BELOW_PRIMARY] = &self->rig->primary};
    OWNED_KEY key = open_key(&self->rig->table, TENON_TPM_SESSION_PASSWORD, files[which]);
    return key != NULL && sign_with(self, key);
}

static bool sign_at_once(void *context, size_t threads)
{
    const tpm_side *self = context;
    return crowd_run(self->crowd, threads);
}

static const side_line lines[] = {
    {"tpm-sign", sign, TENON_TPM_SESSION_PASSWORD, .prepare = make_key},
    {"tpm-sign-salted", sign, TENON_TPM_SESSION_SALTED, .prepare = make_key},
    {"tpm-sign-encrypted", sign, TENON_TPM_SESSION_ENCRYPTED, .prepare = make_key},
    {"tpm-sign-host", sign, TENON_TPM_SESSION_PASSWORD, .prepare = make_host_key},
    {"tpm-attest", attest, .prepare = make_ak},
    {"tpm-first-handle", first, KEPT},
    {"tpm-first-srk", first, BELOW_SRK},
    {"tpm-first-primary", first, BELOW_PRIMARY},
    {"tpm-sign-threads-1", sign_at_once, CROWD_ONE, CROWD_ONE, make_crowd},
    {"tpm-sign-threads-4", sign_at_once, CROWD_FOUR, CROWD_FOUR, make_crowd},
    {"tpm-sign-threads-16", sign_at_once, CROWD_MAX, CROWD_MAX, make_crowd},
};

const side side_tpm = {"tenon",   tenon_version_text, sizeof(tpm_side), tpm_open,
                       tpm_close, SIDE_LINES(lines),  &rig_commands};

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPM_RIG_H
#define TPM_RIG_H

#include "endorse.h"
#include "test.h"
#include "test_transport.h"
#include "tpm/keyfile.h"

/* A software TPM, the wire to it, and a handle over that, with which each test of the TPM layer begins. */
typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    tenon_tpm *tpm;
} tpm_rig;

/* A key in the form that its owner keeps. */
typedef struct {
    char text[TENON_TPM_KEY_MAX];
    size_t n;
} tpm_pem;

/* options: NULL, or what tenon_tpm_open_transport is given. A TPM that cannot be started ends the run. */
tpm_rig tpm_rig_start(const tenon_tpm_options *options);

/* The same without a resource manager. */
tpm_rig tpm_rig_bare(const tenon_tpm_options *options);

/* As a fresh process would: another handle over the same wire. The counts begin at 0 again. */
void tpm_rig_again(tpm_rig *rig, const tenon_tpm_options *options);

/* Frees the handle, and checks that nothing is loaded any more and that commands never overlapped. */
void tpm_rig_check_clean(tpm_rig *rig);
void tpm_rig_stop(tpm_rig *rig);

/*
 * At the end of its block a rig is stopped, and nothing may be loaded any more:
 *
 *     OWNED_RIG rig = tpm_rig_start(NULL);
 *     OWNED_TPM_KEY key = tpm_rig_key(&rig, "auth");
 */
#define OWNED_RIG __attribute__((cleanup(tpm_rig_stop))) tpm_rig

/* Tests with such a rig, and with a key that has an empty auth value. */
#define TEST_RIG(test_name) TEST_WITH(test_name, tpm_rig, rig, tpm_rig_start(NULL), tpm_rig_stop)
#define TEST_KEY(test_name)                                                                                            \
    static void test_name##_of(tpm_rig *rig, tenon_tpm_key *key);                                                      \
    TEST_RIG(test_name)                                                                                                \
    {                                                                                                                  \
        OWNED_TPM_KEY key = tpm_rig_key(rig, NULL);                                                                    \
        test_name##_of(rig, key);                                                                                      \
    }                                                                                                                  \
    static void test_name##_of(tpm_rig *rig, tenon_tpm_key *key)

/* With an auth value, NULL for the empty one; an AK beside a key; a key of a file; what signs with it. Never NULL. */
tenon_tpm_key *tpm_rig_key(tpm_rig *rig, const char *auth);
tenon_tpm_key *tpm_rig_ak(tenon_tpm_key *key);
tenon_tpm_key *tpm_rig_loaded(tpm_rig *rig, const tpm_pem *pem);
tenon_key *tpm_rig_view(tenon_tpm_key *key, uint32_t flags);

/* Options that many tests give: sessions of a kind; the owner's auth value, "owner"; hardly any patience. */
extern const tenon_tpm_options tpm_salted, tpm_encrypted, tpm_owner, tpm_hurried;

/* Another program's object at a persistent handle: a child of a storage key, with an auth value or NULL, or such a key
 * itself. */
void tpm_rig_put(const tpm_rig *rig, uint32_t persistent, support_template which, const char *auth);

/* How many wrong auth values the TPM has counted. */
uint32_t tpm_rig_failed_tries(const tpm_rig *rig);

/* Has the transient parent flushed that an earlier operation left; the key is loaded. */
void tpm_rig_without_parent(tenon_tpm_key *key);

/* How many commands a call sends that succeeds. */
#define COMMANDS(rig, call)                                                                                            \
    (support_transport_reset_counts((rig).wire), CHECK_OK(call), support_transport_count((rig).wire, SUPPORT_ANY))

/* Signs a new digest, and checks the signature with the key. */
tenon_status tpm_rig_sign(tenon_tpm_key *key);
tenon_status tpm_rig_sign_flags(tenon_tpm_key *key, uint32_t flags);

/* Made with an empty auth value and exported; the key is freed. */
tpm_pem tpm_rig_make(tpm_rig *rig);
tpm_pem tpm_rig_export(const tenon_tpm_key *key);
tenon_status tpm_rig_load(tpm_rig *rig, tenon_tpm_key **key, const tpm_pem *pem);

/* A key file like that of another tool, its text, and the result of reading a text: zeros if it is refused. */
tenoni_keyfile tpm_rig_keyfile(const support_blob *blob, uint32_t parent);
tpm_pem tpm_rig_write(const tenoni_keyfile *file);
tenon_status tpm_rig_read(tenoni_keyfile *file, const char *text, size_t n);

/* Loads, signs and frees. */
tenon_status tpm_rig_use(tpm_rig *rig, const tpm_pem *pem);

/* The common beginning of many tests; each sets the members that it needs. */
typedef struct {
    tpm_rig rig;
    tenon_tpm_key *key, *ak;
    tpm_pem pem, persistent;
    uint32_t foreign; /* somebody else's object */
} tpm_stage;

/* With a key of this auth value, NULL for the empty one, and an AK beside it; the counts begin at 0 again. */
tpm_stage tpm_stage_start(const tenon_tpm_options *options, const char *auth);
void tpm_stage_stop(tpm_stage *at);
#define OWNED_STAGE __attribute__((cleanup(tpm_stage_stop))) tpm_stage
#define TEST_STAGE(test_name) TEST_WITH(test_name, tpm_stage, at, tpm_stage_start(NULL, NULL), tpm_stage_stop)

/* Operations on which faults are tried: the stage's key is loaded, and new objects are freed. */
tenon_status tpm_stage_create(tpm_stage *at);
tenon_status tpm_stage_sign(tpm_stage *at);
tenon_status tpm_stage_persist(tpm_stage *at);
tenon_status tpm_stage_info(tpm_stage *at);
tenon_status tpm_stage_list(tpm_stage *at);

/* A bit of an answer, and what a command says whose answer has it flipped, twice. */
typedef struct {
    const char *what;
    int32_t at;
    tenon_status status;
} tpm_flip;

/* The answer to this command, of `end` bytes, is refused with each of the flips, and cut at any byte. */
void tpm_stage_check_answers(tpm_stage *at, uint32_t code, size_t end, const tpm_flip *flips, size_t count,
                             tenon_status (*ask)(tpm_stage *at));

/*
 * Ends a fork's child with this code, by executing another program: at a normal end, valgrind would report the parent's
 * objects as leaks.
 */
_Noreturn void tpm_rig_end_child(int code);

/* The category alone; the message says the whole status. */
bool tpm_rig_category(const char *file, int line, const char *call, tenon_status found, int32_t category);
#define CHECK_CATEGORY(call, category) tpm_rig_category(__FILE__, __LINE__, #call, call, category)

/* The TPM's own code of a status, as it stood in the answer. */
#define CHECK_RC(call, category, rc)                                                                                   \
    do {                                                                                                               \
        tenon_status found_ = (call);                                                                                  \
        tpm_rig_category(__FILE__, __LINE__, #call, found_, category);                                                 \
        CHECK_NUMBER(tenon_status_tpm_rc(found_), rc);                                                                 \
    } while (0)

/* ---- With EKs ---- */

/*
 * A TPM whose maker gave it EK certificates: the state that Tests/Scripts/swtpm_state.sh makes in .build/make/swtpm.
 * Its EKs of RSA-2048 (L-1) and P-384 (H-3) are persistent and have certificates in NV; there is none of P-256.
 */
tpm_rig tpm_rig_ek_start(const tenon_tpm_options *options);

#define TEST_EK(test_name) TEST_WITH(test_name, tpm_rig, rig, tpm_rig_ek_start(NULL), tpm_rig_stop)

#define EK_RSA_HANDLE 0x81010001u
#define EK_P384_HANDLE 0x81010016u

/* The NV indices of an EK's certificate and of its template. */
typedef struct {
    const char *name;
    uint32_t kind;
    uint32_t certificate; /* NV indices */
    uint32_t template;
} tpm_ek_place;

extern const tpm_ek_place tpm_ek_places[SUPPORT_EKS];

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

/* A certificate for an EK with this public area, by an authority of the tests' own. */
tpm_certificate tpm_rig_ek_issue(support_ek which, const support_public *area);

/* The same for the EK that the TPM makes of this template, NULL for the TCG's; it is flushed. */
tpm_certificate tpm_rig_ek_certify(const tpm_rig *rig, support_ek which, const support_public *template);

/* The certificates that a service trusts: this authority, and the root of swtpm_state.sh; and the authority between
 * that root and the EKs. */
tpm_certificate tpm_rig_ek_own_root(void);
tpm_certificate tpm_rig_ek_root(void);
tpm_certificate tpm_rig_ek_issuer(void);

/* The verdict of tenon_ek_verify at a service that trusts both signing authorities. */
tenon_ek tpm_rig_ek_read(const tpm_certificate *certificate);

/* A service's credential for an AK; and the same made by the TPM itself, for the EK at a handle. */
tpm_credential tpm_rig_ek_credential(const tpm_certificate *certificate, const tenon_tpm_key *ak,
                                     const tenon_digest *secret);
tpm_credential tpm_rig_ek_credential_of_tpm(tpm_rig *rig, uint32_t ek, const tenon_tpm_key *ak,
                                            const tenon_digest *secret);

/* Opens a credential to a secret of 32 bytes. */
tenon_status tpm_rig_ek_open(tenon_tpm_key *ak, tenon_digest *secret, const tpm_certificate *certificate,
                             const tpm_credential *credential);

/* A key, an AK beside it, and the certificate of this kind out of NV. */
typedef struct {
    tenon_tpm_key *key;
    tenon_tpm_key *ak;
    tpm_certificate certificate;
} tpm_device;

tpm_device tpm_rig_ek_device(tpm_rig *rig, uint32_t kind);
void tpm_rig_ek_free(tpm_device *device);
#define OWNED_DEVICE __attribute__((cleanup(tpm_rig_ek_free))) tpm_device

#endif

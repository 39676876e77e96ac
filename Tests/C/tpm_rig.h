/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPM_RIG_H
#define TPM_RIG_H

#include "tenon/tpm/tpm.h"

#include "admin.h"
#include "test.h"
#include "test_transport.h"

/* A software TPM, the wire to it, and a handle over that: what each test of the TPM layer begins with. */
typedef struct {
    support_swtpm *sw;
    support_transport *wire;
    tenon_tpm *tpm;
} tpm_rig;

/* A key as its owner keeps it. */
typedef struct {
    char text[TENON_TPM_KEY_MAX];
    size_t n;
} tpm_pem;

/* options: NULL, or what tenon_tpm_open_transport is given. A TPM that cannot be started ends the run. */
tpm_rig tpm_rig_start(const tenon_tpm_options *options);

/* As a fresh process would: another handle over the same wire. The counts begin at 0 again. */
void tpm_rig_again(tpm_rig *rig, const tenon_tpm_options *options);

/* Frees the handle, and checks that nothing is loaded any more and that commands never overlapped. */
void tpm_rig_check_clean(tpm_rig *rig);
void tpm_rig_stop(tpm_rig *rig);

/* Signs a digest that no call before had, and checks that the signature is the key's. */
tenon_status tpm_rig_sign(tenon_tpm_key *key);
tenon_status tpm_rig_sign_flags(tenon_tpm_key *key, uint32_t flags);

/* Made with an empty auth value and exported; the key is freed. */
tpm_pem tpm_rig_make(tpm_rig *rig);
tpm_pem tpm_rig_export(const tenon_tpm_key *key);
tenon_status tpm_rig_load(tpm_rig *rig, tenon_tpm_key **key, const tpm_pem *pem);

/* Loads, signs and frees. */
tenon_status tpm_rig_use(tpm_rig *rig, const tpm_pem *pem);

/*
 * Ends a fork's child with this code, by another program: where a process of its own ends, valgrind looks for leaks,
 * and what the parent holds is none.
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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "endorse.h"
#include "test.h"

/* A TPM opens our credentials, for each EK template of the profile, with an AK under the SRK. */

static const char *const names[SUPPORT_EKS] = {"L-1", "L-2", "H-1", "H-2", "H-3"};

static const uint32_t kinds[SUPPORT_EKS] = {TENON_EK_RSA_2048, TENON_EK_P256, TENON_EK_RSA_2048, TENON_EK_P256,
                                            TENON_EK_P384};

typedef struct {
    support_swtpm *sw;
    support_ek which;
    uint32_t ek, ak;
    tenon_ek key;
    support_public ak_area;
} endorsed;

static uint32_t load_ak(endorsed *e)
{
    support_blob blob;
    uint32_t srk;
    uint32_t rc = support_create_primary(e->sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SRK_H2, &srk);
    if (rc == 0)
        rc = support_create(e->sw, srk, SUPPORT_SIGNING_RESTRICTED, NULL, &blob);
    if (rc == 0)
        rc = support_load(e->sw, srk, &blob, &e->ak);
    support_flush(e->sw, srk);
    return rc == 0 ? support_read_public(e->sw, e->ak, &e->ak_area) : rc;
}

static endorsed start(support_ek which)
{
    support_public area;
    endorsed e = {.sw = support_swtpm_start(NULL), .which = which};
    test_about("%s", names[which]);
    if (e.sw == NULL)
        exit(2);
    CHECK_NUMBER(support_ek_create(e.sw, which, &e.ek, &area), 0);
    e.key.kind = kinds[which];
    e.key.key_n = support_ek_key(which, &area, e.key.key);
    CHECK_NUMBER(load_ak(&e), 0);
    CHECK_NUMBER(e.ak_area.name_n, TENON_NAME_SIZE);
    return e;
}

/* Only the two keys are left in the TPM. */
static void stop(endorsed *e)
{
    CHECK_NUMBER(support_transient_count(e->sw), 2);
    CHECK_NUMBER(support_session_count(e->sw), 0);
    support_swtpm_stop(e->sw);
}

static void check_opens(const endorsed *e, size_t n)
{
    uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX], secret[64], out[64];
    size_t credential_n, encrypted_n, out_n;
    uint64_t state = n;
    test_about("%s, %zu bytes", names[e->which], n);
    test_random_fill(&state, secret, sizeof secret);
    CHECK_OK(tenon_credential_make(credential, sizeof credential, &credential_n, encrypted, sizeof encrypted,
                                   &encrypted_n, &e->key, e->ak_area.name, TENON_NAME_SIZE, secret, n));
    CHECK_NUMBER(support_activate(e->sw, e->which, e->ak, e->ek, credential, credential_n, encrypted, encrypted_n, out,
                                  sizeof out, &out_n),
                 0);
    CHECK_SAME(out, out_n, secret, n);
}

/* Many of one length: one ECDH in 128 has a coordinate that begins with zeros. */
TEST(credential_swtpm_opens_it)
{
    size_t rounds = test_rounds(100, 2);
    for (int which = 0; which < SUPPORT_EKS; which++) {
        endorsed e = start((support_ek)which);
        check_opens(&e, 1);
        if (e.key.kind == TENON_EK_P384)
            check_opens(&e, 48);
        for (size_t i = 0; i < (e.key.kind == TENON_EK_RSA_2048 ? 2 : rounds); i++)
            check_opens(&e, TENON_ACTIVATION_SECRET_SIZE);
        stop(&e);
    }
}

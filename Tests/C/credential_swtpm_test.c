/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "endorse.h"
#include "internal/oaep.h"
#include "test.h"

/* What a TPM says to credentials of ours: each EK template of the profile, with an AK under the SRK. */

static const char *const names[SUPPORT_EKS] = {"L-1", "L-2", "H-1", "H-2", "H-3"};

static const uint32_t kinds[SUPPORT_EKS] = {TENON_EK_RSA_2048, TENON_EK_P256, TENON_EK_RSA_2048, TENON_EK_P256,
                                            TENON_EK_P384};

/*
 * TPM_RC_INTEGRITY of the first parameter; TPM_RC_ECC_POINT of the second; and what libtpms says when it finds no
 * padding in a block: TPM_RC_FAILURE, after which it goes on as before.
 */
enum { BAD_CREDENTIAL = 0x1DF, BAD_POINT = 0x2E7, BAD_BLOCK = 0x101 };

typedef struct {
    support_swtpm *sw;
    support_ek which;
    uint32_t ek, ak;
    tenon_ek key;
    support_public ak_area;
} endorsed;

typedef struct {
    uint8_t credential[TENON_CREDENTIAL_MAX], encrypted[TENON_CREDENTIAL_MAX];
    size_t credential_n, encrypted_n;
} made;

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

/* Nothing but the two keys is left in the TPM. */
static void stop(endorsed *e)
{
    CHECK_NUMBER(support_transient_count(e->sw), 2);
    CHECK_NUMBER(support_session_count(e->sw), 0);
    support_swtpm_stop(e->sw);
}

static void make(made *out, const tenon_ek *ek, const uint8_t *name, const uint8_t *secret, size_t n)
{
    memset(out, 0, sizeof *out);
    CHECK_STATUS(tenon_credential_make(out->credential, sizeof out->credential, &out->credential_n, out->encrypted,
                                       sizeof out->encrypted, &out->encrypted_n, ek, name, TENON_NAME_SIZE, secret, n),
                 TENON_OK);
}

static uint32_t activate(const endorsed *e, const made *m, uint8_t *secret, size_t *n)
{
    return support_activate(e->sw, e->which, e->ak, e->ek, m->credential, m->credential_n, m->encrypted, m->encrypted_n,
                            secret, 64, n);
}

static void check_opens(const endorsed *e, size_t n)
{
    uint8_t secret[64], out[64];
    uint64_t state = n;
    size_t out_n;
    made m;
    test_about("%s, %zu bytes", names[e->which], n);
    test_random_fill(&state, secret, sizeof secret);
    make(&m, &e->key, e->ak_area.name, secret, n);
    CHECK_NUMBER(activate(e, &m, out, &out_n), 0);
    CHECK_NUMBER(out_n, n);
    CHECK_BYTES(out, secret, n);
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

static void check_refused(const endorsed *e, const made *m, uint32_t why)
{
    uint8_t out[64] = {0};
    size_t n;
    CHECK_NUMBER(activate(e, m, out, &n), why);
    CHECK_NUMBER(n, 0);
    CHECK_ZERO(out, sizeof out);
}

TEST(credential_swtpm_refuses_another_ek)
{
    static const uint8_t secret[TENON_ACTIVATION_SECRET_SIZE] = {1};
    for (int which = 0; which < SUPPORT_EKS; which++) {
        endorsed e = start((support_ek)which), other = start((support_ek)which);
        made good, foreign, mixed;
        make(&good, &e.key, e.ak_area.name, secret, sizeof secret);
        make(&foreign, &other.key, e.ak_area.name, secret, sizeof secret);
        bool rsa = e.key.kind == TENON_EK_RSA_2048;
        /* A block of another modulus has no padding, or is too large a number; a point has a shared secret always. */
        if (rsa && memcmp(foreign.encrypted + 2, e.key.key, TENONI_RSA_SIZE) > 0)
            foreign.encrypted[2] = 0;
        check_refused(&e, &foreign, rsa ? BAD_BLOCK : BAD_CREDENTIAL);
        mixed = foreign;
        memcpy(mixed.encrypted, good.encrypted, good.encrypted_n);
        check_refused(&e, &mixed, BAD_CREDENTIAL);
        stop(&other);
        stop(&e);
    }
}

TEST(credential_swtpm_refuses_another_name)
{
    static const uint8_t secret[TENON_ACTIVATION_SECRET_SIZE] = {1};
    for (int which = 0; which < SUPPORT_EKS; which++) {
        endorsed e = start((support_ek)which);
        for (size_t at = 2; at < TENON_NAME_SIZE; at += 31) {
            made m;
            e.ak_area.name[at] ^= 0x80;
            make(&m, &e.key, e.ak_area.name, secret, sizeof secret);
            e.ak_area.name[at] ^= 0x80;
            check_refused(&e, &m, BAD_CREDENTIAL);
        }
        stop(&e);
    }
}

/* 0: at a size, where it is a matter of which sizes fit by chance; or where a block may become too large a number. */
static uint32_t code_for(const endorsed *e, bool second, size_t at)
{
    size_t size = e->key.key_n / 2;
    if (!second)
        return at < 4 ? 0 : BAD_CREDENTIAL;
    if (e->key.kind == TENON_EK_RSA_2048)
        return at < 3 ? 0 : BAD_BLOCK;
    return at < 4 || (at >= 4 + size && at < 6 + size) ? 0 : BAD_POINT;
}

static void check_flips(const endorsed *e, const made *good, bool second, size_t step)
{
    size_t n = second ? good->encrypted_n : good->credential_n;
    for (size_t at = 0; at < n; at += at < 8 ? 1 : step) {
        made m = *good;
        uint8_t out[64] = {0};
        size_t out_n;
        (second ? m.encrypted : m.credential)[at] ^= (uint8_t)(1u << at % 8);
        uint32_t rc = activate(e, &m, out, &out_n), expected = code_for(e, second, at);
        test_about("%s, %s, byte %zu", names[e->which], second ? "secret" : "credential", at);
        CHECK(rc != 0 && rc != SUPPORT_RC_NONE);
        CHECK_NUMBER(rc, expected == 0 ? rc : expected);
        CHECK_ZERO(out, sizeof out);
    }
}

TEST(credential_swtpm_refuses_a_flipped_bit)
{
    static const uint8_t secret[TENON_ACTIVATION_SECRET_SIZE] = {1};
    size_t step = test_rounds(100, 1) == 1 ? 16 : 1;
    for (int which = 0; which < SUPPORT_EKS; which++) {
        endorsed e = start((support_ek)which);
        uint8_t out[64];
        size_t n;
        made good;
        make(&good, &e.key, e.ak_area.name, secret, sizeof secret);
        check_flips(&e, &good, false, step);
        check_flips(&e, &good, true, step);
        test_about("%s", names[which]);
        CHECK_NUMBER(activate(&e, &good, out, &n), 0);
        CHECK_BYTES(out, secret, sizeof secret);
        stop(&e);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE 1 /* dup2 */
#include <unistd.h>

#include "tpm_rig.h"

/* The cost and the form of a signature. */

enum { SIGNATURES = 40 };

/* One command each, and no other, however the key is opened. */
TEST(tpm_sign_is_one_command)
{
    static const uint32_t flags[] = {0, TENON_TPM_KEY_LOW_S, TENON_TPM_KEY_VERIFIED,
                                     TENON_TPM_KEY_LOW_S | TENON_TPM_KEY_VERIFIED};
    for (uint32_t session = 0; session <= TENON_TPM_SESSION_ENCRYPTED; session++) {
        tenon_tpm_options options = {.size = sizeof options, .session = session};
        OWNED_RIG rig = tpm_rig_start(&options);
        for (int with_auth = 0; with_auth < 2; with_auth++) {
            OWNED_TPM_KEY key = NULL;
            test_about("session %u, auth %d", (unsigned)session, with_auth);
            CHECK_OK(tenon_tpm_key_create(rig.tpm, &key, (const uint8_t *)"auth", with_auth != 0 ? 4 : 0));
            /* The first has its session to open, and a parent to flush; the second a parent of the session's. */
            CHECK_OK(tpm_rig_sign(key));
            CHECK_OK(tpm_rig_sign(key));
            for (size_t i = 0; i < COUNT(flags); i++) {
                support_transport_reset_counts(rig.wire);
                CHECK_OK(tpm_rig_sign_flags(key, flags[i]));
                CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_CC_SIGN), 1);
                CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 1);
            }
        }
    }
}

/* The attributes, as the TPM itself says them, read past the library. */
TEST(tpm_sign_attributes)
{
    static const uint8_t begins[] = {0, 0x23, 0, 0x0b, 0, 4, 4, 0x72, 0, 0, 0, 0x10, 0, 0x10, 0, 3, 0, 0x10};
    for (int with_auth = 0; with_auth < 2; with_auth++) {
        OWNED_RIG rig = tpm_rig_start(NULL);
        OWNED_TPM_KEY key = NULL;
        uint32_t handle;
        support_public area;
        tenon_public_key point;
        uint8_t name[TENON_NAME_SIZE];
        size_t n;
        CHECK_OK(tenon_tpm_key_create(rig.tpm, &key, (const uint8_t *)"auth", with_auth != 0 ? 4 : 0));
        CHECK_OK(tenon_tpm_key_persist(key, &handle));
        CHECK_NUMBER(support_read_public(rig.sw, handle, &area), 0);
        CHECK_BYTES(area.bytes, begins, sizeof begins);
        CHECK_OK(tenon_tpm_key_public_key(key, &point));
        CHECK_BYTES(area.bytes + sizeof begins + 2, point.bytes, 32);
        CHECK_BYTES(area.bytes + sizeof begins + 2 + 34, point.bytes + 32, 32);
        CHECK_OK(tenon_tpm_key_name(key, name, sizeof name, &n));
        CHECK_SAME(name, n, area.name, area.name_n);
        CHECK_NUMBER(tenon_tpm_key_is_foreign(key), 0);
        CHECK_OK(tenon_tpm_key_evict(key));
    }
}

static bool is_high(const tenon_signature *signature)
{
    tenon_signature low = *signature;
    CHECK_OK(tenon_signature_normalize(&low));
    return memcmp(&low, signature, sizeof low) != 0;
}

/* Without the option half of them are high: forty low ones in a row would be one in 2^40. */
TEST_KEY(tpm_sign_low_s)
{
    tenon_public_key point;
    CHECK_OK(tenon_tpm_key_public_key(key, &point));
    for (uint32_t low = 0; low < 2; low++) {
        size_t high = 0;
        OWNED_KEY view = tpm_rig_view(key, TENON_KEY_SIGNS_DIGESTS | (low != 0 ? TENON_TPM_KEY_LOW_S : 0));
        for (uint8_t i = 0; i < SIGNATURES; i++) {
            tenon_digest digest = {{i}};
            tenon_signature signature;
            CHECK_OK(tenon_key_sign_digest(view, &signature, &digest));
            CHECK_OK(tenon_p256_verify(&point, &digest, &signature));
            high += is_high(&signature);
        }
        CHECK(low != 0 ? high == 0 : high > 0);
    }
}

/* The capability is needed here too, and the key says what it is. */
TEST_KEY(tpm_sign_needs_the_capability)
{
    tenon_digest digest = {{1}};
    tenon_signature signature;
    OWNED_KEY view = tpm_rig_view(key, 0);
    CHECK_STATUS(tenon_key_sign_digest(view, &signature, &digest), TENON_ERROR_DIGEST_NOT_ALLOWED);
    CHECK_OK(tenon_key_sign_client_data(view, &signature, (const uint8_t *)"{\"a\":1}", 7));
    CHECK_NUMBER(tenon_key_is_hardware(view), 1);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_SIGN), 1);
}

/* Nothing is ever written to stderr: not for a busy TPM, a lost one, a wrong key, or a missing node. */
static void do_much(void)
{
    OWNED_RIG rig = tpm_rig_start(NULL);
    tenon_tpm *tpm;
    tenon_tpm_info info;
    tpm_pem pem = tpm_rig_make(&rig);
    CHECK_OK(tenon_tpm_read_info(rig.tpm, &info));
    CHECK_OK(tpm_rig_use(&rig, &pem));
    support_fail_code(rig.wire, support_times(SUPPORT_ANY, 1, 3), 0x922);
    support_fail_before(rig.wire, support_nth(SUPPORT_ANY, 5), TENON_ERROR_TPM_TRANSPORT);
    CHECK_OK(tpm_rig_use(&rig, &pem));
    support_truncate(rig.wire, support_next(SUPPORT_ANY), 5);
    CHECK_STATUS(tpm_rig_use(&rig, &pem), TENON_ERROR_TPM_ANSWER);
    support_flush_all(rig.sw);
    tenon_tpm_key *key = tpm_rig_key(&rig, "auth");
    CHECK_OK(tpm_rig_sign(key));
    CHECK_OK(tenon_tpm_key_persist(key, NULL));
    CHECK_OK(tenon_tpm_key_evict(key));
    tenon_tpm_key_free(&key);
    pem.text[pem.n - 100] ^= 1;
    CHECK(tpm_rig_use(&rig, &pem) != TENON_OK);
    CHECK_STATUS(tenon_tpm_open(&tpm, "device:/nonexistent", 19, NULL), TENON_ERROR_TPM_MISSING);
    CHECK_STATUS(tenon_tpm_open(&tpm, "cmd:x", 5, NULL), TENON_ERROR_TCTI);
    support_swtpm_power_cut(rig.sw);
    CHECK_STATUS(tenon_tpm_read_info(rig.tpm, &info), TENON_ERROR_TPM_MISSING);
    CHECK(support_swtpm_power_on(rig.sw));
}

TEST(tpm_sign_writes_nothing_to_stderr)
{
    FILE *kept = tmpfile();
    char text[200] = "";
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    CHECK(kept != NULL && before >= 0 && dup2(fileno(kept), STDERR_FILENO) == STDERR_FILENO);
    do_much();
    fflush(stderr);
    CHECK_NUMBER(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    rewind(kept);
    size_t n = fread(text, 1, sizeof text - 1, kept);
    text[n] = '\0';
    fclose(kept);
    if (n != 0)
        test_fail(__FILE__, __LINE__, "stderr holds: %s", text);
}

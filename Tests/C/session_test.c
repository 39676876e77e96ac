/* SPDX-License-Identifier: Apache-2.0 */
#include "session_side.h"
#include "test.h"

/* Checklist C3: the numbers in names are its lines. Line 7 is in session_side_test.c, 6 holds by having no function for
 * it, 1 is about who sends the commands. */
enum { N = SIDE_SIZE, PARAMETERS = SIDE_PARAMETERS, ENTRY = TENONI_SESSION_ENTRY_SIZE };

static const side_fault none;

TEST(session_c3_2_3_4_bad_answers_end_it)
{
    static const side_fault faults[] = {
        {.what = "another response code", .rc = 0x922},
        {.what = "another command code", .code_bits = 1},
        {.what = "nonces in the other order", .nonces_swapped = true},
        {.what = "the last nonceTPM again", .nonce_same = true},
        {.what = "without the auth value", .other_auth = true},
        {.what = "hash of the decrypted parameters", .hashed_plain = true},
        {.what = "continueSession clear", .attributes_bits = 0x01},
        {.what = "decrypt clear", .attributes_bits = 0x20},
        {.what = "encrypt clear", .attributes_bits = 0x40},
        {.what = "audit set", .attributes_bits = 0x80},
        {.what = "auditExclusive set", .attributes_bits = 0x02},
        {.what = "nonceTPM of 16 bytes", .nonce_n = 16},
        {.what = "nonceTPM of 31 bytes", .nonce_n = 31},
        {.what = "HMAC of 31 bytes", .hmac_n = 31},
        {.what = "HMAC of 1 byte", .hmac_n = 1},
    };
    scene of;
    for (size_t i = 0; i < COUNT(faults); i++) {
        test_about("%s", faults[i].what);
        scene_open(&of, true);
        CHECK(scene_send(&of));
        side_message entry = scene_answer(&of, &faults[i]);
        scene_check_refused(&of, &entry);
    }
}

/* No bit of the entry or of the parameters may change, and nothing may be missing: each is tried. */
TEST(session_c3_2_every_bit_counts)
{
    scene fresh, of;
    scene_open(&fresh, true);
    CHECK(scene_send(&fresh));
    side_message good = scene_answer(&fresh, &none);
    for (size_t bit = 0; bit < 8 * good.n; bit++) {
        side_message entry = good;
        test_about("bit %zu of the entry", bit);
        of = fresh;
        entry.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        scene_check_refused(&of, &entry);
    }
    for (size_t bit = 0; bit < 8 * PARAMETERS; bit++) {
        test_about("bit %zu of the parameters", bit);
        of = fresh;
        of.answer[bit / 8] ^= (uint8_t)(1 << bit % 8);
        scene_check_refused(&of, &good);
    }
    for (size_t n = 0; n < good.n; n++) {
        side_message entry = {.n = n};
        test_about("%zu bytes of the entry", n);
        of = fresh;
        memcpy(entry.bytes, good.bytes, n);
        scene_check_refused(&of, &entry);
    }
    CHECK_OK(scene_receive(&fresh, &good));
    CHECK_BYTES(fresh.answer, fresh.answer_plain, PARAMETERS);
    test_about("the same answer again");
    scene_check_refused(&fresh, &good);
}

/* What a TPM answers to a password: no nonce, no HMAC. */
TEST(session_c3_2_an_empty_entry_is_refused)
{
    scene of;
    side_message entry = {.bytes = {0, 0, 0x01, 0, 0}, .n = 5};
    scene_open(&of, true);
    CHECK(scene_send(&of));
    scene_answer(&of, &none);
    scene_check_refused(&of, &entry);
}

TEST(session_c3_3_ends_when_it_is_not_continued)
{
    scene of;
    scene_open(&of, true);
    of.use.attributes = TENONI_SESSION_ENCRYPT;
    CHECK(scene_send(&of));
    side_message entry = scene_answer(&of, &none);
    CHECK_OK(scene_receive(&of, &entry));
    CHECK_BYTES(of.answer, of.answer_plain, PARAMETERS);
    scene_check_over(&of, 0); /* the TPM has closed it: there is nothing to flush */
}

TEST(session_c3_4_nonces_are_fresh)
{
    enum { ROUNDS = 100 };
    static uint8_t seen[ROUNDS][N];
    scene of;
    scene_open(&of, false);
    of.use.attributes = TENONI_SESSION_CONTINUE;
    for (size_t i = 0; i < ROUNDS; i++) {
        CHECK(scene_send(&of)); /* a refusal of the TPM between two of them changes nothing */
        memcpy(seen[i], of.tpm.nonce_caller, N);
        for (size_t j = 0; j < i; j++)
            CHECK(memcmp(seen[i], seen[j], N) != 0);
    }
}

TEST(session_c3_5_names_code_and_parameters_are_authorised)
{
    scene of;
    uint8_t entry[ENTRY];
    scene_open(&of, false);
    of.use.attributes = TENONI_SESSION_CONTINUE;
    tenoni_session_use other = of.use;
    const tenoni_part swapped[] = {scene_names[1], scene_names[0]};
    for (int i = 0; i < 5; i++) {
        tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
        tenoni_session_use taken = other;
        test_about("case %d", i);
        scene_fill(&of, of.parameters, of.plain);
        CHECK_OK(tenoni_session_authorise(&of.session, &writer, &of.use, of.parameters, PARAMETERS));
        taken.names = i == 1 ? swapped : scene_names;
        taken.names_count = i == 2 ? 1 : 2;
        taken.code ^= i == 3 ? 1 : 0;
        of.parameters[PARAMETERS - 1] ^= i == 4 ? 1 : 0;
        CHECK(side_take(&of.tpm, entry, &taken, of.parameters, PARAMETERS) == (i == 0));
    }
}

TEST(session_c3_8_ends)
{
    scene of;
    scene_open(&of, true);
    CHECK(scene_send(&of));
    tenoni_session_end(&of.session);
    scene_check_over(&of, SIDE_HANDLE);
}

TEST(session_c3_9_encrypts_what_it_can_only)
{
    static const struct {
        uint8_t attributes, size[2];
        size_t n;
        bool encrypts;
    } cases[] = {{0x21, {0, 40}, 41, true}, {0x21, {0xff, 0xff}, 60, true}, {0x21, {0, 0}, 1, true},
                 {0x21, {0, 0}, 0, true},   {0x21, {0, 40}, 60, false},     {0x41, {0, 40}, 60, false},
                 {0x81, {0, 40}, 60, true}, {0x03, {0, 40}, 60, true},      {0x11, {0, 40}, 60, true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        scene of;
        uint8_t entry[ENTRY];
        tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
        test_about("case %zu", i);
        scene_open(&of, cases[i].encrypts);
        scene_fill(&of, of.parameters, of.plain);
        memcpy(of.parameters, cases[i].size, 2);
        of.use.attributes = cases[i].attributes;
        CHECK_STATUS(tenoni_session_authorise(&of.session, &writer, &of.use, of.parameters, cases[i].n),
                     TENON_ERROR_FLAGS);
        CHECK_BYTES(of.parameters + 2, of.plain + 2, PARAMETERS - 2);
        CHECK_NUMBER(writer.used, 0);
        scene_check_over(&of, SIDE_HANDLE);
    }
}

/* The HMAC is good, and what should be encrypted is not a TPM2B. */
TEST(session_c3_9_decrypts_what_it_can_only)
{
    scene of;
    scene_open(&of, true);
    of.use.attributes = 0x01;
    CHECK(scene_send(&of));
    of.session.attributes = of.tpm.attributes = 0x41;
    scene_fill(&of, of.answer, of.answer_plain);
    side_message rp = {.n = 0}, about = {.n = N}, entry = {.n = 0}, value = side_value(&of.tpm, of.use.auth);
    of.answer[0] = 0xff;
    test_random_fill(&of.tpm.random, of.tpm.nonce_tpm, N);
    side_put_number(&rp, 0, 4);
    side_put_number(&rp, SIDE_CODE, 4);
    side_put(&rp, of.answer, PARAMETERS);
    side_hash(about.bytes, &rp);
    side_put(&about, of.tpm.nonce_tpm, N);
    side_put(&about, of.tpm.nonce_caller, N);
    side_put_number(&about, 0x41, 1);
    side_put_number(&entry, N, 2);
    side_put(&entry, of.tpm.nonce_tpm, N);
    side_put_number(&entry, 0x41, 1);
    side_put_number(&entry, N, 2);
    side_mac(entry.bytes + entry.n, &value, &about);
    entry.n += N;
    scene_check_refused(&of, &entry);
}

TEST(session_c3_10_auth_values)
{
    static const uint8_t zeros[40] = "some auth";
    scene of;
    scene_open(&of, true);
    for (size_t n = 9; n <= 32; n++) {
        uint8_t entry[ENTRY];
        tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
        test_about("%zu zeros", n - 9);
        scene_fill(&of, of.parameters, of.plain);
        of.use.auth = (tenoni_part){zeros, n};
        CHECK_OK(tenoni_session_authorise(&of.session, &writer, &of.use, of.parameters, PARAMETERS));
        of.use.auth.n = 9;
        CHECK(side_take(&of.tpm, entry, &of.use, of.parameters, PARAMETERS));
        CHECK_BYTES(of.parameters, of.plain, PARAMETERS);
    }
    of.use.auth = (tenoni_part){zeros, 33};
    uint8_t entry[ENTRY];
    tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
    CHECK_STATUS(tenoni_session_authorise(&of.session, &writer, &of.use, of.parameters, PARAMETERS),
                 TENON_ERROR_AUTH_VALUE);
    CHECK_NUMBER(writer.used, 0);
    scene_check_over(&of, SIDE_HANDLE);
}

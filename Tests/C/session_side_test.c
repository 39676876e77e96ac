/* SPDX-License-Identifier: Apache-2.0 */
#include "session_side.h"

#include "crypto/p256.h"
#include "crypto/protection.h"
#include "test.h"

enum { N = SIDE_SIZE, PARAMETERS = SIDE_PARAMETERS, ENTRY = 4 + 2 + N + 1 + 2 + N };

static const uint8_t first_name[34] = {0x00, 0x0b, 1}, second_name[34] = {0x00, 0x0b, 2};
const tenoni_part scene_names[] = {{first_name, sizeof first_name}, {second_name, sizeof second_name}};
static const uint8_t auth_value[] = "an auth value of 32 bytes, whole";

void side_put(side_message *to, const void *bytes, size_t n)
{
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

void side_put_number(side_message *to, uint32_t number, size_t n)
{
    for (size_t i = n; i-- > 0;)
        to->bytes[to->n++] = (uint8_t)(number >> 8 * i);
}

void side_hash(uint8_t *out, const side_message *of)
{
    tenon_digest digest;
    CHECK_OK(tenon_sha256(&digest, of->bytes, of->n));
    memcpy(out, digest.bytes, N);
}

void side_mac(uint8_t *out, const side_message *key, const side_message *of)
{
    tenon_digest digest;
    CHECK_OK(tenoni_hmac(&digest, key->bytes, key->n, &(tenoni_part){of->bytes, of->n}, 1));
    memcpy(out, digest.bytes, N);
}

/* KDFa of 256 bits. */
static void derive(uint8_t *out, const side_message *key, const char *label, const uint8_t *u, const uint8_t *v)
{
    side_message of = {.n = 0};
    side_put_number(&of, 1, 4);
    side_put(&of, label, strlen(label) + 1);
    side_put(&of, u, N);
    side_put(&of, v, N);
    side_put_number(&of, 256, 4);
    side_mac(out, key, &of);
}

side_message side_value(const side_tpm *tpm, tenoni_part auth)
{
    side_message value = {.n = 0};
    side_put(&value, tpm->key, N);
    if (auth.n != 0)
        side_put(&value, auth.bytes, auth.n);
    return value;
}

void side_init(side_tpm *tpm, uint64_t seed)
{
    tenoni_signer *signer = NULL;
    memset(tpm, 0, sizeof *tpm);
    tpm->random = seed;
    test_random_fill(&tpm->random, tpm->scalar, N);
    tpm->scalar[0] = 0;
    CHECK_OK(tenoni_signer_new(&signer, &tpm->point, tpm->scalar));
    tenoni_signer_free(signer);
}

void side_start(side_tpm *tpm, const side_message *parameters, bool encrypts)
{
    static const uint8_t size_of_nonce[] = {0, N}, size_of_point[] = {0, 68, 0, N};
    static const uint8_t plain[] = {0, 0, 0x10, 0, 0x0b}, aes[] = {0, 0, 6, 0, 128, 0, 0x43, 0, 0x0b};
    const uint8_t *at = parameters->bytes, *point = at + 2 + N + 4, *end = point + N + 2 + N;
    side_message of = {.n = 0}, salt = {.n = N};
    uint8_t z[N];
    CHECK_NUMBER(parameters->n, (size_t)(end - at) + (encrypts ? sizeof aes : sizeof plain));
    CHECK_BYTES(at, size_of_nonce, sizeof size_of_nonce);
    CHECK_BYTES(at + 2 + N, size_of_point, sizeof size_of_point);
    CHECK_BYTES(point + N, size_of_nonce, sizeof size_of_nonce);
    CHECK_BYTES(end, encrypts ? aes : plain, encrypts ? sizeof aes : sizeof plain);
    memcpy(tpm->nonce_caller, at + 2, N);
    tenon_public_key ephemeral;
    memcpy(ephemeral.bytes, point, N);
    memcpy(ephemeral.bytes + N, point + N + 2, N);
    CHECK_OK(tenoni_p256_agree(z, tpm->scalar, &ephemeral));
    side_put_number(&of, 1, 4);
    side_put(&of, z, N);
    side_put(&of, "SECRET", 7);
    side_put(&of, point, N);
    side_put(&of, tpm->point.bytes, N);
    side_hash(salt.bytes, &of);
    test_random_fill(&tpm->random, tpm->nonce_tpm, N);
    derive(tpm->key, &salt, "ATH", tpm->nonce_tpm, tpm->nonce_caller);
}

static void tpm_cipher(const side_tpm *tpm, tenoni_part auth, bool answer, uint8_t *parameters)
{
    side_message value = side_value(tpm, auth);
    uint8_t key[N];
    size_t n = (size_t)parameters[0] << 8 | parameters[1];
    derive(key, &value, "CFB", answer ? tpm->nonce_tpm : tpm->nonce_caller,
           answer ? tpm->nonce_caller : tpm->nonce_tpm);
    CHECK_OK((answer ? tenoni_cfb_encrypt : tenoni_cfb_decrypt)(parameters + 2, n, key, 16, key + 16));
}

bool side_take(side_tpm *tpm, const uint8_t *entry, const tenoni_session_use *use, uint8_t *parameters, size_t n)
{
    static const uint8_t head[] = {0x02, 0, 0, 3, 0, N};
    side_message of = {.n = 0}, cp = {.n = 0}, value = side_value(tpm, use->auth);
    uint8_t expected[N];
    CHECK_BYTES(entry, head, sizeof head);
    CHECK_BYTES(entry + ENTRY - N - 2, head + 4, 2);
    memcpy(tpm->nonce_caller, entry + 6, N);
    tpm->attributes = entry[6 + N];
    side_put_number(&cp, use->code, 4);
    for (size_t i = 0; i < use->names_count; i++)
        side_put(&cp, use->names[i].bytes, use->names[i].n);
    side_put(&cp, parameters, n);
    side_hash(of.bytes, &cp);
    of.n = N;
    side_put(&of, tpm->nonce_caller, N);
    side_put(&of, tpm->nonce_tpm, N);
    side_put_number(&of, tpm->attributes, 1);
    side_mac(expected, &value, &of);
    if (memcmp(expected, entry + ENTRY - N, N) != 0)
        return false;
    if ((tpm->attributes & 0x20) != 0)
        tpm_cipher(tpm, use->auth, false, parameters);
    return true;
}

side_message side_answer(side_tpm *tpm, const side_fault *fault, const tenoni_session_use *use, uint8_t *parameters,
                         size_t n)
{
    side_message rp = {.n = 0}, about = {.n = N}, entry = {.n = 0};
    tenoni_part auth = fault->other_auth ? (tenoni_part){NULL, 0} : use->auth;
    side_message value = side_value(tpm, auth);
    uint8_t hmac[N] = {0}, attributes = tpm->attributes ^ fault->attributes_bits;
    size_t nonce_n = fault->nonce_n != 0 ? fault->nonce_n : N, hmac_n = fault->hmac_n != 0 ? fault->hmac_n : N;
    if (!fault->nonce_same)
        test_random_fill(&tpm->random, tpm->nonce_tpm, N);
    side_put_number(&rp, fault->rc, 4);
    side_put_number(&rp, use->code ^ fault->code_bits, 4);
    if (fault->hashed_plain)
        side_put(&rp, parameters, n);
    if ((tpm->attributes & 0x40) != 0)
        tpm_cipher(tpm, use->auth, true, parameters);
    if (!fault->hashed_plain)
        side_put(&rp, parameters, n);
    side_hash(about.bytes, &rp);
    side_put(&about, fault->nonces_swapped ? tpm->nonce_caller : tpm->nonce_tpm, nonce_n);
    side_put(&about, fault->nonces_swapped ? tpm->nonce_tpm : tpm->nonce_caller, N);
    side_put_number(&about, attributes, 1);
    side_mac(hmac, &value, &about);
    side_put_number(&entry, (uint32_t)nonce_n, 2);
    side_put(&entry, tpm->nonce_tpm, nonce_n);
    side_put_number(&entry, attributes, 1);
    side_put_number(&entry, (uint32_t)hmac_n, 2);
    side_put(&entry, hmac, hmac_n);
    return entry;
}

void scene_open(scene *of, bool encrypts)
{
    static uint64_t seed = 1;
    side_message parameters = {.n = 0}, answer = {.n = 0};
    memset(of, 0, sizeof *of);
    side_init(&of->tpm, seed++);
    tenoni_writer writer = tenoni_writer_over(parameters.bytes, TENONI_SESSION_START_SIZE);
    CHECK_OK(tenoni_session_start(&of->session, &writer, &of->tpm.point, encrypts));
    CHECK(!writer.overflowed);
    parameters.n = writer.used;
    side_start(&of->tpm, &parameters, encrypts);
    side_put_number(&answer, N, 2);
    side_put(&answer, of->tpm.nonce_tpm, N);
    tenoni_reader reader = tenoni_reader_over(answer.bytes, answer.n);
    CHECK_OK(tenoni_session_started(&of->session, SIDE_HANDLE, &reader));
    of->use = (tenoni_session_use){.code = SIDE_CODE, .attributes = 0x61, .names = scene_names, .names_count = 2};
    of->use.auth = (tenoni_part){auth_value, N};
}

void scene_fill(scene *of, uint8_t *parameters, uint8_t *copy)
{
    test_random_fill(&of->tpm.random, parameters, PARAMETERS);
    parameters[0] = 0;
    parameters[1] = 40;
    memcpy(copy, parameters, PARAMETERS);
}

bool scene_send(scene *of)
{
    uint8_t entry[ENTRY];
    tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
    scene_fill(of, of->parameters, of->plain);
    CHECK_OK(tenoni_session_authorise(&of->session, &writer, &of->use, of->parameters, PARAMETERS));
    CHECK(writer.used == ENTRY && !writer.overflowed);
    bool encrypted = (of->use.attributes & TENONI_SESSION_DECRYPT) != 0;
    CHECK((memcmp(of->parameters + 2, of->plain + 2, 40) != 0) == encrypted);
    CHECK_BYTES(of->parameters, of->plain, 2);
    CHECK_BYTES(of->parameters + 42, of->plain + 42, PARAMETERS - 42);
    return side_take(&of->tpm, entry, &of->use, of->parameters, PARAMETERS);
}

tenon_status scene_receive(scene *of, const side_message *entry)
{
    tenoni_reader reader = tenoni_reader_over(entry->bytes, entry->n);
    return tenoni_session_check(&of->session, &reader, &of->use, of->answer, PARAMETERS);
}

side_message scene_answer(scene *of, const side_fault *fault)
{
    scene_fill(of, of->answer, of->answer_plain);
    return side_answer(&of->tpm, fault, &of->use, of->answer, PARAMETERS);
}

void scene_check_over(scene *of, uint32_t handle)
{
    tenoni_session rest = of->session;
    CHECK_NUMBER(rest.handle, handle);
    rest.handle = 0;
    CHECK_ZERO(&rest, sizeof rest);
    uint8_t entry[ENTRY];
    tenoni_writer writer = tenoni_writer_over(entry, sizeof entry);
    CHECK_STATUS(tenoni_session_authorise(&of->session, &writer, &of->use, of->parameters, PARAMETERS),
                 TENON_ERROR_SESSION);
    CHECK_NUMBER(writer.used, 0);
    /* The answer of a TPM that knows the key of a wiped session. */
    scene other = {.tpm = {.random = 5}, .session = of->session, .use = of->use};
    side_message entry_of_zeros = scene_answer(&other, &(side_fault){0});
    CHECK_STATUS(scene_receive(&other, &entry_of_zeros), TENON_ERROR_SESSION);
}

void scene_check_refused(scene *of, const side_message *entry)
{
    uint8_t before[PARAMETERS];
    memcpy(before, of->answer, PARAMETERS);
    CHECK_STATUS(scene_receive(of, entry), TENON_ERROR_SESSION);
    CHECK_BYTES(of->answer, before, PARAMETERS);
    scene_check_over(of, SIDE_HANDLE);
}

TEST(session_c3_both_sides_agree)
{
    static const uint8_t attributes[] = {0x01, 0x21, 0x41, 0x61};
    scene of;
    for (size_t i = 0; i < 64; i += test_rounds(1, 8)) {
        scene_open(&of, true);
        test_about("session %zu", i);
        for (size_t j = 0; j < sizeof attributes; j++) {
            of.use.attributes = attributes[j];
            of.use.code = SIDE_CODE + (uint32_t)j;
            of.use.names_count = j % 3;
            of.use.auth.n = i % 33;
            CHECK(scene_send(&of));
            CHECK_BYTES(of.parameters, of.plain, PARAMETERS);
            side_message entry = scene_answer(&of, &(side_fault){0});
            side_put_number(&entry, 0xee, 1); /* of another session: not ours to read */
            tenoni_reader reader = tenoni_reader_over(entry.bytes, entry.n);
            CHECK_OK(tenoni_session_check(&of.session, &reader, &of.use, of.answer, PARAMETERS));
            CHECK_NUMBER(reader.left, 1);
            CHECK_BYTES(of.answer, of.answer_plain, PARAMETERS);
        }
    }
}

/* The x of this key begins with a zero; its private half is 379. */
TEST(session_c3_7_salts_with_leading_zeros)
{
    uint8_t ephemerals[8][N];
    side_tpm tpm = {.scalar = {[30] = 0x01, [31] = 0x7b}, .random = 7};
    test_hex(tpm.point.bytes, sizeof tpm.point.bytes,
             "005543894af3d00ed7d740abdbd75c96b06877b787db5f70eea78b90a8d7c00a"
             "bb4c85a3d8ea29efaafa24406912dd84d5b14dc32bf656ef6c6bd58a5d943f92");
    for (size_t i = 0; i < 8; i++) {
        side_message parameters = {.n = 0}, answer = {.n = 0};
        tenoni_session session;
        tenoni_writer writer = tenoni_writer_over(parameters.bytes, sizeof parameters.bytes);
        CHECK_OK(tenoni_session_start(&session, &writer, &tpm.point, false));
        parameters.n = writer.used;
        side_start(&tpm, &parameters, false);
        side_put_number(&answer, N, 2);
        side_put(&answer, tpm.nonce_tpm, N);
        tenoni_reader reader = tenoni_reader_over(answer.bytes, answer.n);
        CHECK_OK(tenoni_session_started(&session, SIDE_HANDLE, &reader));
        CHECK_BYTES(session.key, tpm.key, N);
        memcpy(ephemerals[i], parameters.bytes + 2 + N + 4, N);
        for (size_t j = 0; j < i; j++)
            CHECK(memcmp(ephemerals[i], ephemerals[j], N) != 0);
    }
}

TEST(session_c3_7_salts_to_points_of_the_curve_only)
{
    tenoni_session session;
    side_tpm tpm;
    uint8_t parameters[TENONI_SESSION_START_SIZE];
    side_init(&tpm, 3);
    tenoni_writer writer = tenoni_writer_over(parameters, sizeof parameters);
    tpm.point.bytes[63] ^= 1;
    CHECK_CLEARS(tenoni_session_start(&session, &writer, &tpm.point, true), TENON_ERROR_POINT_OFF_CURVE, &session);
    memset(tpm.point.bytes, 0xff, N);
    CHECK_CLEARS(tenoni_session_start(&session, &writer, &tpm.point, true), TENON_ERROR_POINT_RANGE, &session);
    CHECK_NUMBER(writer.used, 0);
}

TEST(session_c3_4_answers_to_its_start)
{
    side_tpm tpm;
    side_init(&tpm, 4);
    for (size_t n = 0; n <= 36; n += test_rounds(1, 17))
        for (uint32_t i = 0; i < 8; i++) {
            uint8_t parameters[TENONI_SESSION_START_SIZE], answer[64] = {0};
            tenoni_session session;
            uint32_t type = i / 2;
            answer[1] = i % 2 == 0 || n < 2 ? N : (uint8_t)(n - 2);
            tenoni_writer writer = tenoni_writer_over(parameters, sizeof parameters);
            tenoni_reader reader = tenoni_reader_over(answer, n);
            test_about("%zu bytes that say %u, handle of type %u", n, answer[1], type);
            CHECK_OK(tenoni_session_start(&session, &writer, &tpm.point, true));
            bool good = n == 34 && type == 2;
            CHECK_STATUS(tenoni_session_started(&session, type << 24, &reader),
                         good ? TENON_OK : TENON_ERROR_TPM_ANSWER);
            CHECK(session.state == (good ? TENONI_SESSION_LIVE : TENONI_SESSION_OVER));
            CHECK_NUMBER(session.handle, type == 2 ? type << 24 : 0);
            CHECK_STATUS(tenoni_session_started(&session, SIDE_HANDLE, &reader), TENON_ERROR_SESSION);
        }
}

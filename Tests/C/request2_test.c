/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/request2.h"
#include "batch/signed2.h"
#include "batch_rig.h"

/* ---- Tests/Vectors/batch.txt: whole requests ---- */

typedef struct {
    tenon_request2 request;
    const char *name, *base, *input, *signature;
    size_t size, index;
} whole;

static void take(whole *w, const char *name, char *value)
{
    tenon_request2 *request = &w->request;
    const tenon_text text = {value, strlen(value)};
    const struct {
        const char *name;
        tenon_text *place;
    } texts[] = {{"Method", &request->method},
                 {"Authority", &request->authority},
                 {"Path", &request->path},
                 {"Query", &request->query},
                 {"ContentType", &request->content_type},
                 {"ContentEncoding", &request->content_encoding},
                 {"App", &request->app_id},
                 {"Device", &request->device_id}};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strcmp(texts[i].name, name) == 0)
            *texts[i].place = text;
    if (strcmp(name, "Name") == 0)
        w->name = value;
    else if (strcmp(name, "Form") == 0)
        request->form = strcmp(value, "plain") == 0 ? TENON_FORM_PLAIN : TENON_FORM_BATCH;
    else if (strcmp(name, "Created") == 0)
        request->created = strtoull(value, NULL, 10);
    else if (strcmp(name, "Expires") == 0)
        request->expires = strtoull(value, NULL, 10);
    else if (strcmp(name, "Size") == 0)
        w->size = strtoul(value, NULL, 10);
    else if (strcmp(name, "Index") == 0)
        w->index = strtoul(value, NULL, 10);
    else if (strcmp(name, "Base") == 0)
        w->base = value;
    else if (strcmp(name, "Input") == 0)
        w->input = value;
    else if (strcmp(name, "Signature") == 0)
        w->signature = value;
}

static void take_content(whole *w, const char *hex, const char *expected)
{
    char text[TENON_CONTENT_DIGEST_SIZE];
    size_t n;
    OWNED uint8_t *content = test_hex_all(hex, &n);
    CHECK_OK(tenon_sha256(&w->request.content, content, n));
    CHECK_OK(tenon_content_digest(text, sizeof text, &n, &w->request.content));
    CHECK_SAME(text, n, expected, strlen(expected));
}

static void check_digest(const whole *w, tenon_digest *digest)
{
    char text[TENON_SIGNATURE_INPUT_MAX];
    tenon_digest expected, both;
    size_t n;
    OWNED uint8_t *base = test_hex_all(w->base, &n);
    CHECK_OK(tenon_sha256(&expected, base, n));
    CHECK_OK(tenon_request2_digest(digest, &w->request));
    CHECK_BYTES(digest, &expected, sizeof expected);
    CHECK_OK(tenon_request2_input(text, sizeof text, &n, &both, &w->request));
    CHECK_SAME(text, n, w->input, strlen(w->input));
    CHECK_BYTES(&both, digest, sizeof both);
}

static void sign_as_said(batch_rig *rig, const whole *w, const tenon_digest *digest, char *text, size_t *n)
{
    tenon_signature signature;
    size_t index;
    if (w->request.form == TENON_FORM_PLAIN) {
        CHECK_OK(tenon_key_sign_request2(rig->key, &signature, &w->request));
        CHECK_OK(tenon_signature2(text, TENON_SIGNATURE_VALUE_MAX, n, &signature));
        return;
    }
    tenon_batch_clear(rig->batch);
    for (size_t i = 0; i < w->size; i++) {
        tenon_digest other;
        batch_rig_digest(&other, i);
        CHECK_OK(tenon_batch_add(rig->batch, &index, i == w->index ? digest : &other));
    }
    CHECK_OK(tenon_key_sign_batch(rig->key, rig->batch));
    CHECK_OK(tenon_batch_signature(rig->batch, text, TENON_SIGNATURE_VALUE_MAX, n, w->index));
}

static void check_verifies(const batch_rig *rig, const whole *w, const tenon_digest *digest)
{
    tenon_signed2 signed2;
    tenon_root root;
    CHECK_OK(tenon_signed2_read(&signed2, w->input, strlen(w->input), w->signature, strlen(w->signature)));
    CHECK_NUMBER(signed2.form, w->request.form);
    CHECK_NUMBER(signed2.created, w->request.created);
    CHECK_NUMBER(signed2.expires, w->request.expires);
    CHECK_NUMBER(signed2.size, w->size);
    CHECK_NUMBER(signed2.index, w->index);
    CHECK_NUMBER(signed2.covers, (w->request.content_type.text != NULL ? TENON_COVERS_CONTENT_TYPE : 0) |
                                     (w->request.content_encoding.text != NULL ? TENON_COVERS_CONTENT_ENCODING : 0));
    CHECK_BYTES(signed2.nonce, w->request.nonce.text, sizeof signed2.nonce);
    CHECK_BYTES(signed2.keyid, rig->keyid, sizeof signed2.keyid);
    CHECK_BYTES(&signed2.thumbprint, &rig->thumbprint, sizeof signed2.thumbprint);
    tenon_request2 received = w->request;
    tenon_digest again;
    received.nonce = received.keyid = (tenon_text){NULL, 0};
    received.created = received.expires = received.form = 0;
    CHECK_OK(tenon_signed2_digest(&signed2, &again, &received));
    CHECK_BYTES(&again, digest, sizeof again);
    CHECK_OK(tenon_signed2_root(&signed2, &root, digest));
    CHECK_OK(tenon_root_verify(rig->verifier, &root));
}

TEST_BATCH(request2_vectors)
{
    char *text = test_vectors("batch.txt"), *at = text, *name, *value;
    const char *content = NULL;
    char made[TENON_SIGNATURE_VALUE_MAX];
    size_t n, count = 0;
    whole w;
    while (test_line(&at, &name, &value)) {
        if (strcmp(name, "[request]") == 0)
            w = (whole){.request = {.nonce = TEXT("d8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d"),
                                    .keyid = {rig->keyid, sizeof rig->keyid}}};
        take(&w, name, value);
        if (strcmp(name, "ContentDigest") == 0)
            content = value;
        if (strcmp(name, "Content") == 0)
            take_content(&w, value, content);
        if (strcmp(name, "Signature") != 0)
            continue;
        tenon_digest digest;
        test_about("%s, form %u", w.name, w.request.form);
        check_digest(&w, &digest);
        sign_as_said(rig, &w, &digest, made, &n);
        CHECK_SAME(made, n, w.signature, strlen(w.signature));
        check_verifies(rig, &w, &digest);
        count++;
    }
    CHECK_NUMBER(count, 15);
    free(text);
}

/* What the headers cost: plain, alone, and in a batch of 1,024. */
TEST_BATCH(request2_header_bytes)
{
    static const char names[] = "X-App-ID: \r\nX-Device-ID: \r\nX-Synheart-Sig-Version: 2\r\nContent-Digest: \r\n"
                                "Signature-Input: \r\nSignature: \r\n";
    char input[TENON_SIGNATURE_INPUT_MAX];
    size_t input_n;
    const tenon_request2 request = batch_rig_request(rig, TENON_FORM_BATCH);
    CHECK_OK(tenon_request2_input(input, sizeof input, &input_n, NULL, &request));
    const size_t without = sizeof names - 1 + request.app_id.n + request.device_id.n + TENON_CONTENT_DIGEST_SIZE;
    const size_t plain = without + input_n - strlen("-batch") + strlen("tenon=::") + 88;
    const size_t batch = without + input_n + strlen("tenon=::") + (TENONI_MEMBER_MAX + 2) / 3 * 4;
    CHECK(plain <= 560);
    CHECK(batch <= 1000);
    if (getenv("TENON_TEST_TABLE") != NULL)
        printf("header bytes: plain %zu, in a batch of 1,024 %zu\n", plain, batch);
}

/* ---- The forms of the texts ---- */

enum { AUTHORITY, PATH, QUERY, CONTENT_TYPE, NONCE, DEVICE, KEYID, METHOD };

static tenon_status digest_with(int member, const char *text)
{
    OWNED_BATCH rig = batch_rig_begin();
    tenon_request2 request = batch_rig_request(&rig, TENON_FORM_PLAIN);
    tenon_text *const places[] = {&request.authority, &request.path,      &request.query, &request.content_type,
                                  &request.nonce,     &request.device_id, &request.keyid, &request.method};
    tenon_digest digest;
    *places[member] = (tenon_text){text, strlen(text)};
    return tenon_request2_digest(&digest, &request);
}

TEST(request2_authorities)
{
    static const test_texts rows[] = {
        {TENON_OK, AUTHORITY, {"api.example.com", "api.example.com:8443", "localhost", "127.0.0.1:80", "[::1]"}},
        {TENON_OK, AUTHORITY, {"[2001:db8::1]:8443", "a_b-c.example", "1a.example"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {"", "API.example.com", "api.example.com:443", "api.example.com:"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {":8443", "8443", "api.example.com:08443", "api.example.com:65536"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {"api.example.com:0", "user@api.example.com", "api.example.com/"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {"api.example.com ", "api%2Eexample.com", "b\303\274cher.example"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {"127.1", "0127.0.0.1", "256.0.0.1", "::1", "[::0001]"}},
        {TENON_ERROR_AUTHORITY, AUTHORITY, {"[0:0:0:0:0:0:0:1]", "[2001:DB8::1]", "[127.0.0.1]", "[::1", "[]"}},
    };
    test_each_text(rows, COUNT(rows), digest_with);
}

/* What stands behind a NUL is part of the text, too. */
TEST_BATCH(request2_authority_with_a_nul)
{
    static const char text[] = "[::1\0\r\nX: y]";
    tenon_digest digest;
    tenon_request2 request = batch_rig_request(rig, TENON_FORM_PLAIN);
    request.authority = (tenon_text){text, sizeof text - 1};
    CHECK_STATUS(tenon_request2_digest(&digest, &request), TENON_ERROR_AUTHORITY);
}

/* RFC 9421, 2.2.6 and RFC 3986: what a library would normalise is refused. */
TEST(request2_paths_and_queries)
{
    static const test_texts rows[] = {
        {TENON_OK, PATH, {"/", "/a", "/a/", "/a//b", "/...", "/.a/..b/c.", "/a%20b", "/%2F", "/%C3%A9", "/~a-b_c.d"}},
        {TENON_OK, PATH, {"/!$&'()*+,;=:@", "/%7F%00"}},
        {TENON_ERROR_PATH, PATH, {"", "a", "*", "/.", "/..", "/./a", "/a/../b", "/a/.", "/a/..", "/%2e", "/%2E"}},
        {TENON_ERROR_PATH, PATH, {"/%41", "/%7E", "/%c3", "/%C", "/%", "/%GG", "/a b", "/a?b", "/a#b", "/[", "/]"}},
        {TENON_ERROR_PATH, PATH, {"/\"", "/<", "/\\", "/^", "/`", "/{", "/|", "/a\n", "/\xc3\xa9", "/\x7f"}},
        {TENON_OK, QUERY, {"?", "?a=b&c=d", "??", "?a/b?c:@", "?..", "?x=%26"}},
        {TENON_ERROR_QUERY, QUERY, {"", "a", "?%61", "?%2f", "?a b", "?#", "?[", "?%", "?%2", "?a\r\n"}},
    };
    test_each_text(rows, COUNT(rows), digest_with);
}

TEST(request2_other_texts)
{
    static const test_texts rows[] = {
        {TENON_OK, CONTENT_TYPE, {"a", "text/plain; charset=utf-8"}},
        {TENON_ERROR_COMPONENT, CONTENT_TYPE, {"", " a", "a ", "a\nb", "a\tb", "a\x7f", "\xc3\xa9"}},
        {TENON_ERROR_NONCE, NONCE, {"D8f6c9a2-4f1b-4c5e-9a3d-0b7e6f5a4c3d", "d8f6c9a2-4f1b-1c5e-9a3d-0b7e6f5a4c3d"}},
        {TENON_ERROR_NONCE, NONCE, {""}},
        {TENON_ERROR_KEYID, KEYID, {"", "DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm"}},
        {TENON_ERROR_KEYID, KEYID, {"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4+JGv4f+ALSm0"}},
        {TENON_ERROR_KEYID, KEYID, {"DOvxvJiAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm1"}},
        {TENON_ERROR_KEYID, KEYID, {"\"Ovxv;iAdIqVWIkFt5hDtCunXLF0BV4-JGv4f-ALSm0"}},
        {TENON_ERROR_DEVICE_ID, DEVICE, {"", "a b"}},
        {TENON_ERROR_METHOD, METHOD, {"post", ""}},
    };
    test_each_text(rows, COUNT(rows), digest_with);
}

TEST_BATCH(request2_times_and_forms)
{
    static const struct {
        uint64_t created, expires;
        tenon_status status;
    } cases[] = {
        {1790000000, 1790000001, TENON_OK},
        {1790000000, 1790000300, TENON_OK},
        {1000000000, 1000000001, TENON_OK},
        {999999999698, 999999999998, TENON_OK},
        {1790000000, 1790000000, TENON_ERROR_VALIDITY},
        {1790000000, 1790000301, TENON_ERROR_VALIDITY},
        {1790000000, 1789999999, TENON_ERROR_VALIDITY},
        {999999999, 1000000001, TENON_ERROR_VALIDITY},
        {999999999999, 1000000000000, TENON_ERROR_VALIDITY},
        {0, UINT64_MAX, TENON_ERROR_VALIDITY},
    };
    tenon_digest digest;
    for (size_t i = 0; i < COUNT(cases); i++) {
        tenon_request2 request = batch_rig_request(rig, TENON_FORM_BATCH);
        request.created = cases[i].created;
        request.expires = cases[i].expires;
        test_about("%zu", i);
        CHECK_STATUS(tenon_request2_digest(&digest, &request), cases[i].status);
    }
    for (uint32_t form = 0; form < 5; form++) {
        const tenon_request2 request = batch_rig_request(rig, form);
        bool known = form == TENON_FORM_PLAIN || form == TENON_FORM_BATCH;
        CHECK_STATUS(tenon_request2_digest(&digest, &request), known ? TENON_OK : TENON_ERROR_FLAGS);
    }
}

/* The longest text of each kind, and one byte more. */
TEST(request2_longest_texts)
{
    enum { ROOM = TENON_PATH_MAX + 1 };
    OWNED char *path = malloc(ROOM), *query = malloc(ROOM), *type = malloc(ROOM);
    tenon_digest digest;
    memset(path, 'a', ROOM);
    memset(query, 'a', ROOM);
    memset(type, 'a', ROOM);
    path[0] = '/';
    query[0] = '?';
    OWNED_BATCH rig = batch_rig_begin();
    tenon_request2 request = batch_rig_request(&rig, TENON_FORM_BATCH);
    request.path = (tenon_text){path, TENON_PATH_MAX};
    request.query = (tenon_text){query, TENON_PATH_MAX};
    request.content_type = request.content_encoding = (tenon_text){type, TENON_CONTENT_TYPE_MAX};
    CHECK_OK(tenon_request2_digest(&digest, &request));
    request.path.n++;
    CHECK_STATUS(tenon_request2_digest(&digest, &request), TENON_ERROR_PATH);
    request.path.n--;
    request.query.n++;
    CHECK_STATUS(tenon_request2_digest(&digest, &request), TENON_ERROR_QUERY);
    request.query.n--;
    request.content_encoding.n++;
    CHECK_STATUS(tenon_request2_digest(&digest, &request), TENON_ERROR_COMPONENT);
}

/* ---- Who signs what ---- */

TEST(request2_is_signed_as_it_says)
{
    OWNED_KEY other = NULL;
    tenon_signature signature;
    OWNED_BATCH rig = batch_rig_begin();
    tenon_request2 request = batch_rig_request(&rig, TENON_FORM_PLAIN);
    CHECK_OK(tenon_key_sign_request2(rig.key, &signature, &request));
    CHECK_OK(tenon_software_key_generate(&other, 0));
    CHECK_CLEARS(tenon_key_sign_request2(other, &signature, &request), TENON_ERROR_KEYID, &signature);
    request.form = TENON_FORM_BATCH;
    CHECK_CLEARS(tenon_key_sign_request2(rig.key, &signature, &request), TENON_ERROR_FLAGS, &signature);
}

/* Nobody has a statement or a base signed as data. */
TEST_BATCH(request2_messages_are_no_data)
{
    static const uint8_t statement[98] = "tenon request batch 2", base[] = "\"@method\": GET";
    tenon_signature signature;
    CHECK_STATUS(tenon_key_sign_data(rig->key, &signature, statement, sizeof statement), TENON_ERROR_DATA_IS_MESSAGE);
    CHECK_STATUS(tenon_key_sign_data(rig->key, &signature, base, sizeof base - 1), TENON_ERROR_DATA_IS_MESSAGE);
}

/* ---- Content-Digest ---- */

TEST(request2_content_digest_is_strict)
{
    static const char good[] = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:";
    static const char *const bad[] = {"",
                                      "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=:",
                                      "sha-256=:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=:",
                                      "sha-512=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
                                      "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=;",
                                      "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFUA:",
                                      "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU:",
                                      "SHA-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:",
                                      "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:,"};
    tenon_digest digest, empty;
    CHECK_OK(tenon_sha256(&empty, NULL, 0));
    CHECK_OK(tenon_content_digest_read(&digest, good, sizeof good - 1));
    CHECK_BYTES(&digest, &empty, sizeof empty);
    for (size_t i = 0; i < COUNT(bad); i++) {
        test_about("%s", bad[i]);
        CHECK_CLEARS(tenon_content_digest_read(&digest, bad[i], strlen(bad[i])), TENON_ERROR_CONTENT_DIGEST, &digest);
    }
}

/* ---- Outputs and arguments ---- */

OUTPUT(write_input) { return tenon_request2_input((char *)out, n, written, NULL, input); }
OUTPUT(write_signature) { return tenon_signature2((char *)out, n, written, input); }
OUTPUT(write_content_digest) { return tenon_content_digest((char *)out, n, written, input); }

TEST_BATCH(request2_outputs)
{
    static const tenon_signature signature = {{1}};
    static const tenon_digest digest = {{1}};
    char text[TENON_SIGNATURE_INPUT_MAX];
    size_t n;
    const tenon_request2 request = batch_rig_request(rig, TENON_FORM_BATCH);
    CHECK_OK(tenon_request2_input(text, sizeof text, &n, NULL, &request));
    test_output_rule("input", write_input, &request, text, n);
    test_output_rule("signature", write_signature, &signature, NULL, 96);
    test_output_rule("content digest", write_content_digest, &digest, NULL, TENON_CONTENT_DIGEST_SIZE);
}

TEST_BATCH(request2_bad_arguments)
{
    char text[TENON_SIGNATURE_INPUT_MAX];
    tenon_signature signature;
    tenon_digest digest;
    size_t n;
    tenon_request2 request = batch_rig_request(rig, TENON_FORM_PLAIN);
    CHECK_STATUS(tenon_request2_digest(NULL, &request), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_request2_digest(&digest, NULL), TENON_ERROR_NULL, &digest);
    CHECK_STATUS(tenon_request2_input(text, sizeof text, &n, NULL, NULL), TENON_ERROR_NULL);
    CHECK_CLEARS(tenon_request2_input(text, sizeof text, NULL, &digest, &request), TENON_ERROR_NULL, &digest);
    CHECK_CLEARS(tenon_request2_input(text, 10, &n, &digest, &request), TENON_ERROR_BUFFER_TOO_SMALL, &digest);
    CHECK_STATUS(tenon_key_sign_request2(NULL, &signature, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_request2(rig->key, NULL, &request), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_key_sign_request2(rig->key, &signature, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_signature2(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_content_digest(text, sizeof text, &n, NULL), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_content_digest_read(NULL, text, 54), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_content_digest_read(&digest, NULL, 54), TENON_ERROR_NULL);
    tenon_text *const places[] = {&request.method,           &request.authority,    &request.path,  &request.query,
                                  &request.app_id,           &request.content_type, &request.nonce, &request.device_id,
                                  &request.content_encoding, &request.keyid};
    for (size_t i = 0; i < COUNT(places); i++) {
        const tenon_text kept = *places[i];
        *places[i] = (tenon_text){NULL, 1};
        CHECK_STATUS(tenon_request2_digest(&digest, &request), TENON_ERROR_NULL);
        *places[i] = kept;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/target.h"
#include "batch/batch.h"
#include "batch/request2.h"
#include "batch/signed2.h"
#include "fuzz.h"
#include "tenon/encoding.h"

/*
 * Input: Signature-Input, a line feed, Signature. What is read is written anew, and must be the same text; every climb
 * ends, within its path.
 */

static const char *find(const char *text, size_t n, char c) { return n == 0 ? NULL : memchr(text, c, n); }

static void must_write_the_same(const tenon_signed2 *read, const char *input, size_t n)
{
    static const char nothing[] = "x";
    char again[TENON_SIGNATURE_INPUT_MAX];
    size_t again_n;
    const tenon_text some = {nothing, 1}, none = {NULL, 0};
    const tenon_request2 request = {
        .method = {"GET", 3},
        .authority = {"a", 1},
        .path = {"/", 1},
        .query = {"?", 1},
        .content_type = (read->covers & TENON_COVERS_CONTENT_TYPE) != 0 ? some : none,
        .content_encoding = (read->covers & TENON_COVERS_CONTENT_ENCODING) != 0 ? some : none,
        .app_id = some,
        .device_id = some,
        .nonce = {read->nonce, sizeof read->nonce},
        .keyid = {read->keyid, sizeof read->keyid},
        .created = read->created,
        .expires = read->expires,
        .form = read->form,
    };
    MUST(tenon_request2_input(again, sizeof again, &again_n, NULL, &request) == TENON_OK);
    MUST(again_n == n && memcmp(again, input, n) == 0);
}

static void must_climb(const tenon_signed2 *read)
{
    static const tenon_digest digest;
    tenon_root root;
    MUST(tenon_signed2_root(read, &root, &digest) == TENON_OK);
    MUST(root.size == read->size && root.size <= TENON_BATCH_MAX);
    MUST((root.size == 0) == (read->form == TENON_FORM_PLAIN));
    MUST(memcmp(&root.signature, &read->signature, sizeof root.signature) == 0);
}

/* Any struct at all, as a caller might fill it. */
static void climb_with_anything(const char *bytes, size_t n)
{
    static const tenon_digest digest;
    tenon_signed2 any;
    tenon_root root;
    memset(&any, 0, sizeof any);
    memcpy(&any, bytes, n < sizeof any ? n : sizeof any);
    tenon_status status = tenon_signed2_root(&any, &root, &digest);
    MUST(status == TENON_OK || fuzz_all(&root, sizeof root, 0));
}

FUZZ_TARGET(data, n)
{
    OWNED char *text = fuzz_copy(data, n);
    const char *end = find(text, n, '\n');
    const size_t input_n = end == NULL ? n : (size_t)(end - text);
    const size_t signature_n = end == NULL ? 0 : n - input_n - 1;
    OWNED char *input = fuzz_copy(text, input_n);
    OWNED char *signature = fuzz_copy(text + n - signature_n, signature_n);
    tenon_signed2 read;
    memset(&read, FUZZ_FILL, sizeof read);
    tenon_status status = tenon_signed2_read(&read, input, input_n, signature, signature_n);
    MUST(tenoni_steps(1 + n % TENON_BATCH_MAX, n % (1 + n % TENON_BATCH_MAX)) <= TENON_BATCH_STEPS);
    climb_with_anything(text, n);
    if (fuzz_refused(status, &read, sizeof read))
        return;
    must_write_the_same(&read, input, input_n);
    must_climb(&read);
}

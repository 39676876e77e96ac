/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/signed2.h"

#include <string.h>

#include "base/public64.h"
#include "base/secure.h"
#include "base/signature.h"
#include "batch/batch.h"
#include "batch/request2.h"

#define LITERAL(text) (text), (sizeof(text) - 1)

/* ---- Signature-Input, read by its template ---- */

static bool skip(tenoni_reader *reader, const char *text, size_t n)
{
    tenoni_reader part;
    if (reader->left < n || !tenoni_equal(reader->at, text, n))
        return false;
    return tenoni_read_part(reader, &part, n);
}

static bool read_text(tenoni_reader *reader, char *out, size_t n)
{
    tenoni_reader part;
    if (!tenoni_read_part(reader, &part, n))
        return false;
    memcpy(out, part.at, n);
    return true;
}

/* 10 to 12 digits, the first not 0. */
static bool read_time(tenoni_reader *reader, uint64_t *out)
{
    enum { MIN = 10 };
    uint64_t time = 0;
    size_t n = 0;
    while (n < reader->left && n <= TENON_TIMESTAMP_MAX && reader->at[n] >= '0' && reader->at[n] <= '9')
        time = 10 * time + (uint64_t)(reader->at[n++] - '0');
    tenoni_reader digits;
    if (n < MIN || n > TENON_TIMESTAMP_MAX || reader->at[0] == '0' || !tenoni_read_part(reader, &digits, n))
        return false;
    *out = time;
    return true;
}

static bool read_covered(tenoni_reader *reader, uint32_t *covers)
{
    if (!skip(reader, LITERAL(TENONI_LABEL TENONI_COVERED)))
        return false;
    if (skip(reader, LITERAL(TENONI_CONTENT_TYPE)))
        *covers |= TENON_COVERS_CONTENT_TYPE;
    if (skip(reader, LITERAL(TENONI_CONTENT_ENCODING)))
        *covers |= TENON_COVERS_CONTENT_ENCODING;
    return skip(reader, LITERAL(TENONI_IDS));
}

static bool read_tag(tenoni_reader *reader, uint32_t *form)
{
    if (skip(reader, LITERAL(TENONI_TAG TENONI_BATCH)))
        *form = TENON_FORM_BATCH;
    else if (skip(reader, LITERAL(TENONI_TAG TENONI_PLAIN)))
        *form = TENON_FORM_PLAIN;
    return *form != 0 && reader->left == 0;
}

static bool input_holds(tenoni_signed2_texts *texts)
{
    tenon_signed2 *out = texts->out;
    tenoni_reader *reader = &texts->input;
    return reader->left <= TENON_SIGNATURE_INPUT_MAX && read_covered(reader, &out->covers) &&
           skip(reader, LITERAL(TENONI_CREATED)) && read_time(reader, &out->created) &&
           skip(reader, LITERAL(TENONI_EXPIRES)) && read_time(reader, &out->expires) &&
           skip(reader, LITERAL(TENONI_NONCE)) && read_text(reader, out->nonce, sizeof out->nonce) &&
           tenoni_nonce2_check(out->nonce, sizeof out->nonce) == TENON_OK && skip(reader, LITERAL(TENONI_KEYID)) &&
           read_text(reader, out->keyid, sizeof out->keyid) &&
           tenoni_public64_decode(out->thumbprint.bytes, sizeof out->thumbprint.bytes, out->keyid, sizeof out->keyid,
                                  true) &&
           read_tag(reader, &out->form);
}

static bool validity_holds(tenoni_signed2_texts *texts)
{
    return tenoni_validity_check(texts->out->created, texts->out->expires) == TENON_OK;
}

/* ---- Signature ---- */

/* The length of the text decides how many bytes it has. */
static bool size_of_text(size_t *out, size_t text_n, uint32_t form)
{
    for (size_t steps = 0; steps <= TENON_BATCH_STEPS; steps++) {
        const size_t n =
            form == TENON_FORM_BATCH ? TENONI_MEMBER_MIN + steps * TENON_DIGEST_SIZE : TENON_SIGNATURE_SIZE;
        if (text_n == (n + 2) / 3 * 4) {
            *out = n;
            return true;
        }
    }
    return false;
}

static bool value_holds(tenoni_signed2_texts *texts)
{
    tenon_signed2 *out = texts->out;
    uint8_t bytes[TENONI_MEMBER_MAX];
    uint16_t size, index;
    size_t n;
    tenoni_reader *text = &texts->signature, characters;
    if (text->left > TENON_SIGNATURE_VALUE_MAX || !skip(text, LITERAL(TENONI_SIGNATURE_HEAD)) || text->left < 1 ||
        !tenoni_read_part(text, &characters, text->left - 1) || !skip(text, LITERAL(TENONI_SIGNATURE_TAIL)) ||
        !size_of_text(&n, characters.left, out->form))
        return false;
    char base64[(TENONI_MEMBER_MAX + 2) / 3 * 4];
    memcpy(base64, characters.at, characters.left);
    if (!tenoni_public64_decode(bytes, n, base64, characters.left, false))
        return false;
    tenoni_reader reader = tenoni_reader_over(bytes, n);
    if (!tenoni_read_bytes(&reader, out->signature.bytes, sizeof out->signature.bytes))
        return false;
    if (out->form == TENON_FORM_PLAIN)
        return true;
    if (!tenoni_read_u16(&reader, &size) || !tenoni_read_u16(&reader, &index))
        return false;
    out->size = size;
    out->index = index;
    while (tenoni_read_bytes(&reader, out->path[out->steps].bytes, sizeof out->path->bytes))
        if (++out->steps == TENON_BATCH_STEPS)
            break;
    return true;
}

static bool is_plain(const tenoni_signed2_texts *texts)
{
    return texts->out->form == TENON_FORM_PLAIN;
}

static bool size_holds(tenoni_signed2_texts *texts)
{
    return is_plain(texts) || (texts->out->size >= 1 && texts->out->size <= TENON_BATCH_MAX);
}

static bool index_holds(tenoni_signed2_texts *texts)
{
    return is_plain(texts) || texts->out->index < texts->out->size;
}

static bool path_holds(tenoni_signed2_texts *texts)
{
    return is_plain(texts) || tenoni_steps(texts->out->size, texts->out->index) == texts->out->steps;
}

static bool range_holds(tenoni_signed2_texts *texts)
{
    return tenoni_signature_in_range(&texts->out->signature);
}

static bool low_holds(tenoni_signed2_texts *texts)
{
    return is_plain(texts) || !tenoni_scalar_is_high(texts->out->signature.bytes + TENON_SCALAR_SIZE);
}

const tenoni_signed2_rule tenoni_signed2_rules[] = {
    {TENON_ERROR_SIGNATURE_INPUT, input_holds}, {TENON_ERROR_VALIDITY, validity_holds},
    {TENON_ERROR_SIGNATURE_VALUE, value_holds}, {TENON_ERROR_BATCH_SIZE, size_holds},
    {TENON_ERROR_BATCH_INDEX, index_holds},     {TENON_ERROR_BATCH_PATH, path_holds},
    {TENON_ERROR_SIGNATURE_RANGE, range_holds}, {TENON_ERROR_SIGNATURE_HIGH, low_holds},
};

const size_t tenoni_signed2_rules_count = sizeof tenoni_signed2_rules / sizeof *tenoni_signed2_rules;

tenon_status tenoni_signed2_read(tenon_signed2 *out, tenoni_reader input, tenoni_reader signature,
                                 const tenoni_signed2_rule *rules, size_t count)
{
    tenoni_signed2_texts texts = {out, input, signature};
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].holds(&texts))
            continue;
        memset(out, 0, sizeof *out);
        return rules[i].code;
    }
    return TENON_OK;
}

tenon_status tenon_signed2_read(tenon_signed2 *out, const char *input, size_t input_n, const char *signature,
                                size_t signature_n)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if ((input == NULL && input_n != 0) || (signature == NULL && signature_n != 0))
        return TENON_ERROR_NULL;
    return tenoni_signed2_read(out, tenoni_reader_over((const uint8_t *)input, input_n),
                               tenoni_reader_over((const uint8_t *)signature, signature_n), tenoni_signed2_rules,
                               tenoni_signed2_rules_count);
}

/* ---- From a request to what was signed ---- */

/* RFC 9162, 2.1.3.2: the sibling is on the left of a node with an odd index, and of the last one of its level. */
static tenon_status climb(tenon_digest *node, const tenon_signed2 *signed2)
{
    tenon_status status = TENON_OK;
    size_t step = 0, index = signed2->index;
    for (size_t last = signed2->size - 1; status == TENON_OK && last > 0; index >>= 1, last >>= 1) {
        if ((index & 1) != 0)
            status = tenoni_node(node, &signed2->path[step++], node);
        else if (index < last)
            status = tenoni_node(node, node, &signed2->path[step++]);
    }
    return status;
}

static tenon_status check_shape(const tenon_signed2 *signed2)
{
    if (signed2->form == TENON_FORM_PLAIN)
        return TENON_OK;
    if (signed2->form != TENON_FORM_BATCH)
        return TENON_ERROR_FLAGS;
    if (signed2->size < 1 || signed2->size > TENON_BATCH_MAX)
        return TENON_ERROR_BATCH_SIZE;
    return signed2->index < signed2->size ? TENON_OK : TENON_ERROR_BATCH_INDEX;
}

tenon_status tenon_signed2_root(const tenon_signed2 *signed2, tenon_root *out, const tenon_digest *digest)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (signed2 == NULL || digest == NULL)
        return TENON_ERROR_NULL;
    tenon_root root = {.thumbprint = signed2->thumbprint, .root = *digest, .signature = signed2->signature};
    tenon_status status = check_shape(signed2);
    if (status == TENON_OK && signed2->form == TENON_FORM_BATCH) {
        root.size = signed2->size;
        status = tenoni_leaf(&root.root, digest);
        if (status == TENON_OK)
            status = climb(&root.root, signed2);
    }
    if (status == TENON_OK)
        *out = root;
    return status;
}

tenon_status tenon_root_verify(const tenon_verifier *verifier, const tenon_root *root)
{
    tenon_digest digest;
    if (verifier == NULL || root == NULL)
        return TENON_ERROR_NULL;
    if (root->size == 0)
        return tenon_verifier_verify(verifier, &root->root, &root->signature);
    tenon_status status = tenoni_batch_statement(&digest, &root->thumbprint, root->size, &root->root);
    return status == TENON_OK ? tenon_verifier_verify(verifier, &digest, &root->signature) : status;
}

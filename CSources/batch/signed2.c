/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/signed2.h"

#include <string.h>

#include "base/public64.h"
#include "base/signature.h"
#include "batch/batch.h"
#include "batch/request2.h"

#define LITERAL(text) (text), (sizeof(text) - 1)

/* ---- Signature-Input, read by its template ---- */

static bool skip(tenoni_reader *reader, const char *text, size_t n)
{
    if (reader->left < n || !tenoni_is_same(reader->at, text, n))
        return false;
    reader->at += n;
    reader->left -= n;
    return true;
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
    const size_t most = reader->left < TENON_TIMESTAMP_MAX ? reader->left : TENON_TIMESTAMP_MAX;
    const uint8_t *text = reader->at;
    uint64_t time = 0;
    size_t n = 0;
    for (uint8_t digit; n < most && (digit = (uint8_t)(text[n] - '0')) <= 9; n++)
        time = 10 * time + digit;
    tenoni_reader digits;
    *out = time;
    return n >= MIN && text[0] != '0' && tenoni_read_part(reader, &digits, n);
}

static bool read_covered(tenoni_reader *reader, uint32_t *covers)
{
    if (!skip(reader, LITERAL(TENONI_LABEL TENONI_COVERED)))
        return false;
    if (skip(reader, LITERAL(TENONI_CONTENT_TYPE)))
        *covers |= TENON_COVERS_CONTENT_TYPE;
    if (skip(reader, LITERAL(TENONI_CONTENT_ENCODING)))
        *covers |= TENON_COVERS_CONTENT_ENCODING;
    return skip(reader, LITERAL(TENONI_IDS TENONI_CREATED));
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
           read_time(reader, &out->created) && skip(reader, LITERAL(TENONI_EXPIRES)) &&
           read_time(reader, &out->expires) && skip(reader, LITERAL(TENONI_NONCE)) &&
           read_text(reader, out->nonce, sizeof out->nonce) &&
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
    if (!tenoni_public64_decode(bytes, n, characters.at, characters.left, false))
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
    out->steps = (uint32_t)(reader.left / sizeof *out->path);
    return tenoni_read_bytes(&reader, out->path[0].bytes, reader.left);
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

/* The first byte decides nearly always, and the numbers are public. */
static bool is_in_range(const uint8_t *scalar)
{
    return (scalar[0] != 0x00 && scalar[0] != 0xff) || tenoni_scalar_in_range(scalar);
}

static bool range_holds(tenoni_signed2_texts *texts)
{
    const uint8_t *r = texts->out->signature.bytes;
    return is_in_range(r) && is_in_range(r + TENON_SCALAR_SIZE);
}

static bool low_holds(tenoni_signed2_texts *texts)
{
    const uint8_t *s = texts->out->signature.bytes + TENON_SCALAR_SIZE;
    return is_plain(texts) || s[0] < 0x7f || !tenoni_scalar_is_high(s);
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
    if ((input == NULL && input_n != 0) || (signature == NULL && signature_n != 0)) {
        memset(out, 0, sizeof *out);
        return TENON_ERROR_NULL;
    }
    return tenoni_signed2_read(out, tenoni_reader_over((const uint8_t *)input, input_n),
                               tenoni_reader_over((const uint8_t *)signature, signature_n), tenoni_signed2_rules,
                               tenoni_signed2_rules_count);
}

/* ---- From a request to what was signed ---- */

/* Neither taking one of these headers away nor adding one goes unseen. */
static bool covers_what_is_there(const tenon_signed2 *signed2, const tenon_request2 *request)
{
    return ((signed2->covers & TENON_COVERS_CONTENT_TYPE) != 0) == (request->content_type.text != NULL) &&
           ((signed2->covers & TENON_COVERS_CONTENT_ENCODING) != 0) == (request->content_encoding.text != NULL);
}

tenon_status tenon_signed2_digest(const tenon_signed2 *signed2, tenon_digest *out, const tenon_request2 *request)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    memset(out, 0, sizeof *out);
    if (signed2 == NULL || request == NULL)
        return TENON_ERROR_NULL;
    if (signed2->form == 0 || !covers_what_is_there(signed2, request))
        return TENON_ERROR_SIGNATURE_INPUT;
    tenon_request2 whole = *request;
    whole.nonce = (tenon_text){signed2->nonce, sizeof signed2->nonce};
    whole.keyid = (tenon_text){signed2->keyid, sizeof signed2->keyid};
    whole.created = signed2->created;
    whole.expires = signed2->expires;
    whole.form = signed2->form;
    return tenoni_request2_digest(out, &whole);
}

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
        return signed2->size == 0 ? TENON_OK : TENON_ERROR_BATCH_SIZE;
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
    tenon_status status = check_shape(signed2);
    if (status != TENON_OK)
        return status;
    out->thumbprint = signed2->thumbprint;
    out->root = *digest;
    out->signature = signed2->signature;
    out->size = signed2->size;
    if (signed2->form == TENON_FORM_PLAIN)
        return TENON_OK;
    status = tenoni_leaf(&out->root, digest);
    if (status == TENON_OK)
        status = climb(&out->root, signed2);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
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

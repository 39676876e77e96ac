/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/public64.h"
#include "base/secure.h"
#include "batch/request2.h"
#include "crypto/hash.h"
#include "crypto/signing_key.h"
#include "tenon/encoding.h"

struct tenon_batch {
    size_t max;
    size_t count;
    bool is_signed;
    tenon_public_key key;
    tenon_digest thumbprint;
    tenon_signature signature;
    tenon_digest nodes[]; /* the leaves, then the nodes of each level above them, up to the root */
};

/* ---- The tree ---- */

/* Nothing here is secret, so the state is not wiped: that would take as long as a tenth of the hash. */
static tenon_status hash(tenon_digest *out, const uint8_t *bytes, size_t n)
{
    uint64_t state[TENONI_SHA256_STATE_SIZE / sizeof(uint64_t)];
    tenon_status status = tenoni_sha256_begin(state);
    if (status == TENON_OK)
        status = tenoni_sha256_update(state, bytes, n);
    return status == TENON_OK ? tenoni_sha256_finish(state, out->bytes) : status;
}

/* RFC 9162, 2.1.1: the first byte keeps a leaf from being taken for a node. */
enum { LEAF = 0x00, NODE = 0x01 };

tenon_status tenoni_leaf(tenon_digest *out, const tenon_digest *digest)
{
    uint8_t text[1 + TENON_DIGEST_SIZE] = {LEAF};
    memcpy(text + 1, digest->bytes, sizeof digest->bytes);
    return hash(out, text, sizeof text);
}

tenon_status tenoni_node(tenon_digest *out, const tenon_digest *left, const tenon_digest *right)
{
    uint8_t text[1 + 2 * TENON_DIGEST_SIZE] = {NODE};
    memcpy(text + 1, left->bytes, sizeof left->bytes);
    memcpy(text + 1 + sizeof left->bytes, right->bytes, sizeof right->bytes);
    return hash(out, text, sizeof text);
}

size_t tenoni_steps(size_t size, size_t index)
{
    size_t steps = 0;
    for (size_t last = size - 1; last > 0; index >>= 1, last >>= 1)
        steps += (index & 1) != 0 || index < last;
    return steps;
}

/* How many digests a tree over so many leaves has, level by level. */
static size_t nodes_of(size_t leaves)
{
    size_t nodes = leaves;
    for (; leaves > 1; nodes += leaves)
        leaves = (leaves + 1) / 2;
    return nodes;
}

static tenon_status grow(tenon_batch *batch)
{
    tenon_status status = TENON_OK;
    tenon_digest *level = batch->nodes;
    for (size_t n = batch->count; n > 1; n = (n + 1) / 2) {
        tenon_digest *above = level + n;
        for (size_t i = 0; status == TENON_OK && i + 1 < n; i += 2)
            status = tenoni_node(&above[i / 2], &level[i], &level[i + 1]);
        if (n % 2 != 0)
            above[n / 2] = level[n - 1];
        level = above;
    }
    return status;
}

tenon_status tenoni_batch_statement(tenon_digest *out, const tenon_digest *thumbprint, size_t size,
                                    const tenon_digest *root)
{
    enum { LABEL = 32, SIZE = 2 };
    uint8_t text[LABEL + sizeof *thumbprint + SIZE + sizeof *root] = "tenon request batch 2";
    tenoni_writer writer = tenoni_writer_over(text + LABEL, sizeof text - LABEL);
    tenoni_write_bytes(&writer, thumbprint->bytes, sizeof thumbprint->bytes);
    tenoni_write_u16(&writer, (uint16_t)size);
    tenoni_write_bytes(&writer, root->bytes, sizeof root->bytes);
    return hash(out, text, sizeof text);
}

/* ---- The batch ---- */

static tenon_status thumbprint_of(tenon_digest *out, const tenon_public_key *key)
{
    char text[TENON_THUMBPRINT_SIZE];
    size_t n;
    tenon_status status = tenon_public_key_thumbprint(text, sizeof text, &n, key);
    if (status == TENON_OK && !tenoni_public64_decode(out->bytes, sizeof out->bytes, text, n, true))
        status = TENON_ERROR_KEYID;
    return status;
}

tenon_status tenon_batch_new(tenon_batch **out, const tenon_public_key *key, size_t max)
{
    if (out == NULL)
        return TENON_ERROR_NULL;
    *out = NULL;
    if (key == NULL)
        return TENON_ERROR_NULL;
    if (max < 1 || max > TENON_BATCH_MAX)
        return TENON_ERROR_BATCH_SIZE;
    tenon_batch *batch = calloc(1, sizeof *batch + nodes_of(max) * sizeof *batch->nodes);
    if (batch == NULL)
        return TENON_ERROR_MEMORY;
    batch->max = max;
    batch->key = *key;
    tenon_status status = thumbprint_of(&batch->thumbprint, key);
    if (status == TENON_OK)
        *out = batch;
    else
        free(batch);
    return status;
}

void tenon_batch_clear(tenon_batch *batch)
{
    if (batch == NULL)
        return;
    batch->count = 0;
    batch->is_signed = false;
    memset(&batch->signature, 0, sizeof batch->signature);
}

void tenon_batch_free(tenon_batch **batch)
{
    if (batch == NULL || *batch == NULL)
        return;
    tenoni_wipe(*batch, sizeof **batch + nodes_of((*batch)->max) * sizeof *(*batch)->nodes);
    free(*batch);
    *batch = NULL;
}

tenon_status tenon_batch_add(tenon_batch *batch, size_t *index, const tenon_digest *digest)
{
    if (index != NULL)
        *index = 0;
    if (batch == NULL || index == NULL || digest == NULL)
        return TENON_ERROR_NULL;
    if (batch->is_signed)
        return TENON_ERROR_BATCH_STATE;
    if (batch->count == batch->max)
        return TENON_ERROR_BATCH_FULL;
    tenon_status status = tenoni_leaf(&batch->nodes[batch->count], digest);
    if (status == TENON_OK)
        *index = batch->count++;
    return status;
}

tenon_status tenon_key_sign_batch(const tenon_key *key, tenon_batch *batch)
{
    tenon_digest digest;
    if (key == NULL || batch == NULL)
        return TENON_ERROR_NULL;
    if (batch->count == 0 || batch->is_signed)
        return TENON_ERROR_BATCH_STATE;
    if (!tenoni_key_is(key, &batch->key))
        return TENON_ERROR_KEYID;
    tenon_status status = grow(batch);
    const tenon_digest *root = &batch->nodes[nodes_of(batch->count) - 1];
    if (status == TENON_OK)
        status = tenoni_batch_statement(&digest, &batch->thumbprint, batch->count, root);
    if (status == TENON_OK)
        status = tenoni_key_sign_own(key, &batch->signature, &digest);
    if (status == TENON_OK)
        status = tenon_signature_normalize(&batch->signature);
    batch->is_signed = status == TENON_OK;
    return status;
}

tenon_status tenoni_batch_check(const tenon_batch *batch, const tenon_verifier *verifier)
{
    const tenon_root root = {.thumbprint = batch->thumbprint,
                             .root = batch->nodes[nodes_of(batch->count) - 1],
                             .signature = batch->signature,
                             .size = (uint32_t)batch->count};
    return tenon_root_verify(verifier, &root);
}

size_t tenoni_batch_member(const tenon_batch *batch, uint8_t *out, size_t index)
{
    tenoni_writer writer = tenoni_writer_over(out, TENONI_MEMBER_MAX);
    const tenon_digest *level = batch->nodes;
    tenoni_write_bytes(&writer, batch->signature.bytes, sizeof batch->signature.bytes);
    tenoni_write_u16(&writer, (uint16_t)batch->count);
    tenoni_write_u16(&writer, (uint16_t)index);
    for (size_t n = batch->count; n > 1; n = (n + 1) / 2, index /= 2) {
        const size_t sibling = index ^ 1;
        if (sibling < n)
            tenoni_write_bytes(&writer, level[sibling].bytes, sizeof level[sibling].bytes);
        level += n;
    }
    return writer.used;
}

tenon_status tenon_batch_signature(const tenon_batch *batch, char *out, size_t n, size_t *written, size_t index)
{
    uint8_t bytes[TENONI_MEMBER_MAX];
    if (written != NULL)
        *written = 0;
    if (batch == NULL)
        return TENON_ERROR_NULL;
    if (!batch->is_signed)
        return TENON_ERROR_BATCH_STATE;
    if (index >= batch->count)
        return TENON_ERROR_BATCH_INDEX;
    return tenoni_signature_value(out, n, written, bytes, tenoni_batch_member(batch, bytes, index));
}

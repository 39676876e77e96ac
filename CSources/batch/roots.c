/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "batch/request2.h"
#include "tenon/batch/batch.h"

/*
 * The whole entry, signature too: a request is accepted with a known root only if it is accepted without one. The first
 * byte tells nearly all others apart at once; nothing here is secret.
 */
static bool is_same(const tenon_root *a, const tenon_root *b)
{
    return a->root.bytes[0] == b->root.bytes[0] && a->size == b->size &&
           tenoni_is_same(&a->root, &b->root, sizeof a->root) &&
           tenoni_is_same(&a->thumbprint, &b->thumbprint, sizeof a->thumbprint) &&
           tenoni_is_same(&a->signature, &b->signature, sizeof a->signature);
}

int32_t tenon_roots_knows(tenon_roots *roots, const tenon_root *root)
{
    if (roots == NULL || root == NULL || root->size == 0)
        return 0;
    for (size_t i = 0; i < TENON_ROOTS; i++) {
        if (roots->used[i] == 0 || !is_same(&roots->entries[i], root))
            continue;
        roots->used[i] = ++roots->uses;
        return 1;
    }
    return 0;
}

void tenon_roots_learn(tenon_roots *roots, const tenon_root *root)
{
    size_t oldest = 0;
    if (roots == NULL || root == NULL || root->size == 0 || tenon_roots_knows(roots, root) != 0)
        return;
    for (size_t i = 1; i < TENON_ROOTS; i++)
        if (roots->used[i] < roots->used[oldest])
            oldest = i;
    roots->entries[oldest] = *root;
    roots->used[oldest] = ++roots->uses;
}

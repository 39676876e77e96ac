/* SPDX-License-Identifier: Apache-2.0 */
#include "native/unread.h"

#include <stdlib.h>

#include "base/secure.h"
#include "native/item.h"
#include "native/worker.h"

typedef struct entry {
    struct entry *next;
    tenon_digest value;
} entry;

static struct {
    entry *first;
    bool all; /* one could not be remembered */
} unread;

/* Where the value's entry is, or the end. */
static entry **find(const tenon_digest *value)
{
    entry **at = &unread.first;
    while (*at != NULL && !tenoni_equal((*at)->value.bytes, value->bytes, sizeof value->bytes))
        at = &(*at)->next;
    return at;
}

static void drop(entry **at)
{
    entry *known = *at;
    *at = known->next;
    free(known);
}

static void note(const tenon_digest *value, bool known)
{
    entry **at = find(value);
    if (known && *at != NULL)
        drop(at);
    if (known || *at != NULL)
        return;
    *at = calloc(1, sizeof **at);
    if (*at == NULL)
        unread.all = true;
    else
        (*at)->value = *value;
}

void tenoni_unread_note(const char *service, const char *key, tenoni_result result)
{
    tenon_digest value;
    bool named = tenoni_done(tenoni_item_digest(service, key, &value));
    tenoni_worker_lock();
    if (named)
        note(&value, tenoni_done(result) || tenoni_nothing(result));
    else
        unread.all = true;
    tenoni_worker_unlock();
}

bool tenoni_unread_blocks(const char *service, const char *key)
{
    tenon_digest value;
    bool named = tenoni_done(tenoni_item_digest(service, key, &value));
    tenoni_worker_lock();
    bool blocks = !named || unread.all || *find(&value) != NULL;
    tenoni_worker_unlock();
    return blocks;
}

void tenoni_unread_forget(void)
{
    while (unread.first != NULL)
        drop(&unread.first);
    unread.all = false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "native/unread.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "native/item.h"
#include "native/worker.h"

static struct {
    tenon_digest *values;
    size_t count;
    size_t room;
    bool all; /* one could not be remembered */
} unread;

static size_t find(const tenon_digest *value)
{
    size_t i = 0;
    while (i < unread.count && !tenoni_equal(unread.values[i].bytes, value->bytes, sizeof value->bytes))
        i++;
    return i;
}

static bool has_room(void)
{
    enum { FIRST = 16 };
    if (unread.count < unread.room)
        return true;
    size_t room = unread.room == 0 ? FIRST : 2 * unread.room;
    tenon_digest *values = realloc(unread.values, room * sizeof *values);
    if (values == NULL)
        return false;
    unread.values = values;
    unread.room = room;
    return true;
}

static void note(const tenon_digest *value, bool known)
{
    size_t at = find(value);
    if (known && at < unread.count)
        unread.values[at] = unread.values[--unread.count];
    if (known || at < unread.count)
        return;
    if (has_room())
        unread.values[unread.count++] = *value;
    else
        unread.all = true;
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
    bool blocks = !named || unread.all || find(&value) < unread.count;
    tenoni_worker_unlock();
    return blocks;
}

void tenoni_unread_forget(void)
{
    free(unread.values);
    memset(&unread, 0, sizeof unread);
}

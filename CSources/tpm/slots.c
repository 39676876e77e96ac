/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/bytes.h"
#include "tpm/channel.h"

/*
 * The list of what we have loaded in the TPM. An entry leaves it only when it was flushed, or is no longer in the TPM.
 */

/* Part 1, 10.3: at most three handles follow the header. Reading one too many only keeps one more object. */
static bool names(const uint8_t *command, size_t n, uint32_t handle)
{
    enum { HEADER = 10, HANDLES = 3 };
    tenoni_reader reader = tenoni_reader_over(command + HEADER, n - HEADER);
    uint32_t found;
    for (int i = 0; i < HANDLES && tenoni_read_u32(&reader, &found); i++)
        if (found == handle)
            return true;
    return false;
}

/* Whether the TPM lacks room for this handle. While it is used, a persistent object takes a transient one's room. */
static bool lacks_room(uint32_t rc, uint32_t handle)
{
    enum { KIND_SHIFT = 24, SESSION = 0x02, TRANSIENT = 0x80 };
    uint32_t kind = handle >> KIND_SHIFT;
    switch (tenoni_rc_base(rc)) {
    case TENONI_RC_OBJECT_MEMORY:
    case 0x906: /* OBJECT_HANDLES */
        return kind == TRANSIENT;
    case TENONI_RC_SESSION_MEMORY:
    case 0x905: /* SESSION_HANDLES */
        return kind == SESSION;
    default:
        return tenoni_rc_base(rc) == 0x904; /* MEMORY */
    }
}

/* The oldest, which is the last in the list: what was loaded just now is more likely to be needed next. */
bool tenoni_slots_make_room(tenon_tpm *tpm, const uint8_t *command, size_t n, uint32_t rc)
{
    tenoni_slot *oldest = NULL;
    for (tenoni_slot *slot = tpm->slots; slot != NULL; slot = slot->next)
        if (lacks_room(rc, slot->handle) && !names(command, n, slot->handle))
            oldest = slot;
    if (oldest != NULL)
        tenoni_slot_flush(tpm, oldest);
    return oldest != NULL;
}

/* If the TPM gives out a handle again, the old object was flushed after all. */
static void forget_orphan(tenon_tpm *tpm, uint32_t handle)
{
    for (size_t i = 0; i < tpm->orphans_n; i++)
        if (tpm->orphans[i] == handle)
            tpm->orphans[i] = tpm->orphans[--tpm->orphans_n];
}

/* Takes a slot out of the books, and gives what was in it. */
static uint32_t drop(tenon_tpm *tpm, tenoni_slot *slot)
{
    uint32_t handle = slot->handle;
    slot->handle = 0;
    for (tenoni_slot **at = &tpm->slots; *at != NULL; at = &(*at)->next) {
        if (*at == slot) {
            *at = slot->next;
            break;
        }
    }
    return handle;
}

/* And so was what our books have at it, as after a reset: it is another object's handle now. */
static void forget_holder(tenon_tpm *tpm, uint32_t handle)
{
    tenoni_slot *slot = tpm->slots;
    while (slot != NULL && slot->handle != handle)
        slot = slot->next;
    if (slot != NULL)
        (void)drop(tpm, slot);
}

void tenoni_slot_fill(tenon_tpm *tpm, tenoni_slot *slot, uint32_t handle)
{
    forget_orphan(tpm, handle);
    forget_holder(tpm, handle);
    slot->handle = handle;
    slot->next = tpm->slots;
    tpm->slots = slot;
}

/* Part 3, 28.4 TPM2_FlushContext. */
void tenoni_tpm_flush(tenon_tpm *tpm, uint32_t handle)
{
    uint8_t command[14];
    tenoni_reader answer;
    tenoni_writer writer = tenoni_writer_over(command, sizeof command);
    tenoni_write_u16(&writer, 0x8001);
    tenoni_write_u32(&writer, sizeof command);
    tenoni_write_u32(&writer, TENONI_CC_FLUSH_CONTEXT);
    tenoni_write_u32(&writer, handle);
    tenon_status status = tenoni_tpm_send(tpm, TENONI_ROLE_ANY, command, writer.used, &answer);
    if (status != TENON_OK && !tenoni_status_lost_object(status) && tpm->orphans_n < TENONI_ORPHANS)
        tpm->orphans[tpm->orphans_n++] = handle;
}

void tenoni_orphans_retry(tenon_tpm *tpm)
{
    size_t n = tpm->orphans_n;
    uint32_t orphans[TENONI_ORPHANS];
    memcpy(orphans, tpm->orphans, sizeof orphans);
    tpm->orphans_n = 0;
    for (size_t i = 0; i < n; i++)
        tenoni_tpm_flush(tpm, orphans[i]);
}

void tenoni_orphans_flush(tenon_tpm *tpm)
{
    if (tpm->orphans_n == 0)
        return;
    if (tpm->transport.reopen != NULL)
        (void)tenoni_tpm_reopen(tpm);
    else
        tenoni_orphans_retry(tpm);
}

/* Empty before it is flushed: a flush that finds no room makes some itself. */
void tenoni_slot_flush(tenon_tpm *tpm, tenoni_slot *slot)
{
    uint32_t handle = drop(tpm, slot);
    if (handle != 0)
        tenoni_tpm_flush(tpm, handle);
}

void tenoni_slots_flush(tenon_tpm *tpm)
{
    while (tpm->slots != NULL)
        tenoni_slot_flush(tpm, tpm->slots);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "native/desk.h"

#include <string.h>

#include "native/settings.h"

enum { BUSY_MS = 1500 };

static struct {
    tenon_tpm *tpm;
    tenoni_desk_key keys[TENONI_DESK_KEYS];
    size_t next;
    tenoni_sealed sealed;
} desk;

static tenon_tpm_transport given;

void tenoni_desk_use(const tenon_tpm_transport *transport)
{
    given = *transport;
}

tenoni_result tenoni_desk_tpm(tenon_tpm **out)
{
    const tenoni_settings *settings = tenoni_settings_use();
    tenon_tpm_options options = {.size = sizeof options, .deadline_ms = BUSY_MS};
    *out = desk.tpm;
    if (desk.tpm != NULL)
        return tenoni_because(TENONI_DONE);
    if (settings == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    options.allow_simulator = settings->allow_simulator;
    tenon_status status = given.exchange != NULL
                              ? tenon_tpm_open_transport(&desk.tpm, &given, &options)
                              : tenon_tpm_open(&desk.tpm, settings->tpm, strlen(settings->tpm), &options);
    *out = desk.tpm;
    return tenoni_of(status);
}

void tenoni_desk_clear(tenoni_desk_key *place)
{
    tenon_tpm_key_free(&place->key);
    *place = (tenoni_desk_key){.key = NULL};
}

/* At a fork, the worker may have been in the middle of anything: what it held is left to the parent process. */
void tenoni_desk_forget(bool all)
{
    for (size_t i = 0; all && i < TENONI_DESK_KEYS; i++)
        tenoni_desk_clear(&desk.keys[i]);
    if (all && desk.tpm != NULL)
        tenoni_sealed_clear(desk.tpm, &desk.sealed);
    if (all)
        tenon_tpm_free(&desk.tpm);
    memset(&desk, 0, sizeof desk);
}

tenoni_desk_key *tenoni_desk_place(const char *file)
{
    for (size_t i = 0; i < TENONI_DESK_KEYS; i++)
        if (desk.keys[i].key != NULL && strcmp(desk.keys[i].file, file) == 0)
            return &desk.keys[i];
    tenoni_desk_key *place = &desk.keys[desk.next++ % TENONI_DESK_KEYS];
    tenoni_desk_clear(place);
    return place;
}

tenoni_sealed *tenoni_desk_sealed(void)
{
    return &desk.sealed;
}

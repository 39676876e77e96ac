/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* strdup, getpwuid_r */
#include "native/settings.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/json_text.h"
#include "native/worker.h"

/* Under the worker's lock: a child of a fork must not find one that another thread held. */
static tenoni_settings settings;
static bool used;

static void clear(tenoni_settings *at)
{
    free(at->state_dir);
    free(at->tpm);
    *at = (tenoni_settings){0};
}

static char *joined(const char *home)
{
    tenoni_text path = {0};
    tenoni_text_add(&path, home);
    tenoni_text_add(&path, "/.local/state/tenon");
    return tenoni_text_take(&path);
}

/* Where tenon keeps its state. A library reads no environment (decision: native-settings). */
static char *usual_folder(void)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    if (geteuid() == 0)
        return strdup("/var/lib/tenon");
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || found == NULL || entry.pw_dir[0] != '/')
        return NULL;
    return joined(entry.pw_dir);
}

static bool fill(tenoni_settings *out, const tenon_native_options *options)
{
    out->state_dir = options->state_dir == NULL ? usual_folder() : strdup(options->state_dir);
    out->tpm = strdup(options->tpm == NULL ? "device:/dev/tpmrm0" : options->tpm);
    out->allow_simulator = options->allow_simulator != 0;
    out->counter = options->counter != 0;
    return out->state_dir != NULL && out->tpm != NULL;
}

static bool use(tenoni_settings *given)
{
    tenoni_worker_lock();
    if (settings.tpm == NULL) {
        settings = *given;
        *given = (tenoni_settings){0};
    }
    used = settings.tpm != NULL;
    tenoni_worker_unlock();
    return used;
}

/* The home folder is asked for outside the lock: that may take its time. */
const tenoni_settings *tenoni_settings_use(void)
{
    static const tenon_native_options usual = {.size = sizeof usual};
    tenoni_settings given = {0};
    if (use(&given))
        return &settings;
    if (!fill(&given, &usual))
        clear(&given);
    bool found = use(&given);
    clear(&given);
    return found ? &settings : NULL;
}

static bool are_good(const tenon_native_options *options)
{
    enum { PATH_LONGEST = 4000 };
    size_t n;
    return options != NULL && options->size == sizeof *options && options->allow_simulator <= 1 &&
           options->counter <= 1 &&
           (options->state_dir == NULL ||
            (tenoni_utf8(options->state_dir, PATH_LONGEST, false, &n) && options->state_dir[0] == '/')) &&
           (options->tpm == NULL || tenoni_utf8(options->tpm, PATH_LONGEST, false, &n));
}

static bool are_equal(const tenoni_settings *a, const tenoni_settings *b)
{
    return strcmp(a->state_dir, b->state_dir) == 0 && strcmp(a->tpm, b->tpm) == 0 &&
           a->allow_simulator == b->allow_simulator && a->counter == b->counter;
}

bool tenoni_settings_take(const tenon_native_options *options)
{
    tenoni_settings given = {0};
    bool taken = are_good(options) && fill(&given, options);
    tenoni_worker_lock();
    if (taken && used)
        taken = are_equal(&given, &settings);
    if (taken && !used) {
        tenoni_settings before = settings;
        settings = given;
        given = before;
    }
    tenoni_worker_unlock();
    clear(&given);
    return taken;
}

void tenoni_settings_forget(void)
{
    clear(&settings);
    used = false;
}

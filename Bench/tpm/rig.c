/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "admin.h"
#include "owned.h"

static rig *shared;
static int sharers;

static bool export_key(const tenon_tpm_key *key, rig_file *out)
{
    return tenon_tpm_key_export(key, out->text, sizeof out->text, &out->n) == TENON_OK;
}

/* Without a storage key at 0x81000001 the parent is the primary. */
static bool make_below_primary(rig *of, tenon_tpm *tpm)
{
    OWNED_TPM_KEY key = NULL;
    return tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &of->primary);
}

static bool make_below_srk(rig *of, tenon_tpm *tpm)
{
    OWNED_TPM_KEY key = NULL;
    return support_persist_srk(of->tpm, NULL, SUPPORT_SRK_PROVISIONING) == 0 &&
           tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &of->srk) &&
           tenon_tpm_key_persist(key, &of->handle) == TENON_OK && export_key(key, &of->kept);
}

static bool make(rig *of)
{
    OWNED_TPM tpm = NULL;
    of->tpm = support_swtpm_start(NULL);
    if (of->tpm == NULL)
        return false;
    of->wire = support_transport_new(of->tpm);
    of->table = support_transport_table(of->wire);
    return tenon_tpm_open_transport(&tpm, &of->table, NULL) == TENON_OK && make_below_primary(of, tpm) &&
           make_below_srk(of, tpm);
}

static void stop_shared(void)
{
    support_transport_free(shared->wire);
    support_swtpm_stop(shared->tpm);
    free(shared);
}

static bool make_shared(void)
{
    shared = calloc(1, sizeof *shared);
    return shared != NULL && atexit(stop_shared) == 0 && make(shared);
}

rig *rig_share(void)
{
    if (shared == NULL && !make_shared())
        return NULL;
    sharers++;
    return shared;
}

void rig_leave(rig *of)
{
    if (of != NULL && --sharers == 0)
        support_flush_all(of->tpm);
}

/* The library lies beside the program. */
bool rig_tcti(const rig *of, char *out)
{
    ssize_t length = readlink("/proc/self/exe", out, RIG_NAME_MAX - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    const size_t rest = RIG_NAME_MAX - (size_t)(slash - out);
    return snprintf(slash, rest, "/bench_tcti.so:%p", (const void *)&of->table) < (int)rest;
}

const char *rig_version(const char *name)
{
    const char *version = getenv(name);
    return version == NULL || version[0] == '\0' ? NULL : version;
}

static const char *name_of(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *name;
    } names[] = {
        {SUPPORT_CC_CERTIFY, "Certify"},
        {SUPPORT_CC_CONTEXT_LOAD, "ContextLoad"},
        {SUPPORT_CC_CONTEXT_SAVE, "ContextSave"},
        {SUPPORT_CC_CREATE, "Create"},
        {SUPPORT_CC_CREATE_PRIMARY, "CreatePrimary"},
        {SUPPORT_CC_FLUSH_CONTEXT, "FlushContext"},
        {SUPPORT_CC_GET_CAPABILITY, "GetCapability"},
        {SUPPORT_CC_GET_RANDOM, "GetRandom"},
        {SUPPORT_CC_LOAD, "Load"},
        {SUPPORT_CC_READ_PUBLIC, "ReadPublic"},
        {SUPPORT_CC_SIGN, "Sign"},
        {SUPPORT_CC_START_AUTH_SESSION, "StartAuthSession"},
        {SUPPORT_CC_STARTUP, "Startup"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "other";
}

static const rig *rig_of(void *context) { return *(rig *const *)context; }

static uint64_t count(void *context) { return support_transport_count(rig_of(context)->wire, SUPPORT_ANY); }

static void names(void *context, uint64_t since, char *out, size_t n)
{
    support_record record;
    size_t used = 0;
    out[0] = 0;
    for (size_t age = count(context) - since;
         age-- > 0 && support_transport_record(rig_of(context)->wire, age, &record);) {
        int more = snprintf(out + used, n - used, "%s%s", used == 0 ? "" : " ", name_of(record.code));
        if (more < 0 || (size_t)more >= n - used)
            return;
        used += (size_t)more;
    }
}

static void latency(void *context, uint32_t milliseconds)
{
    support_transport_latency(rig_of(context)->wire, milliseconds * 1000);
}

const side_commands rig_commands = {.count = count, .names = names, .latency = latency};

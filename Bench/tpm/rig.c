/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "admin.h"

static rig made;
static int users;

static bool export_key(const tenon_tpm_key *key, rig_file *out)
{
    return tenon_tpm_key_export(key, out->text, sizeof out->text, &out->n) == TENON_OK;
}

/* Without a storage key at 0x81000001 the parent is the primary, with one it is that. */
static bool make_keys(rig *of, tenon_tpm *tpm)
{
    tenon_tpm_key *key;
    bool done = tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &of->primary);
    tenon_tpm_key_free(&key);
    if (!done || support_persist_srk(of->tpm, NULL, SUPPORT_SRK_PROVISIONING) != 0)
        return false;
    done = tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &of->srk) &&
           tenon_tpm_key_persist(key, &of->handle) == TENON_OK && export_key(key, &of->kept);
    tenon_tpm_key_free(&key);
    return done;
}

static bool make(rig *of, bool with_keys)
{
    tenon_tpm *tpm;
    of->tpm = support_swtpm_start(NULL);
    if (of->tpm == NULL)
        return false;
    of->wire = support_transport_new(of->tpm);
    if (!with_keys)
        return true;
    tenon_tpm_transport table = support_transport_table(of->wire);
    bool done = tenon_tpm_open_transport(&tpm, &table, NULL) == TENON_OK && make_keys(of, tpm);
    tenon_tpm_free(&tpm);
    return done;
}

static void end(rig *of)
{
    support_transport_free(of->wire);
    support_swtpm_stop(of->tpm);
    memset(of, 0, sizeof *of);
}

rig *rig_new(bool with_keys)
{
    rig *of = calloc(1, sizeof *of);
    if (of != NULL && make(of, with_keys))
        return of;
    rig_free(of);
    return NULL;
}

void rig_free(rig *of)
{
    if (of == NULL)
        return;
    end(of);
    free(of);
}

const rig *rig_open(void)
{
    users++;
    if (users > 1 || make(&made, true))
        return &made;
    rig_close();
    return NULL;
}

void rig_close(void)
{
    if (--users > 0)
        return;
    end(&made);
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

static uint64_t count_of(const rig *of)
{
    return support_transport_count(of->wire, SUPPORT_ANY);
}

static void names_of(const rig *of, uint64_t since, char *out, size_t n)
{
    support_record record;
    size_t used = 0;
    out[0] = 0;
    for (size_t age = count_of(of) - since; age-- > 0 && support_transport_record(of->wire, age, &record);) {
        int more = snprintf(out + used, n - used, "%s%s", used == 0 ? "" : " ", name_of(record.code));
        if (more < 0 || (size_t)more >= n - used)
            return;
        used += (size_t)more;
    }
}

static uint64_t count(void *context)
{
    (void)context;
    return count_of(&made);
}

static void names(void *context, uint64_t since, char *out, size_t n)
{
    (void)context;
    names_of(&made, since, out, n);
}

static void latency(void *context, uint32_t milliseconds)
{
    (void)context;
    support_transport_latency(made.wire, milliseconds * 1000);
}

const bench_commands rig_commands = {.count = count, .names = names, .latency = latency};

static uint64_t own_count(void *context)
{
    return count_of(*(rig *const *)context);
}

static void own_names(void *context, uint64_t since, char *out, size_t n)
{
    names_of(*(rig *const *)context, since, out, n);
}

static void own_latency(void *context, uint32_t milliseconds)
{
    support_transport_latency((*(rig *const *)context)->wire, milliseconds * 1000);
}

const bench_commands rig_own_commands = {.count = own_count, .names = own_names, .latency = own_latency};

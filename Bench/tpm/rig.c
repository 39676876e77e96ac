/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <string.h>

#include "admin.h"

static rig made;
static int users;

static bool export_key(const tenon_tpm_key *key, rig_file *out)
{
    return tenon_tpm_key_export(key, out->text, sizeof out->text, &out->n) == TENON_OK;
}

/* Without a storage key at 0x81000001 the parent is the primary, with one it is that. */
static bool make_keys(tenon_tpm *tpm)
{
    tenon_tpm_key *key;
    bool done = tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &made.primary);
    tenon_tpm_key_free(&key);
    if (!done || support_persist_srk(made.tpm, NULL, SUPPORT_SRK_PROVISIONING) != 0)
        return false;
    done = tenon_tpm_key_create(tpm, &key, NULL, 0) == TENON_OK && export_key(key, &made.srk) &&
           tenon_tpm_key_persist(key, &made.handle) == TENON_OK && export_key(key, &made.kept);
    tenon_tpm_key_free(&key);
    return done;
}

static bool make(void)
{
    tenon_tpm *tpm;
    made.tpm = support_swtpm_start(NULL);
    if (made.tpm == NULL)
        return false;
    made.wire = support_transport_new(made.tpm);
    tenon_tpm_transport table = support_transport_table(made.wire);
    bool done = tenon_tpm_open_transport(&tpm, &table, NULL) == TENON_OK && make_keys(tpm);
    tenon_tpm_free(&tpm);
    return done;
}

const rig *rig_open(void)
{
    users++;
    if (users > 1 || make())
        return &made;
    rig_close();
    return NULL;
}

void rig_close(void)
{
    if (--users > 0)
        return;
    support_transport_free(made.wire);
    support_swtpm_stop(made.tpm);
    memset(&made, 0, sizeof made);
}

static const char *name_of(uint32_t code)
{
    switch (code) {
    case SUPPORT_CC_CERTIFY:
        return "Certify";
    case SUPPORT_CC_CREATE_PRIMARY:
        return "CreatePrimary";
    case SUPPORT_CC_FLUSH_CONTEXT:
        return "FlushContext";
    case SUPPORT_CC_LOAD:
        return "Load";
    case SUPPORT_CC_READ_PUBLIC:
        return "ReadPublic";
    case SUPPORT_CC_SIGN:
        return "Sign";
    case SUPPORT_CC_START_AUTH_SESSION:
        return "StartAuthSession";
    default:
        return "other";
    }
}

static uint64_t count(void *context)
{
    (void)context;
    return support_transport_count(made.wire, SUPPORT_ANY);
}

static void names(void *context, uint64_t since, char *out, size_t n)
{
    support_record record;
    size_t used = 0;
    out[0] = 0;
    for (size_t age = count(context) - since; age-- > 0 && support_transport_record(made.wire, age, &record);) {
        int more = snprintf(out + used, n - used, "%s%s", used == 0 ? "" : " ", name_of(record.code));
        if (more < 0 || (size_t)more >= n - used)
            return;
        used += (size_t)more;
    }
}

static void latency(void *context, uint32_t milliseconds)
{
    (void)context;
    support_transport_latency(made.wire, milliseconds * 1000);
}

const bench_commands rig_commands = {.count = count, .names = names, .latency = latency};

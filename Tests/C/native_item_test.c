/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/store.h"
#include "native/worker.h"
#include "native_rig.h"

/* The values of a runtime. */

static const char record[] = "{\"app_id\":\"app_1\",\"device_id\":\"dev_1\",\"attestation\":\"hardware\"}";

static int32_t outcome_of(const char *service, const char *key)
{
    int32_t outcome = 7;
    free(tenon_native_secure_load_ex(service, key, &outcome));
    return outcome;
}

/* The item that the mobile SDKs read back, by the same names. */
TEST_NATIVE(native_device_record_comes_back)
{
    CHECK_NONE(synheart_native_secure_load("synheart-core", "device_record:app_1"), "NATIVE_ABSENT");
    CHECK_NUMBER(synheart_native_secure_store("synheart-core", "device_record:app_1", record), 0);
    CHECK_CODE(NULL);
    CHECK_TEXT(synheart_native_secure_load("synheart-core", "device_record:app_1"), record);
    native_rig_again(rig);
    CHECK_TEXT(synheart_native_secure_load("synheart-core", "device_record:app_1"), record);
    CHECK_NUMBER(outcome_of("synheart-core", "device_record:app_1"), TENON_NATIVE_FOUND);
    CHECK_NUMBER(outcome_of("synheart-core", "device_record:app_2"), TENON_NATIVE_ABSENT);
    CHECK_NUMBER(synheart_native_secure_delete("synheart-core", "device_record:app_1"), 0);
    CHECK_NUMBER(synheart_native_secure_delete("synheart-core", "device_record:app_1"), 0);
    CHECK_NUMBER(outcome_of("synheart-core", "device_record:app_1"), TENON_NATIVE_ABSENT);
}

/* The shipped Android bridge joins the two names with "::", and these two collide. */
TEST_NATIVE(native_defect_9_names_do_not_collide)
{
    CHECK_NUMBER(synheart_native_secure_store("a", "b::c", "1"), 0);
    CHECK_NUMBER(synheart_native_secure_store("a::b", "c", "2"), 0);
    CHECK_NUMBER(synheart_native_secure_store("a::", "bc", "3"), 0);
    CHECK_TEXT(synheart_native_secure_load("a", "b::c"), "1");
    CHECK_TEXT(synheart_native_secure_load("a::b", "c"), "2");
    CHECK_TEXT(synheart_native_secure_load("a::", "bc"), "3");
    CHECK_NUMBER(native_rig_count(rig, "v-"), 3);
}

TEST_NATIVE(native_values_of_all_sizes)
{
    enum { LONGEST = TENON_NATIVE_VALUE_MAX };
    OWNED char *value = malloc(LONGEST + 2);
    memset(value, 'v', LONGEST + 1);
    value[LONGEST + 1] = 0;
    CHECK(synheart_native_secure_store("s", "k", value) != 0);
    CHECK_CODE("NATIVE_ARGUMENT");
    /* The longest takes its time: on a slow processor more than a call may. Then it is stored without this call. */
    value[test_rounds(LONGEST, 1 << 16)] = 0;
    if (synheart_native_secure_store("s", "k", value) != 0)
        CHECK_CODE("NATIVE_TIMEOUT");
    tenoni_worker_end();
    OWNED char *back = synheart_native_secure_load("s", "k");
    if (back == NULL)
        CHECK_CODE("NATIVE_TIMEOUT");
    CHECK(back == NULL || strcmp(back, value) == 0);
    /* A value that was asked for in vain is not replaced before it is read or deleted. */
    tenoni_worker_end();
    CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
    CHECK(native_rig_stores("s", "k", ""));
    CHECK(native_rig_loads("s", "k", ""));
    CHECK(native_rig_stores("s", "k", "\xf0\x9f\x94\x91"));
    CHECK(native_rig_loads("s", "k", "\xf0\x9f\x94\x91"));
    CHECK(synheart_native_secure_store("s", "k", "\xed\xa0\x80") != 0);
    CHECK(synheart_native_secure_store("s", "k", NULL) != 0);
    CHECK(synheart_native_secure_store("", "k", "v") != 0);
    CHECK(synheart_native_secure_store("s", NULL, "v") != 0);
    CHECK_TEXT(synheart_native_secure_load(NULL, "k"), NULL);
    CHECK(synheart_native_secure_delete("s", "\xff") != 0);
    CHECK(native_rig_loads("s", "k", "\xf0\x9f\x94\x91"));
}

/* No value, no name of one, and no key lies in the folder in clear. */
TEST_NATIVE(native_nothing_is_in_clear)
{
    CHECK_NUMBER(synheart_native_secure_store("the-service", "the-key", "the-value"), 0);
    OWNED_FILE file = native_rig_open(rig, "v-");
    CHECK(memmem(file.bytes, file.n, "the-", 4) == NULL && strstr(file.path, "the-") == NULL);
    OWNED char *report = tenon_native_report();
    CHECK(report != NULL && strstr(report, "the-") == NULL && strstr(report, "\"values\":1") != NULL);
}

/* What cannot be read is never replaced: a runtime that makes a new master key would lose all that the old one sealed.
 */
TEST(native_defect_1_unreadable_value_is_kept)
{
    OWNED_NATIVE rig = native_rig_with("master");
    OWNED_FILE file = native_rig_open(&rig, "v-");
    size_t kept_n;
    for (size_t at = 0; at < file.n; at++) {
        test_about("byte %zu", at);
        file.bytes[at] ^= 1;
        native_rig_write(file.path, file.bytes, file.n);
        CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
        CHECK_NOT_STORED("k", "NATIVE_VALUE_KEPT");
        OWNED uint8_t *kept = native_rig_bytes(file.path, &kept_n);
        CHECK_SAME(kept, kept_n, file.bytes, file.n);
        file.bytes[at] ^= 1;
    }
    native_rig_write(file.path, file.bytes, file.n);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "master");
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "new"), 0);
    native_rig_write(file.path, file.bytes, file.n / 2);
    CHECK(synheart_native_secure_store("s", "k", "newer") != 0);
    CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "newer"), 0);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "newer");
}

TEST(native_cut_value_is_noticed)
{
    OWNED_NATIVE rig = native_rig_with("master");
    OWNED_FILE file = native_rig_open(&rig, "v-");
    for (size_t length = 0; length < file.n; length++) {
        native_rig_write(file.path, file.bytes, length);
        CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    }
}

TEST_NATIVE(native_exchanged_value_is_noticed)
{
    CHECK_NUMBER(synheart_native_secure_store("s", "first", "1"), 0);
    OWNED_FILE file = native_rig_open(rig, "v-");
    CHECK_NUMBER(unlink(file.path), 0);
    CHECK_NUMBER(synheart_native_secure_store("s", "second", "2"), 0);
    OWNED_FILE other = native_rig_open(rig, "v-");
    native_rig_write(other.path, file.bytes, file.n);
    CHECK_NONE(synheart_native_secure_load("s", "second"), "NATIVE_DAMAGED");
    CHECK_NUMBER(outcome_of("s", "first"), TENON_NATIVE_ABSENT);
}

TEST(native_link_is_not_followed)
{
    OWNED_NATIVE rig = native_rig_with("master");
    OWNED_FILE file = native_rig_open(&rig, "v-");
    CHECK_NUMBER(rename(file.path, file.copy) + symlink(file.copy, file.path), 0);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    CHECK_CODE("NATIVE_FOLDER");
}

/* What could not be written to its end is removed, and not in the way of the next. */
TEST_NATIVE(native_cut_file_is_removed)
{
    enum { WRITE = 3 };
    static const struct {
        int error;
        const char *code;
    } rows[] = {{ENOSPC, "NATIVE_DISK_FULL"}, {EDQUOT, "NATIVE_DISK_FULL"}, {EIO, "NATIVE_DISK"}};
    OWNED char *fresh = NULL;
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "old"), 0);
    OWNED_FILE file = native_rig_open(rig, "v-");
    CHECK(asprintf(&fresh, "%s.new", file.path) > 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        native_cut_at(NATIVE_FAIL, WRITE, rows[i].error);
        CHECK(synheart_native_secure_store("s", "k", "new") != 0);
        CHECK_CODE(rows[i].code);
        native_cut_at(NATIVE_COUNT, 0, 0);
        CHECK_NUMBER(access(fresh, F_OK), -1);
        CHECK_TEXT(synheart_native_secure_load("s", "k"), "old");
    }
}

/* The values' key: without it, values are unreadable; and it is not made again while there are values. */
TEST(native_store_key_is_not_made_again)
{
    OWNED_NATIVE rig = native_rig_with("master");
    OWNED_FILE file = native_rig_open(&rig, "store");
    CHECK_NUMBER(unlink(file.path), 0);
    native_rig_again(&rig);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "master");
    CHECK_NUMBER(access(file.path, F_OK), 0);
    CHECK_NUMBER(unlink(file.path) + unlink(file.copy), 0);
    native_rig_again(&rig);
    CHECK_NOT_LOADED("NATIVE_STORE_KEY");
    CHECK(synheart_native_secure_store("s", "other", "value") != 0);
    CHECK_NUMBER(native_rig_count(&rig, "store"), 0);
    CHECK_NUMBER(outcome_of("s", "other"), TENON_NATIVE_ABSENT);
    OWNED char *report = tenon_native_report();
    CHECK(report != NULL && strstr(report, "NATIVE_STORE_KEY") != NULL);
    native_rig_write(file.path, file.bytes, file.n / 2);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    native_rig_write(file.path, file.bytes, file.n);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "master");
}

TEST(native_cleared_tpm_is_not_absence)
{
    for (int fault = 0; fault < 4; fault++) {
        bool counter = fault >= 2;
        OWNED_NATIVE rig = counter ? native_rig_counted() : native_rig_start();
        test_about("fault %d", fault);
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "master"), 0);
        native_rig_again(&rig);
        if (fault % 2 == 0)
            CHECK_NUMBER(support_clear(rig.sw, SUPPORT_RH_LOCKOUT, NULL), 0);
        else
            native_rig_exchange_tpm(&rig);
        CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
        CHECK_CODE("NATIVE_TPM_CHANGED");
        CHECK(synheart_native_secure_store("s", "k", "new") != 0);
        CHECK(synheart_native_secure_store("s", "other", "new") != 0);
        CHECK_NUMBER(native_rig_count(&rig, "v-"), 1);
        CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "new"), 0);
        CHECK_TEXT(synheart_native_secure_load("s", "k"), "new");
        CHECK_NUMBER(native_rig_count(&rig, "aside-"), counter ? 2 : 1); /* the manifest, too */
    }
}

static void check_trace(const char *about, const char *expected)
{
    test_about("%s: %s", about, native_cut_trace());
    CHECK(strcmp(native_cut_trace(), expected) == 0);
    native_cut_at(NATIVE_COUNT, 0, 0);
}

#define KEPT "wfrd" /* written, synced, named, and the name synced */

/* What a runtime was told outlasts a loss of power: the content first, then its name, and the next file only then. */
TEST(native_all_is_on_disk_before_it_is_said)
{
    for (int counter = 0; counter < 2; counter++) {
        OWNED_NATIVE rig = counter != 0 ? native_rig_counted() : native_rig_start();
        native_cut_at(NATIVE_COUNT, 0, 0);
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "first"), 0);
        check_trace("a store", counter != 0 ? "md" KEPT KEPT /* begun */ KEPT KEPT /* manifest */ KEPT KEPT
                                              "udud" KEPT KEPT KEPT
                                            : "md" KEPT KEPT KEPT);
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "second"), 0);
        check_trace("a value", counter != 0 ? KEPT KEPT KEPT : KEPT);
        CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
        check_trace("no value", counter != 0 ? KEPT KEPT "ud" : "ud");
        free(synheart_native_generate_key("dev_1"));
        check_trace("a key", KEPT KEPT);
        CHECK_NUMBER(synheart_native_delete_key("dev_1"), 0);
        check_trace("no key", "ddudud");
    }
    test_about(NULL);
}

/* The state folder need not be there: the first call makes it, and its name is on the disk before anything is in it. */
TEST_NATIVE(native_state_folder_is_made)
{
    OWNED char *above = NULL, *state = NULL, *files = NULL;
    CHECK(asprintf(&above, "%s/above", rig->folder) > 0 && asprintf(&state, "%s/state", above) > 0 &&
          asprintf(&files, "%s/native", state) > 0);
    char *folder = rig->folder;
    rig->folder = state;
    native_rig_again(rig);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_ABSENT);
    CHECK_NUMBER(access(above, F_OK), -1);
    native_cut_at(NATIVE_COUNT, 0, 0);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "v"), 0);
    check_trace("a store in a new folder", "mdmdmd" KEPT KEPT KEPT);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
    native_rig_empty(rig);
    rig->folder = folder;
    CHECK_NUMBER(rmdir(state) + rmdir(above), 0);
}

/* A TPM in lockout is not asked again: that would be another guess. */
TEST(native_store_in_lockout_asks_once)
{
    OWNED_NATIVE rig = native_rig_with("v");
    support_transport_reset_counts(rig.wire);
    support_fail_code(rig.wire, support_next(0x15e), 0x921);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    CHECK_NUMBER(support_transport_count(rig.wire, 0x15e), 1); /* Unseal */
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
}

TEST(native_store_counts)
{
    OWNED_NATIVE rig = native_rig_with("v");
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
    support_transport_reset_counts(rig.wire);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 1);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "w"), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 2);
    CHECK_NUMBER(support_transport_count(rig.wire, 0x15e), 2); /* Unseal */
    CHECK_TEXT(synheart_native_secure_load("s", "absent"), NULL);
    CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 2);
}

/* ---- With a counter ---- */

TEST(native_yesterdays_value_is_noticed)
{
    OWNED_NATIVE rig = native_rig_counted_with("yesterday");
    CHECK_NUMBER(synheart_native_secure_store("s", "other", "value"), 0);
    OWNED_FILE old_manifest = native_rig_open(&rig, "manifest");
    CHECK_NUMBER(synheart_native_secure_delete("s", "other"), 0);
    OWNED_FILE old = native_rig_open(&rig, "v-");
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "today"), 0);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "today");
    OWNED_FILE today = native_rig_open(&rig, "v-");
    /* The value alone. */
    native_rig_write(old.path, old.bytes, old.n);
    CHECK_NOT_LOADED("NATIVE_STALE");
    CHECK(synheart_native_secure_store("s", "k", "new") != 0);
    /* The value, and all that goes with it. */
    OWNED_FILE manifest = native_rig_open(&rig, "manifest");
    native_rig_write(manifest.path, old_manifest.bytes, old_manifest.n);
    native_rig_write(manifest.copy, old_manifest.bytes, old_manifest.n);
    native_rig_again(&rig);
    CHECK_NOT_LOADED("NATIVE_STALE");
    CHECK_NUMBER(outcome_of("s", "absent"), TENON_NATIVE_UNAVAILABLE);
    /* The files of today again. */
    native_rig_write(manifest.path, manifest.bytes, manifest.n);
    native_rig_write(manifest.copy, manifest.bytes, manifest.n);
    native_rig_write(today.path, today.bytes, today.n);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "today");
    CHECK_NUMBER(unlink(today.path), 0);
    CHECK_NOT_LOADED("NATIVE_MISSING");
    native_rig_write(today.path, today.bytes, today.n);
    CHECK_NUMBER(unlink(manifest.path), 0);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "today");
}

/* A value that was deleted and put back is deleted. */
TEST(native_deleted_value_stays_deleted)
{
    OWNED_NATIVE rig = native_rig_counted_with("value");
    OWNED_FILE file = native_rig_open(&rig, "v-");
    CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
    native_rig_write(file.path, file.bytes, file.n);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_ABSENT);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "again"), 0);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "again");
}

/* The value that a cut left ahead of the manifest cannot be read for a while: no other one takes its number. */
TEST(native_value_ahead_is_waited_for)
{
    enum { MANIFEST = 7 }; /* behind two folders that are there, the value, its name, and two syncs */
    OWNED_NATIVE rig = native_rig_counted_with("old");
    OWNED_FILE file = native_rig_open(&rig, "v-");
    native_cut_at(NATIVE_FAIL, MANIFEST, EIO);
    CHECK(synheart_native_secure_store("s", "k", "new") != 0);
    native_cut_at(NATIVE_COUNT, 0, 0);
    CHECK_NUMBER(chmod(file.path, 0620), 0);
    CHECK_NOT_STORED("other", "NATIVE_FOLDER");
    CHECK_NUMBER(chmod(file.path, 0600), 0);
    CHECK_NUMBER(synheart_native_secure_store("s", "other", "value"), 0);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "new");
    CHECK_TEXT(synheart_native_secure_load("s", "other"), "value");
}

/* What a process left whose name was not synced yet: the counter does not pass it before it is on the disk. */
TEST(native_cut_is_on_disk_before_it_counts)
{
    enum { BEHIND_VALUE = 6, BEHIND_MANIFEST = 10, FIRST = 3, INCREMENT = 0x134 };
    static const struct {
        int cut;
        const char *ended;
    } rows[] = {{BEHIND_VALUE, "d" KEPT KEPT KEPT KEPT KEPT}, {BEHIND_MANIFEST, "d" KEPT KEPT KEPT}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        OWNED_NATIVE rig = native_rig_counted();
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "old"), 0);
        native_cut_at(NATIVE_FAIL, rows[i].cut, EIO);
        CHECK(synheart_native_secure_store("s", "k", "new") != 0);
        native_rig_again(&rig);
        native_cut_at(NATIVE_FAIL, FIRST, EIO);
        CHECK_NOT_STORED("k", "NATIVE_DISK");
        CHECK_NUMBER(support_transport_count(rig.wire, INCREMENT), 0);
        native_cut_at(NATIVE_COUNT, 0, 0);
        CHECK_NUMBER(synheart_native_secure_store("s", "k", "newer"), 0);
        check_trace("a value behind a cut", rows[i].ended);
    }
    test_about(NULL);
}

/* The store gets all the values that a manifest lists. */
static void fill_manifest(void)
{
    enum { ENTRY = TENON_DIGEST_SIZE + 8, ALL_BUT_ONE = 65535 };
    static const tenon_digest last = {.bytes = {1}};
    tenoni_folder folder;
    tenoni_store store;
    tenoni_worker_end();
    CHECK_NUMBER(tenoni_folder_open(&folder, true).cause, TENONI_DONE);
    CHECK_NUMBER(tenoni_folder_lock(&folder).cause, TENONI_DONE);
    CHECK_NUMBER(tenoni_store_make(&folder, &store).cause, TENONI_DONE);
    uint8_t *entries = calloc(ALL_BUT_ONE, ENTRY);
    memcpy(entries, store.manifest.entries, store.manifest.count * ENTRY);
    free(store.manifest.entries);
    store.manifest.entries = entries;
    store.manifest.count = ALL_BUT_ONE;
    CHECK_NUMBER(
        tenoni_manifest_next(&folder, store.tpm, store.sealed, store.secret, &store.manifest, &last, true).cause,
        TENONI_DONE);
    tenoni_store_close(&store);
    tenoni_folder_close(&folder);
}

TEST(native_full_store_stays_usable)
{
    OWNED_NATIVE rig = native_rig_counted_with("v");
    fill_manifest();
    CHECK_NOT_STORED("another", "NATIVE_FULL");
    CHECK(native_rig_stores("s", "k", "w"));
    CHECK(native_rig_loads("s", "k", "w"));
    CHECK_NUMBER(synheart_native_secure_delete("s", "k"), 0);
    CHECK(native_rig_stores("s", "another", "v"));
    CHECK_NOT_STORED("k", "NATIVE_FULL");
}

TEST(native_counted_store_counts)
{
    OWNED_NATIVE rig = native_rig_counted_with("v");
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
    support_transport_reset_counts(rig.wire);
    CHECK_TEXT(synheart_native_secure_load("s", "k"), "v");
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 2);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", "w"), 0);
    CHECK_NUMBER(support_transport_count(rig.wire, SUPPORT_ANY), 6);
}

/* A counter that is gone, and one that somebody else made in its place. */
TEST(native_another_counter_is_noticed)
{
    OWNED_NATIVE rig = native_rig_counted_with("v");
    CHECK_NUMBER(support_nv_remove(rig.sw, 0x018a7e00), 0);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    CHECK(synheart_native_secure_store("s", "k", "w") != 0);
    CHECK_NUMBER(support_nv_write(rig.sw, 0x018a7e00, (const uint8_t *)"12345678", 8), 0);
    CHECK_NUMBER(outcome_of("s", "k"), TENON_NATIVE_UNAVAILABLE);
    CHECK_NUMBER(native_rig_count(&rig, "v-"), 1);
    CHECK_NUMBER(tenon_native_selftest(), 0);
}

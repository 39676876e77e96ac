/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "native_rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "native/desk.h"
#include "native/settings.h"
#include "native/unread.h"
#include "native/worker.h"

static void must(bool made)
{
    if (!made)
        exit(2);
}

static void begin(native_rig *rig)
{
    tenon_tpm_transport table = support_transport_table(rig->wire);
    tenon_native_options options = {.size = sizeof options, .state_dir = rig->folder, .counter = rig->counter};
    tenoni_settings_forget();
    tenoni_unread_forget();
    tenoni_desk_use(&table);
    must(CHECK_NUMBER(tenon_native_configure(&options), 0));
}

static native_rig start(bool counter)
{
    native_rig rig = {.sw = support_swtpm_start(NULL), .folder = support_folder_make(), .counter = counter};
    must(rig.sw != NULL && rig.folder != NULL);
    rig.wire = support_transport_new(rig.sw);
    begin(&rig);
    return rig;
}

native_rig native_rig_start(void) { return start(false); }

native_rig native_rig_counted(void) { return start(true); }

static native_rig start_with(bool counter, const char *value)
{
    native_rig rig = start(counter);
    CHECK_NUMBER(synheart_native_secure_store("s", "k", value), 0);
    return rig;
}

native_rig native_rig_with(const char *value) { return start_with(false, value); }

native_rig native_rig_counted_with(const char *value) { return start_with(true, value); }

void native_rig_again(native_rig *rig)
{
    tenoni_worker_end();
    tenoni_desk_forget(true);
    begin(rig);
    support_transport_reset_counts(rig->wire);
}

void native_rig_exchange_tpm(native_rig *rig)
{
    tenoni_desk_forget(true);
    support_transport_free(rig->wire);
    support_swtpm_stop(rig->sw);
    rig->sw = support_swtpm_start(NULL);
    must(rig->sw != NULL);
    rig->wire = support_transport_new(rig->sw);
    begin(rig);
}

static void remove_below(const char *folder, const char *name)
{
    char *path = NULL;
    must(asprintf(&path, "%s/%s", folder, name) > 0);
    DIR *files = opendir(path);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files != NULL)
        closedir(files);
    rmdir(path);
    free(path);
}

void native_rig_empty(native_rig *rig)
{
    enum { FIRST_COUNTER = 0x018a7e00, COUNTERS = 4 };
    tenoni_desk_forget(true);
    remove_below(rig->folder, "native");
    for (uint32_t index = FIRST_COUNTER; rig->counter && index < FIRST_COUNTER + COUNTERS; index++)
        (void)support_nv_remove(rig->sw, index);
}

void native_rig_stop(native_rig *rig)
{
    tenoni_worker_end();
    tenoni_desk_forget(true);
    if (support_swtpm_is_on(rig->sw)) {
        CHECK_NUMBER(support_transient_count(rig->sw), 0);
        CHECK_NUMBER(support_session_count(rig->sw), 0);
    }
    CHECK_NUMBER(support_transport_overlaps(rig->wire), 0);
    support_transport_free(rig->wire);
    support_swtpm_stop(rig->sw);
    remove_below(rig->folder, "native");
    support_folder_remove(rig->folder);
    tenoni_settings_forget();
    tenoni_unread_forget();
}

bool native_rig_text(const char *file, int line, char *found, const char *expected)
{
    bool same = found == NULL ? expected == NULL : expected != NULL && strcmp(found, expected) == 0;
    if (!same)
        test_fail(file, line, "found %s, expected %s", found == NULL ? "nothing" : found,
                  expected == NULL ? "nothing" : expected);
    free(found);
    return same;
}

bool native_rig_code(const char *file, int line, const char *code)
{
    OWNED char *error = tenon_native_last_error();
    OWNED char *expected = NULL;
    if (code != NULL)
        must(asprintf(&expected, "{\"code\":\"%s\",", code) > 0);
    bool same = error == NULL ? code == NULL : code != NULL && strncmp(error, expected, strlen(expected)) == 0;
    if (!same)
        test_fail(file, line, "the error is %s, expected %s", error == NULL ? "none" : error,
                  code == NULL ? "none" : code);
    return same;
}

bool native_rig_asks_again(int *tries)
{
    OWNED char *error = tenon_native_last_error();
    return error != NULL && strstr(error, "\"retryable\":true") != NULL && ++*tries < 100;
}

bool native_rig_stores(const char *service, const char *key, const char *value)
{
    int32_t result;
    int tries = 0;
    do
        result = synheart_native_secure_store(service, key, value);
    while (result != 0 && native_rig_asks_again(&tries));
    return result == 0;
}

bool native_rig_loads(const char *service, const char *key, const char *expected)
{
    char *value;
    int tries = 0;
    do
        value = synheart_native_secure_load(service, key);
    while (value == NULL && native_rig_asks_again(&tries));
    bool same = value != NULL && strcmp(value, expected) == 0;
    free(value);
    return same;
}

typedef void visit(void *context, const char *name);

static void each(const native_rig *rig, const char *begin_of, visit *function, void *context)
{
    OWNED char *path = NULL;
    must(asprintf(&path, "%s/native", rig->folder) > 0);
    DIR *files = opendir(path);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL)
        if (strncmp(entry->d_name, begin_of, strlen(begin_of)) == 0 && strchr(entry->d_name, '.') == NULL)
            function(context, entry->d_name);
    if (files != NULL)
        closedir(files);
}

static void count_one(void *context, const char *name) { ++*(size_t *)context; }

size_t native_rig_count(const native_rig *rig, const char *begin_of)
{
    size_t count = 0;
    each(rig, begin_of, count_one, &count);
    return count;
}

typedef struct {
    const native_rig *rig;
    char *path;
} finding;

static void find_one(void *context, const char *name)
{
    finding *work = context;
    free(work->path);
    must(asprintf(&work->path, "%s/native/%s", work->rig->folder, name) > 0);
}

native_file native_rig_open(const native_rig *rig, const char *begin_of)
{
    finding work = {.rig = rig};
    native_file file = {.n = 0};
    each(rig, begin_of, find_one, &work);
    must(work.path != NULL && asprintf(&file.copy, "%s.copy", work.path) > 0);
    file.path = work.path;
    file.bytes = native_rig_bytes(file.path, &file.n);
    return file;
}

void native_file_free(native_file *file)
{
    free(file->path);
    free(file->copy);
    free(file->bytes);
}

uint8_t *native_rig_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL);
    uint8_t *bytes = malloc(65536);
    *n = bytes == NULL ? 0 : fread(bytes, 1, 65536, file);
    fclose(file);
    return bytes;
}

void native_rig_write(const char *path, const void *bytes, size_t n)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, bytes, n) == (ssize_t)n);
    close(file);
}

/* ---- Cuts, by -Wl,--wrap: every call by which the library changes the disk ---- */

static struct {
    native_cut kind;
    int number;
    int error;
    atomic_int calls;
    char trace[256];
} cut;

void native_cut_at(native_cut kind, int number, int error)
{
    cut.kind = kind;
    cut.number = number;
    cut.error = error;
    atomic_store(&cut.calls, 0);
    memset(cut.trace, 0, sizeof cut.trace);
}

int native_cut_calls(void) { return atomic_load(&cut.calls); }

const char *native_cut_trace(void) { return cut.trace; }

static bool fails(void)
{
    if (atomic_fetch_add(&cut.calls, 1) + 1 != cut.number || cut.kind == NATIVE_COUNT)
        return false;
    if (cut.kind == NATIVE_KILL)
        raise(SIGKILL);
    errno = cut.error;
    return cut.kind == NATIVE_FAIL;
}

static void passed(char letter)
{
    size_t n = strlen(cut.trace);
    if (n < sizeof cut.trace - 1)
        cut.trace[n] = letter;
    if (cut.kind == NATIVE_KILL_AFTER && atomic_load(&cut.calls) == cut.number)
        raise(SIGKILL);
}

ssize_t __real_pwrite64(int file, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite64(int file, const void *bytes, size_t n, off_t at);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to);
int __real_unlinkat(int folder, const char *name, int flags);
int __wrap_unlinkat(int folder, const char *name, int flags);
int __real_mkdirat(int folder, const char *name, mode_t mode);
int __wrap_mkdirat(int folder, const char *name, mode_t mode);

/* Half of the bytes arrive before a cut. */
ssize_t __wrap_pwrite64(int file, const void *bytes, size_t n, off_t at)
{
    if (cut.kind != NATIVE_COUNT && atomic_load(&cut.calls) + 1 == cut.number && n > 1)
        (void)!__real_pwrite64(file, bytes, n / 2, at);
    if (fails())
        return -1;
    ssize_t done = __real_pwrite64(file, bytes, n, at);
    passed('w');
    return done;
}

#define WRAPPED(letter, call)                                                                                          \
    if (fails())                                                                                                       \
        return -1;                                                                                                     \
    int result = call;                                                                                                 \
    if (result == 0)                                                                                                   \
        passed(letter);                                                                                                \
    return result

static char letter_of_sync(int file)
{
    struct stat found;
    return fstat(file, &found) == 0 && S_ISDIR(found.st_mode) ? 'd' : 'f';
}

int __wrap_fsync(int file) { WRAPPED(letter_of_sync(file), __real_fsync(file)); }

int __wrap_renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    WRAPPED('r', __real_renameat(from_folder, from, to_folder, to));
}

int __wrap_unlinkat(int folder, const char *name, int flags) { WRAPPED('u', __real_unlinkat(folder, name, flags)); }

int __wrap_mkdirat(int folder, const char *name, mode_t mode) { WRAPPED('m', __real_mkdirat(folder, name, mode)); }

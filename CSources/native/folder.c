/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* O_CLOEXEC, fdopendir, mkdirat */
#include "native/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "native/settings.h"
#include "tpm/open.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC, OTHERS_WRITE = 022, NAME_LONGEST = 128 };

static bool is_ours(const struct stat *found)
{
    return found->st_uid == geteuid() && (found->st_mode & OTHERS_WRITE) == 0;
}

static tenoni_result check_folder(int folder)
{
    struct stat found;
    if (fstat(folder, &found) != 0)
        return tenoni_of_errno(errno);
    return is_ours(&found) ? tenoni_because(TENONI_DONE) : tenoni_because(TENONI_FOLDER_UNSAFE);
}

/* A name that vanished while we work in the folder is a fault, and not an absence. */
static tenoni_result of_change(int error)
{
    return tenoni_of_errno(error == ENOENT ? EIO : error);
}

/* Its name: it may be in a folder that we reach by a path only. */
static tenoni_result sync_above(int parent, const char *name)
{
    int folder = openat(parent, name, FOLDER_FLAGS);
    int above = folder < 0 ? -1 : openat(folder, "..", FOLDER_FLAGS);
    bool synced = above >= 0 && fsync(above) == 0;
    tenoni_result result = synced ? tenoni_because(TENONI_DONE) : of_change(errno);
    if (above >= 0)
        close(above);
    if (folder >= 0)
        close(folder);
    return result;
}

static tenoni_result make_in(int parent, const char *name)
{
    if (mkdirat(parent, name, 0700) == 0)
        return sync_above(parent, name);
    return errno == EEXIST ? tenoni_because(TENONI_DONE) : tenoni_of_errno(errno);
}

static tenoni_result open_in(int parent, const char *name, bool make, int *out)
{
    tenoni_result result = make ? make_in(parent, name) : tenoni_because(TENONI_DONE);
    if (!tenoni_done(result))
        return result;
    *out = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
    if (*out < 0)
        return tenoni_of_errno(errno);
    result = check_folder(*out);
    if (!tenoni_done(result)) {
        close(*out);
        *out = -1;
    }
    return result;
}

/* The folders above the state folder may be links, and anybody's. */
static tenoni_result make_parents(char *path)
{
    tenoni_result result = tenoni_because(TENONI_DONE);
    for (char *slash = strchr(path + 1, '/'); slash != NULL && tenoni_done(result); slash = strchr(slash + 1, '/')) {
        *slash = 0;
        result = make_in(AT_FDCWD, path);
        *slash = '/';
    }
    return result;
}

static tenoni_result open_state(const char *state_dir, bool make, int *out)
{
    char *path = strdup(state_dir);
    if (path == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = 0;
    tenoni_result result = open_in(AT_FDCWD, path, make, out);
    if (make && tenoni_nothing(result)) {
        result = make_parents(path);
        if (tenoni_done(result))
            result = open_in(AT_FDCWD, path, make, out);
    }
    free(path);
    return result;
}

tenoni_result tenoni_folder_open(tenoni_folder *out, bool make)
{
    const tenoni_settings *settings = tenoni_settings_use();
    *out = (tenoni_folder){.state = -1, .files = -1, .lock = -1};
    if (settings == NULL)
        return tenoni_because(TENONI_FOLDER_UNSAFE);
    tenoni_result result = open_state(settings->state_dir, make, &out->state);
    if (!tenoni_done(result))
        return result;
    result = open_in(out->state, "native", make, &out->files);
    if (!tenoni_done(result))
        tenoni_folder_close(out);
    return result;
}

void tenoni_folder_close(tenoni_folder *folder)
{
    const int open[] = {folder->lock, folder->files, folder->state};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        if (open[i] >= 0)
            close(open[i]);
    *folder = (tenoni_folder){.state = -1, .files = -1, .lock = -1};
}

/* A record lock belongs to the process, so that a fork's child does not keep it; only the worker ever takes it. */
tenoni_result tenoni_folder_lock(tenoni_folder *folder)
{
    enum { PATIENCE_MS = 4000 };
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    tenoni_patience patience = {0};
    folder->lock = openat(folder->files, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (folder->lock < 0)
        return tenoni_of_errno(errno == ENOENT ? EIO : errno);
    while (fcntl(folder->lock, F_SETLK, &whole) != 0) {
        if (errno != EACCES && errno != EAGAIN && errno != EINTR)
            return tenoni_of_errno(errno);
        if (!tenoni_wait_once(&patience, PATIENCE_MS, true))
            return tenoni_because(TENONI_FOLDER_BUSY);
    }
    return tenoni_because(TENONI_DONE);
}

tenoni_result tenoni_file_look(int folder, const char *name, struct stat *out)
{
    return fstatat(folder, name, out, AT_SYMLINK_NOFOLLOW) == 0 ? tenoni_because(TENONI_DONE) : tenoni_of_errno(errno);
}

static tenoni_result read_all(int file, uint8_t *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(file, bytes + done, n - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? tenoni_because(TENONI_FILE_DAMAGED) : tenoni_of_errno(errno);
        done += (size_t)got;
    }
    return tenoni_because(TENONI_DONE);
}

static tenoni_result read_open(int file, size_t max, uint8_t **out, size_t *n)
{
    struct stat found;
    if (fstat(file, &found) != 0)
        return tenoni_of_errno(errno);
    if (!S_ISREG(found.st_mode) || !is_ours(&found))
        return tenoni_because(TENONI_FOLDER_UNSAFE);
    if (found.st_size <= 0 || (uint64_t)found.st_size > max)
        return tenoni_because(TENONI_FILE_DAMAGED);
    *n = (size_t)found.st_size;
    *out = malloc(*n);
    if (*out == NULL)
        return tenoni_because(TENONI_NO_MEMORY);
    tenoni_result result = read_all(file, *out, *n);
    if (!tenoni_done(result)) {
        free(*out);
        *out = NULL;
    }
    return result;
}

tenoni_result tenoni_file_read(int folder, const char *name, size_t max, uint8_t **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    /* A FIFO at this name must not hold us up. */
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return tenoni_of_errno(errno);
    tenoni_result result = read_open(file, max, out, n);
    close(file);
    return result;
}

static tenoni_result write_all(int file, const uint8_t *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t put = pwrite(file, bytes + done, n - done, (off_t)done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return tenoni_of_errno(put == 0 ? EIO : errno);
        done += (size_t)put;
    }
    return fsync(file) == 0 ? tenoni_because(TENONI_DONE) : tenoni_of_errno(errno);
}

tenoni_result tenoni_file_write(const tenoni_folder *folder, const char *name, const uint8_t *bytes, size_t n)
{
    char fresh[NAME_LONGEST];
    tenoni_writer writer = tenoni_writer_over((uint8_t *)fresh, sizeof fresh);
    tenoni_write_bytes(&writer, name, strlen(name));
    tenoni_write_bytes(&writer, ".new", sizeof ".new");
    if (writer.overflowed)
        return tenoni_because(TENONI_BAD_ARGUMENT);
    int file = openat(folder->files, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return of_change(errno);
    tenoni_result result = write_all(file, bytes, n);
    close(file);
    if (tenoni_done(result))
        result = tenoni_file_rename(folder, fresh, name);
    if (!tenoni_done(result))
        (void)unlinkat(folder->files, fresh, 0);
    return result;
}

tenoni_result tenoni_file_rename(const tenoni_folder *folder, const char *from, const char *to)
{
    return renameat(folder->files, from, folder->files, to) == 0 ? tenoni_because(TENONI_DONE) : of_change(errno);
}

tenoni_result tenoni_file_remove(const tenoni_folder *folder, const char *name)
{
    return unlinkat(folder->files, name, 0) == 0 || errno == ENOENT ? tenoni_because(TENONI_DONE) : of_change(errno);
}

tenoni_result tenoni_folder_sync(const tenoni_folder *folder)
{
    return fsync(folder->files) == 0 ? tenoni_because(TENONI_DONE) : of_change(errno);
}

tenoni_result tenoni_folder_list(int folder, tenoni_see *see, void *context)
{
    int again = openat(folder, ".", FOLDER_FLAGS);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    if (names == NULL) {
        tenoni_result result = of_change(errno);
        if (again >= 0)
            close(again);
        return result;
    }
    const struct dirent *entry;
    bool more = true;
    /* What the caller does with a name may set errno. */
    while (errno = 0, more && (entry = readdir(names)) != NULL)
        more = see(context, entry->d_name);
    tenoni_result result = errno != 0 ? of_change(errno) : tenoni_because(TENONI_DONE);
    closedir(names);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *support_folder_make(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = NULL;
    if (base == NULL || base[0] == 0)
        base = "/tmp";
    if (asprintf(&folder, "%s/tenon-swtpm.XXXXXX", base) < 0)
        return NULL;
    if (mkdtemp(folder) == NULL) {
        free(folder);
        return NULL;
    }
    return folder;
}

static bool pour(int to, int from)
{
    char buffer[8192];
    ssize_t n;
    while ((n = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)n) != n)
            return false;
    return n == 0;
}

static bool copy_file(int to_folder, int from_folder, const char *name)
{
    int from = openat(from_folder, name, O_RDONLY | O_CLOEXEC);
    int to = openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool done = from >= 0 && to >= 0 && pour(to, from);
    if (from >= 0)
        close(from);
    if (to >= 0)
        done = close(to) == 0 && done;
    return done;
}

static bool is_state(int folder, const char *name)
{
    struct stat about;
    return strcmp(name, ".lock") != 0 && fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(about.st_mode);
}

bool support_folder_copy(const char *to, const char *from)
{
    int to_folder = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = opendir(from);
    const struct dirent *file;
    bool done = to_folder >= 0 && files != NULL;
    while (done && (file = readdir(files)) != NULL)
        if (is_state(dirfd(files), file->d_name))
            done = copy_file(to_folder, dirfd(files), file->d_name);
    if (files != NULL)
        closedir(files);
    if (to_folder >= 0)
        close(to_folder);
    return done;
}

void support_folder_remove(char *folder)
{
    DIR *files;
    const struct dirent *file;
    if (folder == NULL)
        return;
    files = opendir(folder);
    if (files != NULL) {
        while ((file = readdir(files)) != NULL)
            unlinkat(dirfd(files), file->d_name, 0);
        closedir(files);
    }
    rmdir(folder);
    free(folder);
}

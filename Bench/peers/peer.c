/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "peer.h"

#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "door.h"
#include "folder.h"

enum { DEPTH = 8, PACKAGES_MAX = 128 };

/* The TCTI lies beside the program. */
static bool find_tcti(char *out, size_t n)
{
    ssize_t length = readlink("/proc/self/exe", out, n - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    size_t used = (size_t)(slash - out);
    return snprintf(slash, n - used, "/bench_tcti.so") < (int)(n - used);
}

bool peer_open(peer *out, bool with_keys)
{
    char tcti[PEER_NAME_MAX / 2];
    out->rig = rig_new(with_keys);
    out->folder = support_folder_make();
    if (out->rig == NULL || out->folder == NULL || !find_tcti(tcti, sizeof tcti))
        return false;
    out->table = support_transport_table(out->rig->wire);
    out->door = door_new(&out->table, out->folder);
    if (out->door == NULL)
        return false;
    out->socket = door_path(out->door);
    return snprintf(out->inside, sizeof out->inside, "%s:table:%p", tcti, (void *)&out->table) < PEER_NAME_MAX &&
           snprintf(out->outside, sizeof out->outside, "%s:%s", tcti, out->socket) < PEER_NAME_MAX;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

void peer_close(peer *of)
{
    door_free(of->door);
    if (of->folder != NULL)
        nftw(of->folder, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS);
    free(of->folder);
    rig_free(of->rig);
    memset(of, 0, sizeof *of);
}

char *peer_path(const peer *of, const char *name)
{
    char *made;
    return asprintf(&made, "%s/%s", of->folder, name) < 0 ? NULL : made;
}

bool peer_write(const peer *of, const char *name, const void *bytes, size_t n)
{
    char *path = peer_path(of, name);
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    free(path);
    bool done = file != NULL && fwrite(bytes, 1, n, file) == n;
    return file != NULL && fclose(file) == 0 && done;
}

const char *peer_package(const char *name)
{
    static char lines[PACKAGES_MAX][64];
    size_t n = strlen(name);
    const char *list = getenv("BENCH_PACKAGES");
    FILE *file = list == NULL ? NULL : fopen(list, "r");
    if (file == NULL)
        return NULL;
    size_t i = 0;
    while (i < PACKAGES_MAX && fgets(lines[i], sizeof lines[i], file) != NULL) {
        lines[i][strcspn(lines[i], "\n")] = '\0';
        i++;
    }
    fclose(file);
    while (i-- > 0)
        if (strncmp(lines[i], name, n) == 0 && lines[i][n] == '=')
            return lines[i] + n + 1;
    return NULL;
}

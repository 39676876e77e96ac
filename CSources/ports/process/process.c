/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* secure_getenv, O_PATH */
#include "process.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int given_n;
static char *const *given;

/* glibc passes the arguments of main to functions that it runs before main. */
__attribute__((constructor)) static void begin(int n, char **words)
{
    given_n = n;
    given = words;
}

int tenoni_process_words(char *const **words)
{
    *words = given;
    return given_n;
}

void tenoni_process_fill(void)
{
    int file;
    do
        file = open("/", O_PATH | O_CLOEXEC);
    while (file >= STDIN_FILENO && file <= STDERR_FILENO);
    if (file > STDERR_FILENO)
        close(file);
}

const char *tenoni_process_variable(const char *name)
{
    return secure_getenv(name);
}

static bool is_named(const char *variable, const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || strncmp(variable, name, n) != 0)
        return false;
    return name[n - 1] == '_' || variable[n] == '=';
}

static bool is_kept(const char *variable, const char *const *names)
{
    while (*names != NULL && !is_named(variable, *names))
        names++;
    return *names != NULL;
}

void tenoni_process_keep(const char *const *names)
{
    static char *none[1];
    size_t n = 0;
    size_t kept_n = 0;
    if (environ == NULL)
        return;
    while (environ[n] != NULL)
        n++;
    char **kept = calloc(n + 1, sizeof *kept);
    for (size_t i = 0; kept != NULL && i < n; i++)
        if (is_kept(environ[i], names))
            kept[kept_n++] = environ[i];
    environ = kept != NULL ? kept : none;
}

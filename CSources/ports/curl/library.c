/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"
#include "exchange.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

tenoni_curl tenoni_curl_library;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_ready;

/* dlsym returns a function's address as an object pointer (POSIX); ISO C has no cast for that. */
static bool find(void *library, const char *name, void *function, size_t size)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, size);
    return found != NULL;
}

static void load_once(void)
{
    bool has_all = true;
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
#define FIND(name)                                                                                                     \
    has_all = find(library, "curl_" #name, &tenoni_curl_library.name, sizeof tenoni_curl_library.name) && has_all;
    TENONI_CURL_FUNCTIONS(FIND)
#undef FIND
    is_ready = has_all && tenoni_curl_library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

int tenoni_exchange_load(void)
{
    return pthread_once(&once, load_once) == 0 && is_ready;
}

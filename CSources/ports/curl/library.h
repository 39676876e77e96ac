/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_LIBRARY_H
#define TENONI_LIBRARY_H

#include <curl/curl.h>

/* The functions of libcurl that Tenon uses. */
#define TENONI_CURL_FUNCTIONS(F)                                                                                       \
    F(global_init)                                                                                                     \
    F(easy_init)                                                                                                       \
    F(easy_reset)                                                                                                      \
    F(easy_setopt)                                                                                                     \
    F(easy_getinfo)                                                                                                    \
    F(easy_cleanup)                                                                                                    \
    F(multi_init)                                                                                                      \
    F(multi_add_handle)                                                                                                \
    F(multi_perform)                                                                                                   \
    F(multi_poll)                                                                                                      \
    F(multi_wakeup)                                                                                                    \
    F(multi_info_read)                                                                                                 \
    F(multi_remove_handle)                                                                                             \
    F(multi_cleanup)                                                                                                   \
    F(slist_append)                                                                                                    \
    F(slist_free_all)

#define TENONI_CURL_MEMBER(name) __typeof__(curl_##name) *name;
typedef struct tenoni_curl {
    TENONI_CURL_FUNCTIONS(TENONI_CURL_MEMBER)
} tenoni_curl;

/*
 * libcurl is loaded when it is first needed, not with the program: it brings two dozen libraries, libcrypto among them,
 * and a device that only signs sends nothing.
 */
extern tenoni_curl tenoni_curl_library;

#endif

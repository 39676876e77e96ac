/* SPDX-License-Identifier: Apache-2.0 */
#include "tenon/tenon.h"

/* The one place of the version: the Makefile reads these three lines for the library's name and tenon.pc. */
#define VERSION_MAJOR 0
#define VERSION_MINOR 1
#define VERSION_PATCH 0

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

uint32_t tenon_version(void)
{
    return (uint32_t)VERSION_MAJOR << 24 | (uint32_t)VERSION_MINOR << 16 | (uint32_t)VERSION_PATCH << 8;
}

const char *tenon_version_text(void)
{
    return TEXT(VERSION_MAJOR) "." TEXT(VERSION_MINOR) "." TEXT(VERSION_PATCH);
}

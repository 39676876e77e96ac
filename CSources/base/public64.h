/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_PUBLIC64_H
#define TENONI_PUBLIC64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * base64 (RFC 4648, 4 and 5) by a table, for what travels in the open and is hot: the coder of tenon/encoding.h, whose
 * time does not depend on the data, takes longer for a signature's path than its hashes do.
 */

/* Writes the padded text of n bytes, (n + 2) / 3 * 4 characters. */
void tenoni_public64_encode(char *out, const uint8_t *data, size_t n);

/*
 * Reads exactly n bytes from exactly the text that they have: padded in the standard alphabet, without padding in the
 * one for URLs.
 */
bool tenoni_public64_decode(uint8_t *out, size_t n, const void *text, size_t text_n, bool url);

#endif

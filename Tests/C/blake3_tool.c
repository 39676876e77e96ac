/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "crypto/blake3.h"

/* blake3_tool: the BLAKE3 of the standard input, as b3sum --no-names prints it. */
int main(void)
{
    tenoni_blake3_stream stream;
    tenon_digest digest;
    unsigned char piece[1000];
    size_t n;
    tenoni_blake3_begin(&stream);
    while ((n = fread(piece, 1, sizeof piece, stdin)) != 0)
        tenoni_blake3_update(&stream, piece, n);
    if (ferror(stdin) != 0)
        return EXIT_FAILURE;
    tenoni_blake3_finish(&stream, &digest);
    for (size_t i = 0; i < sizeof digest.bytes; i++)
        printf("%02x", digest.bytes[i]);
    putchar('\n');
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "proof/roca.h"

/*
 * Nemec et al., The Return of Coppersmith's Attack (2017), 2.2: the weak primes are k M + (65537^a mod M), M a product
 * of the first primes. So their product is a power of 65537 modulo each of these, which one modulus of 2^27 is by
 * chance.
 */
static const uint8_t primes[] = {3,   5,   7,   11,  13,  17,  19,  23,  29,  31,  37,  41,  43,
                                 47,  53,  59,  61,  67,  71,  73,  79,  83,  89,  97,  101, 103,
                                 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167};

static uint32_t remainder_of(tenoni_reader number, uint32_t prime)
{
    uint32_t rest = 0;
    for (size_t i = 0; i < number.left; i++)
        rest = (rest << 8 | number.at[i]) % prime;
    return rest;
}

static bool is_power(uint32_t number, uint32_t prime)
{
    uint32_t power = 1;
    do {
        if (power == number)
            return true;
        power = power * (65537 % prime) % prime;
    } while (power != 1);
    return false;
}

bool tenoni_roca_matches(tenoni_reader modulus)
{
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++)
        if (!is_power(remainder_of(modulus, primes[i]), primes[i]))
            return false;
    return true;
}

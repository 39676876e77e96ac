/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_QUIRKS_H
#define TENONI_QUIRKS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tenon/activate.h"

/*
 * How TPMs deviate from the specifications, and how Tenon handles that. An exception for another TPM belongs here, and
 * the rest of the core calls these functions. They use no TPM library, because verifiers call some of them.
 *
 * What makers have done to certificates is handled where certificates are read: see proof/date.h (GeneralizedTime
 * before 2050), proof/extension.c (FALSE and zero bits that are written out) and proof/certificate.c (negative serial
 * numbers).
 */

/*
 * Numbers without their leading zeros: some TPMs leave them out of coordinates and signatures, one time in 256. A Name
 * is computed over the bytes that the TPM wrote. A number fits when it has 1 to TENON_SCALAR_SIZE bytes; pad writes it
 * modulo 2^(8 size), in size bytes.
 */
bool tenoni_number_fits(tenoni_reader number);
void tenoni_number_pad(uint8_t *out, size_t size, tenoni_reader number);

/*
 * Whether a salted session may have been refused because the TPM arrived at another salt: some TPMs leave the leading
 * zeros of the shared x coordinate out of the key derivation. Then one more session is worth a try, provided that a
 * wrong auth value costs nothing.
 */
bool tenoni_quirk_salt_misread(tenon_status refusal);

/* What a response code means after this command, for a TPM that returns another code than the specification says. */
uint32_t tenoni_quirk_answer(uint32_t command, uint32_t code);

/* Whether an RSA modulus has the pattern of CVE-2017-15361 (ROCA), with which it can be factored. */
bool tenoni_roca_matches(tenoni_reader modulus);

/* What TPMs in software call themselves in their EK certificates. */
extern const tenon_ek_pattern tenoni_simulators[];
extern const size_t tenoni_simulators_count;

#endif

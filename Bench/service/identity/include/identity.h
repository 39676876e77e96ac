/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_IDENTITY_H
#define BENCH_IDENTITY_H

/*
 * What a bench needs in the place of many TPMs and of their maker: RSA-2048 EKs in software with certificates of a
 * chain of three, and the opening of credentials. Over libcrypto, so that it shares no code with what is measured, and
 * judges it too. Nothing here protects anything: the EKs have primes in common, as primes take long to find.
 */

#include <stddef.h>
#include <stdint.h>

enum { BENCH_CERTIFICATE_MAX = 2048, BENCH_SECRET_SIZE = 32, BENCH_NAME_SIZE = 34 };

typedef struct bench_maker bench_maker;
typedef struct bench_ek bench_ek;

/* A maker that can make so many EKs; NULL when there is no memory or no randomness. */
bench_maker *bench_maker_new(size_t eks);
void bench_maker_free(bench_maker *maker);

/* The root, 0, and what it certified, 1, which certifies EKs. DER; how many bytes. */
size_t bench_maker_certificate(const bench_maker *maker, int which, uint8_t *out, size_t size);

/* The EK of this number, and its certificate. */
bench_ek *bench_ek_new(const bench_maker *maker, size_t number);
void bench_ek_free(bench_ek *ek);
size_t bench_ek_certificate(const bench_ek *ek, uint8_t *out, size_t size);

/*
 * ActivateCredential (TPM 2.0 Part 1, 24): credential and encrypted are TPM2Bs with their sizes; whether the secret is
 * for this EK and for an object of this Name. Any thread may call it for an EK that no other one uses.
 */
int bench_ek_open(const bench_ek *ek, uint8_t *secret, const uint8_t *credential, size_t credential_n,
                  const uint8_t *encrypted, size_t encrypted_n, const uint8_t *name);

#endif

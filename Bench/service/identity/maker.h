/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_MAKER_H
#define BENCH_MAKER_H

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "identity.h"

/* The caller's. */
EVP_PKEY *bench_maker_key(const bench_maker *maker, size_t number);
X509 *bench_maker_certify(const bench_maker *maker, EVP_PKEY *key, size_t number);

size_t bench_der(const X509 *certificate, uint8_t *out, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/version.h>
#include <stdlib.h>
#include <sys/random.h>

#include "software_sides.h"

typedef struct {
    const fixture *fixture;
    struct ecc_scalar key;
    struct ecc_point point;
    struct dsa_signature out, signatures[FIXTURE_MESSAGES];
    size_t turn;
} nettle_side;

#define TEXT(number) #number
#define VERSION(major, minor) TEXT(major) "." TEXT(minor)

static const char *version(void)
{
    return VERSION(NETTLE_VERSION_MAJOR, NETTLE_VERSION_MINOR);
}

static void draw(void *context, size_t n, uint8_t *out)
{
    (void)context;
    if (getrandom(out, n, 0) != (ssize_t)n)
        abort();
}

static void read_number(mpz_t out, const uint8_t *bytes)
{
    mpz_import(out, TENON_SCALAR_SIZE, 1, 1, 1, 0, bytes);
}

static void nettle_close(void *context)
{
    nettle_side *self = context;
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++)
        dsa_signature_clear(&self->signatures[i]);
    dsa_signature_clear(&self->out);
    ecc_point_clear(&self->point);
    ecc_scalar_clear(&self->key);
    free(self);
}

static void *nettle_open(const fixture *made)
{
    mpz_t x, y;
    nettle_side *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->fixture = made;
    mpz_inits(x, y, NULL);
    ecc_scalar_init(&self->key, nettle_get_secp_256r1());
    ecc_point_init(&self->point, nettle_get_secp_256r1());
    dsa_signature_init(&self->out);
    read_number(x, made->scalar);
    bool ready = ecc_scalar_set(&self->key, x) == 1;
    read_number(x, made->key.bytes);
    read_number(y, made->key.bytes + TENON_SCALAR_SIZE);
    ready = ready && ecc_point_set(&self->point, x, y) == 1;
    mpz_clears(x, y, NULL);
    for (size_t i = 0; i < FIXTURE_MESSAGES; i++) {
        dsa_signature_init(&self->signatures[i]);
        read_number(self->signatures[i].r, made->signatures[i].bytes);
        read_number(self->signatures[i].s, made->signatures[i].bytes + TENON_SCALAR_SIZE);
    }
    if (ready)
        return self;
    nettle_close(self);
    return NULL;
}

static bool sign(void *context)
{
    nettle_side *self = context;
    const tenon_digest *digest = &self->fixture->digests[fixture_next(&self->turn)];
    ecdsa_sign(&self->key, NULL, draw, sizeof digest->bytes, digest->bytes, &self->out);
    return true;
}

static bool verify(void *context)
{
    nettle_side *self = context;
    size_t i = fixture_next(&self->turn);
    const tenon_digest *digest = &self->fixture->digests[i];
    return ecdsa_verify(&self->point, sizeof digest->bytes, digest->bytes, &self->signatures[i]) == 1;
}

static bool generate(void *context)
{
    (void)context;
    struct ecc_scalar key;
    struct ecc_point point;
    ecc_scalar_init(&key, nettle_get_secp_256r1());
    ecc_point_init(&point, nettle_get_secp_256r1());
    ecdsa_generate_keypair(&point, &key, NULL, draw);
    ecc_point_clear(&point);
    ecc_scalar_clear(&key);
    return true;
}

static const side_line lines[] = {{"sign", sign}, {"verify", verify}, {"generate", generate}};

const side side_nettle = {
    .name = "nettle",
    .version = version,
    .open = nettle_open,
    .close = nettle_close,
    .lines = lines,
    .lines_n = sizeof lines / sizeof *lines,
};

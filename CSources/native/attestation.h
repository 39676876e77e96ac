/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TENONI_ATTESTATION_H
#define TENONI_ATTESTATION_H

#include "native/device_key.h"
#include "native/json_text.h"

/*
 * A proof that a device's key is in this TPM, made with the attestation key that `tenon` got a certificate for. Each
 * device id keeps the attestation key that it began with (decision: native-attestation). TENONI_NO_CERTIFICATE: the
 * state folder has none, or several of which nobody says which one is meant.
 */
tenoni_result tenoni_device_attest(const tenoni_folder *folder, const char *id, const tenon_digest *challenge,
                                   tenoni_text *blob);

/* How many attestation keys with a certificate lie in the state folder. */
tenoni_result tenoni_attesters(const tenoni_folder *folder, size_t *count);

/* The certificates of a PEM file, leaf first. false: it is not one, or has more than TENON_CERTIFICATES_MAX. */
typedef struct {
    uint8_t bytes[TENON_CERTIFICATES_TOTAL];
    tenon_bytes parts[TENON_CERTIFICATES_MAX];
    size_t count;
} tenoni_chain;

bool tenoni_chain_read(tenoni_chain *out, const uint8_t *pem, size_t n);

#endif

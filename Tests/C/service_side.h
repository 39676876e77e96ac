/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDED_RIG_H
#define FOLDED_RIG_H

#include "tpm_rig.h"

/*
 * The folded activation, both sides of it, with nothing between them but bytes. The names of the steps:
 *
 *   challenge   the device sends its EK certificate and AK, the service answers with a challenge and a credential
 *   answer      the device activates, and certifies its key
 *   register    the service decides
 *   issue       the AK's certificate, with which later proofs are made
 */

enum { FOLDED_TEXT_MAX = 128 };

typedef struct {
    const char *origin;
    const char *app;
    uint8_t key[TENON_DIGEST_SIZE]; /* K_act */
    tpm_certificate root;           /* of EK certificates */
    const tenon_digest *denied;     /* an ek_id, or NULL */
    int64_t now;
} folded_service;

/* The entry that a service keeps under a challenge. */
typedef struct {
    char challenge[FOLDED_TEXT_MAX];
    tenon_ek ek;
    uint8_t ak[TENON_AREA_MAX];
    size_t ak_n;
} folded_state;

typedef struct {
    char challenge[FOLDED_TEXT_MAX];
    tpm_credential credential;
} folded_offer;

typedef struct {
    char public_key[256]; /* base64 of the SubjectPublicKeyInfo */
    tenon_digest activation;
    size_t activation_n; /* 0: the request has none */
    uint8_t proof[TENON_PROOF_MAX];
    size_t proof_n;
} folded_request;

/* A device for each template, with the certificates of its EK, leaf first, and the root above them. */
typedef struct {
    tpm_rig rig;
    tpm_device device;
    support_ek which;
    tpm_certificate chain[2];
    size_t chain_n;
    tpm_certificate root;
} folded_device;

folded_device folded_start(support_ek which);
void folded_stop(folded_device *at);

/* A service that trusts the device's root. */
folded_service folded_service_for(const folded_device *at, const char *origin, const char *app);

/* A challenge that no call before had. */
tenon_status folded_challenge(const folded_service *service, folded_state *state, folded_offer *offer,
                              const folded_device *at);

/* The device believes that it talks to this origin and app. */
tenon_status folded_answer(const folded_device *at, folded_request *request, const folded_offer *offer,
                           const char *origin, const char *app);
tenon_status folded_attest(const folded_device *at, folded_request *request, const char *challenge,
                           const tpm_certificate *ak_certificate);

/* The bound values of the activation, from the service's side. */
tenon_activation folded_activation(const folded_service *service, const folded_state *state, const char *public_key,
                                   uint8_t *name);
tenon_status folded_secret(const folded_service *service, const folded_state *state, tenon_digest *secret);
tenon_status folded_register(const folded_service *service, const folded_state *state, const folded_request *request);

/* The authority for AK certificates, and what it issues for the AK of a state. */
tpm_certificate folded_authority(const folded_service *service);
tpm_certificate folded_issue(const folded_service *service, const folded_state *state);

/* A later proof, under the authority. */
tenon_status folded_verify_later(const folded_service *service, const folded_request *request, const char *challenge);

/* A device and a service, and the first message between them. */
typedef struct {
    folded_device at;
    folded_service service;
    folded_state state;
    folded_offer offer;
    folded_request request;
} folded_scene;

extern const char folded_origin[], folded_app[], folded_relay[];

void folded_begin(folded_scene *s, support_ek which);

#endif

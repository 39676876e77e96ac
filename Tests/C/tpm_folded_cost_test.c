/* SPDX-License-Identifier: Apache-2.0 */
#include "service_side.h"

/* The number of TPM commands on the device's side of a folded activation; docs/c-abi.md has the sums. */

typedef struct {
    uint32_t create;      /* a fresh process: the handle is opened, the key and the AK are made */
    uint32_t certificate; /* the EK certificate out of NV, where there is one */
    uint32_t answer;      /* the credential is opened, and the key certified */
    uint32_t load;        /* another process: both are loaded, before it answers once more */
} cost;

static uint32_t commands(folded_scene *s)
{
    uint32_t count = support_transport_count(s->at.rig.wire, SUPPORT_ANY);
    support_transport_reset_counts(s->at.rig.wire);
    return count;
}

static uint32_t read_certificate(folded_scene *s)
{
    const tpm_ek_place *place = &tpm_ek_places[s->at.which];
    tpm_certificate found;
    if (s->at.which != SUPPORT_EK_RSA_L1 && s->at.which != SUPPORT_EK_P384_H3)
        return 0;
    CHECK_OK(tenon_tpm_ek_certificate(s->at.rig.tpm, place->kind, found.bytes, sizeof found.bytes, &found.n));
    CHECK_BYTES(found.bytes, s->at.chain[0].bytes, s->at.chain[0].n);
    return commands(s);
}

/* From nothing to what /register carries. */
static void measure_registration(folded_scene *s, cost *found)
{
    tpm_device *device = &s->at.device;
    tpm_rig_ek_free(device);
    tpm_rig_again(&s->at.rig, NULL);
    found->certificate = read_certificate(s);
    CHECK_OK(tenon_tpm_key_create(s->at.rig.tpm, &device->key, NULL, 0));
    CHECK_OK(tenon_tpm_ak_create(device->key, &device->ak));
    found->create = commands(s);
    s->service = folded_service_for(&s->at, folded_origin, folded_app);
    CHECK_OK(folded_challenge(&s->service, &s->state, &s->offer, &s->at));
    CHECK_NUMBER(commands(s), 0);
    CHECK_OK(folded_answer(&s->at, &s->request, &s->offer, folded_origin, folded_app));
    found->answer = commands(s);
    CHECK_OK(folded_register(&s->service, &s->state, &s->request));
}

/* A proof alone, as with an AK certificate, is one command. */
static void measure_renewal(folded_scene *s, cost *found)
{
    tpm_device *device = &s->at.device;
    tpm_pem key = tpm_rig_export(device->key), ak = tpm_rig_export(device->ak);
    tpm_rig_ek_free(device);
    tpm_rig_again(&s->at.rig, NULL);
    CHECK_OK(tpm_rig_load(&s->at.rig, &device->key, &key));
    CHECK_OK(tenon_tpm_ak_load(s->at.rig.tpm, &device->ak, ak.text, ak.n));
    found->load = commands(s);
    CHECK_OK(folded_answer(&s->at, &s->request, &s->offer, folded_origin, folded_app));
    CHECK_NUMBER(commands(s), found->answer);
    CHECK_OK(folded_attest(&s->at, &s->request, s->offer.challenge, NULL));
    CHECK_NUMBER(commands(s), 1);
}

static void check(const folded_scene *s, bool srk, const cost *found, const cost *known)
{
    if (getenv("TENON_TEST_TABLE") != NULL)
        printf("%s, under %s: create %u, certificate %u, answer %u, together %u; load %u\n",
               tpm_ek_places[s->at.which].name, srk ? "an SRK" : "the primary", found->create, found->certificate,
               found->answer, found->create + found->certificate + found->answer, found->load);
    CHECK_NUMBER(found->create, known->create);
    CHECK_NUMBER(found->certificate, known->certificate);
    CHECK_NUMBER(found->answer, known->answer);
    CHECK_NUMBER(found->load, known->load);
}

/*
 * TENON_TEST_TABLE in the environment shows it. The EKs of L-1 and H-3 are persistent; another is made for each answer,
 * and flushed.
 */
TEST(tpm_folded_cost)
{
    static const cost known[2][SUPPORT_EKS] = {
        {{6, 3, 8, 3}, {6, 0, 12, 3}, {6, 0, 15, 3}, {6, 0, 15, 3}, {6, 3, 10, 3}},
        {{8, 3, 8, 2}, {8, 0, 12, 2}, {8, 0, 15, 2}, {8, 0, 15, 2}, {8, 3, 10, 2}},
    };
    static folded_scene s;
    size_t step = test_rounds(1, SUPPORT_EK_P384_H3); /* L-1 and H-3 alone */
    for (size_t which = SUPPORT_EK_RSA_L1; which < SUPPORT_EKS; which += step)
        for (int srk = 0; srk < 2; srk++) {
            cost found = {0};
            s.at = folded_start((support_ek)which);
            if (srk == 1)
                CHECK_NUMBER(support_persist_srk(s.at.rig.sw, NULL, SUPPORT_SRK_PROVISIONING), 0);
            measure_registration(&s, &found);
            measure_renewal(&s, &found);
            check(&s, srk == 1, &found, &known[srk][which]);
            folded_stop(&s.at);
        }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm_rig.h"
#include "wire.h"

/* EK certificates in NV, and their EKs, wherever those are. */

static tenon_status read_certificate(tpm_rig *rig, uint32_t kind, tpm_certificate *out)
{
    out->n = 0;
    return tenon_tpm_ek_certificate(rig->tpm, kind, out->bytes, sizeof out->bytes, &out->n);
}

/* The certificate that swtpm_setup wrote, as openssl would read it. */
TEST_EK(tpm_ek_certificates_in_nv)
{
    static const char *const files[] = {".build/make/swtpm/ek-rsa2048.crt", ".build/make/swtpm/ek-secp384r1.crt"};
    static const uint32_t kinds[] = {TENON_EK_RSA_2048, TENON_EK_P384};
    tpm_certificate found;
    for (size_t i = 0; i < 2; i++) {
        uint8_t expected[TENON_CERTIFICATE_MAX];
        FILE *file = fopen(files[i], "rb");
        test_about("%s", files[i]);
        size_t n = file == NULL ? 0 : fread(expected, 1, sizeof expected, file);
        if (file != NULL)
            fclose(file);
        CHECK_OK(read_certificate(rig, kinds[i], &found));
        CHECK(n != 0 && n == found.n && memcmp(found.bytes, expected, n) == 0);
    }
    test_about(NULL);
    CHECK_STATUS(read_certificate(rig, TENON_EK_P256, &found), TENON_ERROR_EK_MISSING);
}

OUTPUT(certificate_output)
{
    return tenon_tpm_ek_certificate(((const tpm_rig *)input)->tpm, TENON_EK_P384, out, n, written);
}

TEST_EK(tpm_ek_arguments)
{
    tpm_certificate found;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
    test_output_rule("tenon_tpm_ek_certificate", certificate_output, rig, found.bytes, found.n);
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(read_certificate(rig, TENON_EK_P384 + 1, &found), TENON_ERROR_OPTIONS);
    CHECK_STATUS(tenon_tpm_ek_certificate(NULL, TENON_EK_P384, found.bytes, 9, &found.n), TENON_ERROR_NULL);
    CHECK_STATUS(tenon_tpm_ek_certificate(rig->tpm, TENON_EK_P384, found.bytes, 9, NULL), TENON_ERROR_NULL);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 0);
}

/* Bytes before and behind it in NV are not returned, nor is anything but a certificate. */
TEST_EK(tpm_ek_certificate_is_trimmed)
{
    static uint8_t nv[1900];
    tpm_certificate plain, found;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &plain));
    for (int round = 0; round < 4; round++) {
        size_t head = round == 2 ? 5 : 0;
        test_about("round %d", round);
        memset(nv, round == 1 ? 0xff : 0, sizeof nv);
        memcpy(nv, (const uint8_t[]){0x10, 0x01, 0x00, (uint8_t)(plain.n >> 8), (uint8_t)plain.n}, 5);
        if (round != 3)
            memcpy(nv + head, plain.bytes, plain.n);
        CHECK_NUMBER(support_nv_write(rig->sw, SUPPORT_NV_EK_P256, nv, sizeof nv), 0);
        support_transport_reset_counts(rig->wire);
        if (round == 3)
            memset(nv, 0, 5);
        if (round == 3)
            CHECK_CATEGORY(read_certificate(rig, TENON_EK_P256, &found), TENON_CATEGORY_FORMAT);
        else if (CHECK_OK(read_certificate(rig, TENON_EK_P256, &found)))
            CHECK(found.n == plain.n && memcmp(found.bytes, plain.bytes, plain.n) == 0);
        /* NV_ReadPublic, the size of a chunk, and two chunks. */
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_ANY), 4);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_NV_READ), 2);
        CHECK_NUMBER(support_nv_remove(rig->sw, SUPPORT_NV_EK_P256), 0);
    }
}

/* An index as an owner makes it: defined by the owner, with an auth value of its own. */
static void define(tpm_rig *rig, uint32_t index, uint32_t attributes, const char *owner_auth, uint32_t size)
{
    CHECK_NUMBER(support_run(rig->sw, NULL, SUPPORT_CC_NV_DEFINE_SPACE, "4pt242402", SUPPORT_RH_OWNER, owner_auth,
                             "auth", 14u, index, 0x000Bu, attributes, size),
                 0);
}

static void write_index(tpm_rig *rig, uint32_t index, const char *owner_auth, const uint8_t *bytes, size_t n)
{
    CHECK_NUMBER(
        support_run(rig->sw, NULL, SUPPORT_CC_NV_WRITE, "44pb2", SUPPORT_RH_OWNER, index, owner_auth, bytes, n, 0u), 0);
}

/* OWNERWRITE, NO_DA, and who may read. */
enum { NV_NOBODY = 0x02080002, NV_OWNER = 0x02020002, NV_AUTH = 0x02040002, NV_BOTH = 0x02060002 };

/* An answer must be about the requested index. */
TEST_EK(tpm_ek_certificate_of_another_index)
{
    enum { INDEX_AT = 10 + 2 };
    tpm_certificate found;
    for (int32_t i = 0; i < 4; i++) {
        test_about("byte %d", (int)i);
        support_flip(rig->wire, support_next(SUPPORT_CC_NV_READ_PUBLIC), INDEX_AT + i, 1);
        CHECK_STATUS(read_certificate(rig, TENON_EK_P384, &found), TENON_ERROR_TPM_ANSWER);
    }
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
}

TEST(tpm_ek_certificate_by_owner)
{
    static const uint32_t attributes[] = {NV_OWNER, NV_BOTH};
    OWNED_RIG rig = tpm_rig_ek_start(&tpm_owner);
    tpm_certificate plain, found;
    CHECK_OK(read_certificate(&rig, TENON_EK_P384, &plain));
    CHECK_NUMBER(support_change_auth(rig.sw, SUPPORT_RH_OWNER, NULL, "owner"), 0);
    for (size_t i = 0; i < 2; i++) {
        test_about("%08x", (unsigned)attributes[i]);
        define(&rig, SUPPORT_NV_EK_P256, attributes[i], "owner", (uint32_t)plain.n);
        CHECK_STATUS(read_certificate(&rig, TENON_EK_P256, &found), TENON_ERROR_EK_MISSING); /* never written */
        write_index(&rig, SUPPORT_NV_EK_P256, "owner", plain.bytes, plain.n);
        CHECK_OK(read_certificate(&rig, TENON_EK_P256, &found));
        CHECK(found.n == plain.n && memcmp(found.bytes, plain.bytes, plain.n) == 0);
        tpm_rig_again(&rig, NULL);
        CHECK_RC(read_certificate(&rig, TENON_EK_P256, &found), TENON_CATEGORY_AUTH, 0x9A2);
        tpm_rig_again(&rig, &tpm_owner);
        CHECK_NUMBER(support_run(rig.sw, NULL, SUPPORT_CC_NV_UNDEFINE_SPACE, "44p", SUPPORT_RH_OWNER,
                                 SUPPORT_NV_EK_P256, "owner"),
                     0);
    }
}

TEST_EK(tpm_ek_certificate_for_nobody)
{
    tpm_certificate plain, found;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &plain));
    define(rig, SUPPORT_NV_EK_P256, NV_NOBODY, NULL, (uint32_t)plain.n);
    write_index(rig, SUPPORT_NV_EK_P256, NULL, plain.bytes, plain.n);
    CHECK_STATUS(read_certificate(rig, TENON_EK_P256, &found), TENON_ERROR_EK_MISSING);
    define(rig, 0x01C00014, NV_AUTH, NULL, (uint32_t)plain.n);
    write_index(rig, 0x01C00014, NULL, plain.bytes, plain.n);
    CHECK_RC(read_certificate(rig, TENON_EK_P256, &found), TENON_CATEGORY_AUTH, 0x9A2);
}

/* NV_ReadPublic's, GetCapability's and NV_Read's answers, cut at each byte. */
TEST_EK(tpm_ek_certificate_answers_that_are_none)
{
    static const uint32_t codes[] = {SUPPORT_CC_NV_READ_PUBLIC, SUPPORT_CC_GET_CAPABILITY, SUPPORT_CC_NV_READ};
    tpm_certificate found;
    support_record record;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
    for (size_t i = 0; i < 3; i++) {
        CHECK(support_transport_record(rig->wire, 2 - i, &record));
        CHECK_NUMBER(record.code, codes[i]);
        size_t whole = record.answer_n;
        for (size_t n = 0; n < whole; n += n < 40 || n > whole - 20 ? 1 : 50) {
            test_about("%x: %u bytes of %u", (unsigned)codes[i], (unsigned)n, (unsigned)whole);
            support_cut(rig->wire, codes[i], n);
            CHECK_STATUS(read_certificate(rig, TENON_EK_P384, &found), TENON_ERROR_TPM_ANSWER);
            CHECK_NUMBER(found.n, 0);
        }
        CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
    }
}

/* A size that no certificate has is not read. */
TEST_EK(tpm_ek_certificate_too_large)
{
    enum { SIZE_AT = 10 + 2 + 4 + 2 + 4 + 2 };
    tpm_certificate found;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
    support_flip(rig->wire, support_next(SUPPORT_CC_NV_READ_PUBLIC), SIZE_AT, 0x80);
    support_transport_reset_counts(rig->wire);
    CHECK_STATUS(read_certificate(rig, TENON_EK_P384, &found), TENON_ERROR_CERTIFICATE_FORM);
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_NV_READ), 0);
}

/* ---- Where the EK is ---- */

static tenon_status open_new(const tpm_device *device, const tpm_certificate *certificate)
{
    static const tenon_digest secret = {{7, 7, 7}};
    tpm_credential credential = tpm_rig_ek_credential(certificate, device->ak, &secret);
    tenon_digest found;
    tenon_status status = tpm_rig_ek_open(device->ak, &found, certificate, &credential);
    if (status == TENON_OK)
        CHECK_BYTES(found.bytes, secret.bytes, sizeof secret.bytes);
    return status;
}

static void evict_eks(tpm_rig *rig)
{
    CHECK_NUMBER(support_evict(rig->sw, NULL, EK_RSA_HANDLE, EK_RSA_HANDLE), 0);
    CHECK_NUMBER(support_evict(rig->sw, NULL, EK_P384_HANDLE, EK_P384_HANDLE), 0);
}

/* All five templates, as primaries that are made, without and with a certificate in NV. */
TEST_EK(tpm_ek_of_each_template)
{
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    evict_eks(rig);
    for (support_ek which = SUPPORT_EK_RSA_L1; which < SUPPORT_EKS; which++) {
        const tpm_ek_place *place = &tpm_ek_places[which];
        test_about("%s", place->name);
        tpm_certificate certificate = tpm_rig_ek_certify(rig, which, NULL);
        CHECK_OK(open_new(&device, &certificate));
        if (which == SUPPORT_EK_RSA_L1 || which == SUPPORT_EK_P384_H3)
            continue;
        CHECK_NUMBER(support_nv_write(rig->sw, place->certificate, certificate.bytes, certificate.n), 0);
        support_transport_reset_counts(rig->wire);
        CHECK_OK(open_new(&device, &certificate));
        /* The AK's parent, the EK, and before it that of L-1, which has a certificate, too. */
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY), which == SUPPORT_EK_RSA_H1 ? 3 : 2);
        CHECK_NUMBER(support_nv_remove(rig->sw, place->certificate), 0);
    }
}

/* A persistent EK is used at its handle, and not made; other persistent objects are ignored. */
TEST_EK(tpm_ek_persistent)
{
    static const uint32_t elsewhere = 0x8101FFFF; /* the last one */
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    support_public area;
    uint32_t other, handle;
    CHECK_NUMBER(support_ek_create(rig->sw, SUPPORT_EK_P256_H2, &handle, &area), 0);
    CHECK_NUMBER(support_evict(rig->sw, NULL, handle, elsewhere), 0);
    CHECK_NUMBER(support_flush(rig->sw, handle), 0);
    tpm_rig_put(rig, 0x81010002, SUPPORT_SRK_RSA, NULL);
    for (other = 0x81010020; other < 0x81010020 + 20; other++)
        if (support_create_primary(rig->sw, SUPPORT_RH_OWNER, NULL, SUPPORT_SIGNING, &handle) == 0) {
            (void)support_evict(rig->sw, NULL, handle, other);
            CHECK_NUMBER(support_flush(rig->sw, handle), 0);
        }
    CHECK(support_persistent_count(rig->sw) > 16);
    tpm_certificate certificate = tpm_rig_ek_issue(SUPPORT_EK_P256_H2, &area);
    for (int i = 0; i < 2; i++) {
        support_transport_reset_counts(rig->wire);
        CHECK_OK(open_new(&device, i == 0 ? &certificate : &device.certificate));
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY), 1); /* the AK's parent */
    }
}

/* A template in NV is the maker's own, with other attributes and another unique. Then that EK is used. */
TEST_EK(tpm_ek_template_in_nv)
{
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    support_public template;
    support_ek_template(SUPPORT_EK_P256_L2, &template);
    memset(template.bytes + template.n - 34 - 32, 0x5a, 32); /* unique.x */
    tpm_certificate certificate = tpm_rig_ek_certify(rig, SUPPORT_EK_P256_L2, &template);
    CHECK_STATUS(open_new(&device, &certificate), TENON_ERROR_EK_MISSING);
    CHECK_NUMBER(
        support_nv_write(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].certificate, certificate.bytes, certificate.n), 0);
    CHECK_STATUS(open_new(&device, &certificate), TENON_ERROR_EK_MISSING);
    CHECK_NUMBER(support_nv_write(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].template, template.bytes, template.n), 0);
    CHECK_OK(open_new(&device, &certificate));
    /* An EK with an unknown policy cannot be used. */
    CHECK_NUMBER(support_nv_remove(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].template), 0);
    template.bytes[10] ^= 1;
    certificate = tpm_rig_ek_certify(rig, SUPPORT_EK_P256_L2, &template);
    CHECK_NUMBER(support_nv_write(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].template, template.bytes, template.n), 0);
    CHECK_STATUS(open_new(&device, &certificate), TENON_ERROR_EK_MISSING);
    /* Bytes that are not a template match no EK of this TPM. */
    CHECK_NUMBER(support_nv_remove(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].template), 0);
    CHECK_NUMBER(support_nv_write(rig->sw, tpm_ek_places[SUPPORT_EK_P256_L2].template, template.bytes, 20), 0);
    CHECK_STATUS(open_new(&device, &certificate), TENON_ERROR_EK_MISSING);
}

/* The certificate of another TPM, and of kinds that no EK here has. */
TEST_EK(tpm_ek_of_another_tpm)
{
    OWNED_RIG other = tpm_rig_start(NULL);
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    for (support_ek which = SUPPORT_EK_RSA_L1; which < SUPPORT_EKS; which++) {
        test_about("%s", tpm_ek_places[which].name);
        tpm_certificate certificate = tpm_rig_ek_certify(&other, which, NULL);
        support_transport_reset_counts(rig->wire);
        CHECK_STATUS(open_new(&device, &certificate), TENON_ERROR_EK_MISSING);
        CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_ACTIVATE_CREDENTIAL), 0);
    }
}

/* Another program removes the EK between the check and its use. */
TEST_EK(tpm_ek_evicted_meanwhile)
{
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    support_fail_code(rig->wire, support_next(SUPPORT_CC_ACTIVATE_CREDENTIAL), 0x28B);
    CHECK_OK(open_new(&device, &device.certificate));
    support_fail_code(rig->wire, support_times(SUPPORT_CC_READ_PUBLIC, 1, 2), 0x18B);
    CHECK_OK(open_new(&device, &device.certificate));
}

/* The EK's public area is checked, even if its key is the certificate's. */
static size_t unrestrict(void *context, uint8_t *answer, size_t n, size_t size)
{
    enum { TYPE_AT = 12, ATTRIBUTES_AT = 16, RESTRICTED = 0x01 };
    uint32_t *changed = context;
    if (n > ATTRIBUTES_AT + 4 && answer[TYPE_AT + 1] == 0x01 && (answer[ATTRIBUTES_AT + 1] & RESTRICTED) != 0) {
        answer[ATTRIBUTES_AT + 1] &= (uint8_t)~RESTRICTED;
        (*changed)++;
    }
    return n;
}

TEST_EK(tpm_ek_without_its_attributes)
{
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_RSA_2048);
    uint32_t changed = 0;
    CHECK_OK(open_new(&device, &device.certificate));
    support_transport_reset_counts(rig->wire);
    CHECK_OK(open_new(&device, &device.certificate));
    uint32_t made = support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY);
    support_edit(rig->wire, support_times(SUPPORT_CC_READ_PUBLIC, 1, SUPPORT_ALWAYS), unrestrict, &changed);
    support_transport_reset_counts(rig->wire);
    CHECK_OK(open_new(&device, &device.certificate));
    CHECK(changed != 0);
    /* It is not that one, so the template's is made. */
    CHECK_NUMBER(support_transport_count(rig->wire, SUPPORT_CC_CREATE_PRIMARY), made + 1);
}

/* An answer ends where it says. */
TEST_EK(tpm_ek_answer_with_bytes_behind_it)
{
    OWNED_DEVICE device = tpm_rig_ek_device(rig, TENON_EK_P384);
    support_extend(rig->wire, support_times(SUPPORT_CC_READ_PUBLIC, 1, SUPPORT_ALWAYS), 1);
    CHECK_STATUS(open_new(&device, &device.certificate), TENON_ERROR_TPM_ANSWER);
    support_transport_forget_faults(rig->wire);
    CHECK_OK(open_new(&device, &device.certificate));
}

/* A part whose size differs from the request is refused: three empty ones, then the real one. */
static size_t empty_part(void *context, uint8_t *answer, size_t n, size_t size)
{
    static const uint8_t empty[] = {0x80, 0x02, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0};
    CHECK(size >= sizeof empty);
    memcpy(answer, empty, sizeof empty);
    return sizeof empty;
}

TEST_EK(tpm_ek_certificate_in_empty_parts)
{
    tpm_certificate found;
    CHECK_OK(read_certificate(rig, TENON_EK_P384, &found));
    support_edit(rig->wire, support_times(SUPPORT_CC_NV_READ, 1, 3), empty_part, NULL);
    CHECK_STATUS(read_certificate(rig, TENON_EK_P384, &found), TENON_ERROR_TPM_ANSWER);
    CHECK_NUMBER(found.n, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/ek.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/hash.h"
#include "crypto/quirks.h"
#include "tpm/call.h"
#include "tpm/info.h"
#include "tpm/nv.h"

enum {
    ALG_RSA = 0x0001,
    CURVE_P384 = 0x0004,
    RH_ENDORSEMENT = 0x4000000b,
    RSA_BITS = 2048,
    RSA_SIZE = RSA_BITS / 8,
    AREA_MAX = 1024,
    LOW = 0x000300b2, /* attributes of the low range: L-1 and L-2 */
    HIGH = 0x000300f2,
    /* Part 2, 8.3 TPMA_OBJECT: fixedTPM, fixedParent, sensitiveDataOrigin, restricted, decrypt */
    NEEDED = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 16 | 1 << 17
};

/* TCG EK Credential Profile, 2.2.1.4, 2.2.1.5 and annex B: where a certificate and its template lie. */
typedef struct {
    uint32_t kind;
    uint32_t certificate;
    uint32_t template;
    uint32_t attributes;
} place;

static const place places[] = {
    {TENON_EK_RSA_2048, 0x01c00002, 0x01c00004, LOW},  {TENON_EK_P256, 0x01c0000a, 0x01c0000c, LOW},
    {TENON_EK_RSA_2048, 0x01c00012, 0x01c00013, HIGH}, {TENON_EK_P256, 0x01c00014, 0x01c00015, HIGH},
    {TENON_EK_P384, 0x01c00016, 0x01c00017, HIGH},
};

enum { PLACES = sizeof places / sizeof places[0] };

/* The part of an EK's public area that its use needs, for the three kinds only. */
typedef struct {
    uint32_t kind;
    uint16_t name_algorithm;
    tenoni_policy policy;
    uint8_t key[RSA_SIZE]; /* as in tenon_ek: the modulus, or x || y */
    size_t key_n;
} ek_area;

static bool read_exactly(tenoni_reader *reader, uint16_t expected)
{
    uint16_t found;
    return tenoni_read_u16(reader, &found) && found == expected;
}

/* Part 2, 12.2.3.5 TPMS_RSA_PARMS behind the scheme, and 11.2.4.5 TPM2B_PUBLIC_KEY_RSA. */
static bool read_rsa(tenoni_reader *reader, ek_area *out)
{
    tenoni_reader modulus;
    uint32_t exponent;
    out->kind = TENON_EK_RSA_2048;
    out->key_n = RSA_SIZE;
    return read_exactly(reader, RSA_BITS) && tenoni_read_u32(reader, &exponent) &&
           tenoni_read_sized(reader, &modulus, RSA_SIZE) && modulus.left == RSA_SIZE &&
           tenoni_read_bytes(&modulus, out->key, RSA_SIZE);
}

static bool read_coordinate(tenoni_reader *reader, uint8_t *out, size_t n)
{
    tenoni_reader number;
    if (!tenoni_read_sized(reader, &number, n))
        return false;
    tenoni_number_pad(out, n, number);
    return true;
}

/* Part 2, 12.2.3.6 TPMS_ECC_PARMS behind the scheme, and 11.2.5.2 TPMS_ECC_POINT. */
static bool read_ecc(tenoni_reader *reader, ek_area *out)
{
    uint16_t curve;
    if (!tenoni_read_u16(reader, &curve) || (curve != TENONI_ECC_P256 && curve != CURVE_P384) ||
        !read_exactly(reader, TENONI_ALG_NULL))
        return false;
    size_t n = curve == TENONI_ECC_P256 ? 32 : 48;
    out->kind = curve == TENONI_ECC_P256 ? TENON_EK_P256 : TENON_EK_P384;
    out->key_n = 2 * n;
    return read_coordinate(reader, out->key, n) && read_coordinate(reader, out->key + n, n);
}

/* Part 2, 12.2.4 TPMT_PUBLIC with 12.2.3.4: AES in CFB mode, no scheme. */
static bool read_area(tenoni_reader reader, ek_area *out)
{
    uint16_t type, bits;
    uint32_t attributes;
    tenoni_reader policy;
    memset(out, 0, sizeof *out);
    if (!tenoni_read_u16(&reader, &type) || !tenoni_read_u16(&reader, &out->name_algorithm) ||
        !tenoni_read_u32(&reader, &attributes) || !tenoni_read_sized(&reader, &policy, TENONI_POLICY_MAX) ||
        !read_exactly(&reader, TENONI_ALG_AES) || !tenoni_read_u16(&reader, &bits) ||
        !read_exactly(&reader, TENONI_ALG_CFB) || !read_exactly(&reader, TENONI_ALG_NULL))
        return false;
    if ((out->name_algorithm != TENONI_ALG_SHA256 && out->name_algorithm != TENONI_ALG_SHA384) ||
        (attributes & NEEDED) != NEEDED || (type != ALG_RSA && type != TENONI_ALG_ECC))
        return false;
    out->policy = tenoni_policy_of(out->name_algorithm, &policy);
    return out->policy != TENONI_POLICY_NONE && (type == ALG_RSA ? read_rsa(&reader, out) : read_ecc(&reader, out)) &&
           reader.left == 0;
}

/* Part 1, 16: nameAlg, and the area's digest with it. */
static tenon_status set_name(tenoni_ek *ek, tenoni_reader area)
{
    tenoni_hash hash = ek->name_algorithm == TENONI_ALG_SHA384 ? TENONI_SHA384 : TENONI_SHA256;
    ek->name[0] = (uint8_t)(ek->name_algorithm >> 8);
    ek->name[1] = (uint8_t)ek->name_algorithm;
    ek->name_n = 2 + tenoni_hash_size(hash);
    return tenoni_hash_parts(hash, ek->name + 2, &(tenoni_part){area.at, area.left}, 1);
}

/* Whether the public area that an answer begins with is the certificate's. */
static tenon_status compare(const tenon_ek *wanted, tenoni_reader *answer, tenoni_ek *out)
{
    tenoni_reader area;
    ek_area found;
    if (!tenoni_read_sized(answer, &area, AREA_MAX))
        return TENON_ERROR_TPM_ANSWER;
    if (!read_area(area, &found) || found.kind != wanted->kind || found.key_n != wanted->key_n ||
        !tenoni_equal(found.key, wanted->key, found.key_n))
        return TENON_ERROR_EK_MISSING;
    out->name_algorithm = found.name_algorithm;
    out->policy = found.policy;
    return set_name(out, area);
}

/* Part 3, 12.4 TPM2_ReadPublic. An object that has disappeared, or that we cannot read, is not the EK. */
static tenon_status look(tenon_tpm *tpm, uint32_t handle, const tenon_ek *wanted, tenoni_ek *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_READ_PUBLIC, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, handle);
    tenon_status status = tenoni_call_send(tpm, &call, NULL, &answer);
    if (tenoni_status_is(status, TENONI_RC_HANDLE))
        status = TENON_ERROR_EK_MISSING;
    if (status == TENON_OK)
        status = compare(wanted, &answer, out);
    out->handle = handle;
    out->is_transient = false;
    tenoni_call_end(&call);
    return status;
}

/* TCG TPM v2.0 Provisioning Guidance, 7.8: where persistent EKs are. */
static tenon_status find_persistent(tenon_tpm *tpm, const tenon_ek *wanted, tenoni_ek *out)
{
    enum { AT_ONCE = 16 };
    static const uint32_t first = 0x81010000, last = 0x8101ffff;
    uint32_t handles[AT_ONCE];
    uint32_t next = first;
    size_t count;
    do {
        tenon_status status = tenoni_handles(tpm, next, handles, AT_ONCE, &count);
        if (status != TENON_OK)
            return status;
        for (size_t i = 0; i < count && handles[i] <= last; i++) {
            status = look(tpm, handles[i], wanted, out);
            if (status != TENON_ERROR_EK_MISSING)
                return status;
        }
        next = count == 0 ? first : handles[count - 1] + 1;
    } while (count == AT_ONCE && next <= last);
    return TENON_ERROR_EK_MISSING;
}

/* The templates of the profile. In the low range, unique is zeros; an empty unique would make another key. */
static void write_template(tenoni_writer *writer, const place *at)
{
    static const uint8_t zeros[RSA_SIZE];
    bool rsa = at->kind == TENON_EK_RSA_2048, p384 = at->kind == TENON_EK_P384, low = at->attributes == LOW;
    uint16_t hash = p384 ? TENONI_ALG_SHA384 : TENONI_ALG_SHA256;
    tenoni_part policy = tenoni_policy_digest(hash, low ? TENONI_POLICY_A : TENONI_POLICY_B);
    tenoni_write_u16(writer, rsa ? ALG_RSA : TENONI_ALG_ECC);
    tenoni_write_u16(writer, hash);
    tenoni_write_u32(writer, at->attributes);
    tenoni_write_sized(writer, policy.bytes, policy.n);
    tenoni_write_u16(writer, TENONI_ALG_AES);
    tenoni_write_u16(writer, p384 ? 256 : 128);
    tenoni_write_u16(writer, TENONI_ALG_CFB);
    tenoni_write_u16(writer, TENONI_ALG_NULL);
    if (rsa) {
        tenoni_write_u16(writer, RSA_BITS);
        tenoni_write_u32(writer, 0); /* 65537 */
        tenoni_write_sized(writer, zeros, low ? RSA_SIZE : 0);
        return;
    }
    tenoni_write_u16(writer, p384 ? CURVE_P384 : TENONI_ECC_P256);
    tenoni_write_u16(writer, TENONI_ALG_NULL);
    tenoni_write_sized(writer, zeros, low ? TENON_SCALAR_SIZE : 0);
    tenoni_write_sized(writer, zeros, low ? TENON_SCALAR_SIZE : 0);
}

/* If the TPM refuses a template, no EK of this TPM has that template. */
static tenon_status refused(tenon_status status)
{
    bool template = tenon_status_tpm_rc(status) != 0 && tenon_status_category(status) == TENON_CATEGORY_INTERNAL;
    return template ? TENON_ERROR_EK_MISSING : status;
}

/* Part 3, 24.1 TPM2_CreatePrimary, in the endorsement hierarchy. What follows the public area is not used. */
static tenon_status make(tenon_tpm *tpm, const tenoni_writer *template, const tenon_ek *wanted, tenoni_ek *out)
{
    tenoni_call call;
    tenoni_reader answer;
    tenoni_call_begin(&call, TENONI_CC_CREATE_PRIMARY, TENONI_ROLE_ANY);
    tenoni_call_handle(&call, RH_ENDORSEMENT);
    call.auth = &tpm->endorsement_auth;
    tenoni_write_u16(&call.parameters, 4); /* inSensitive: no auth value, no data */
    tenoni_write_u32(&call.parameters, 0);
    tenoni_write_sized(&call.parameters, template->start, template->used);
    tenoni_write_u16(&call.parameters, 0); /* outsideInfo, creationPCR */
    tenoni_write_u32(&call.parameters, 0);
    tenon_status status = tenoni_call_send(tpm, &call, &out->handle, &answer);
    tenoni_call_end(&call);
    if (status != TENON_OK)
        return refused(status);
    status = compare(wanted, &answer, out);
    out->is_transient = true;
    if (status != TENON_OK)
        tenoni_ek_release(tpm, out);
    return status;
}

typedef struct {
    uint32_t handles[64];
    size_t count;
} nv_list;

static tenon_status list_nv(tenon_tpm *tpm, nv_list *list)
{
    return tenoni_handles(tpm, places[0].certificate, list->handles, sizeof list->handles / sizeof list->handles[0],
                          &list->count);
}

static bool is_there(const nv_list *list, uint32_t index)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->handles[i] == index)
            return true;
    return false;
}

/* A template in NV comes first: the maker made the EK from it. */
static tenon_status make_at(tenon_tpm *tpm, const place *at, const nv_list *list, const tenon_ek *wanted,
                            tenoni_ek *out)
{
    uint8_t area[AREA_MAX];
    tenoni_writer template = tenoni_writer_over(area, sizeof area);
    tenon_status status = TENON_OK;
    if (is_there(list, at->template))
        status = tenoni_nv_read(tpm, at->template, area, sizeof area, &template.used);
    if (status != TENON_OK)
        return status;
    if (template.used == 0)
        write_template(&template, at);
    return make(tpm, &template, wanted, out);
}

/* A certificate means that there is an EK, so these kinds come first: making an RSA EK takes many seconds. */
static tenon_status find_transient(tenon_tpm *tpm, const tenon_ek *wanted, tenoni_ek *out)
{
    nv_list list;
    tenon_status status = list_nv(tpm, &list);
    if (status != TENON_OK)
        return status;
    for (size_t i = 0; i < 2 * (size_t)PLACES; i++) {
        const place *at = &places[i % PLACES];
        if (at->kind != wanted->kind || is_there(&list, at->certificate) != (i < PLACES))
            continue;
        status = make_at(tpm, at, &list, wanted, out);
        if (status != TENON_ERROR_EK_MISSING)
            return status;
    }
    return TENON_ERROR_EK_MISSING;
}

tenon_status tenoni_ek_find(tenon_tpm *tpm, const tenon_ek *wanted, tenoni_ek *out)
{
    memset(out, 0, sizeof *out);
    tenon_status status = find_persistent(tpm, wanted, out);
    if (status == TENON_ERROR_EK_MISSING)
        status = find_transient(tpm, wanted, out);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

void tenoni_ek_release(tenon_tpm *tpm, tenoni_ek *ek)
{
    if (ek->is_transient)
        tenoni_tpm_flush(tpm, ek->handle);
    memset(ek, 0, sizeof *ek);
}

typedef struct {
    uint32_t kind;
    uint8_t bytes[2 * TENON_CERTIFICATE_MAX];
    size_t n;
} certificate_job;

/* list: what is in NV, or NULL to ask for each place. */
static tenon_status read_kind(tenon_tpm *tpm, certificate_job *work, uint32_t kind, const nv_list *list)
{
    for (size_t i = 0; i < PLACES && work->n == 0; i++) {
        if (places[i].kind != kind || (list != NULL && !is_there(list, places[i].certificate)))
            continue;
        tenon_status status = tenoni_nv_read(tpm, places[i].certificate, work->bytes, sizeof work->bytes, &work->n);
        if (status != TENON_OK)
            return status == TENON_ERROR_TOO_LARGE ? TENON_ERROR_CERTIFICATE_FORM : status;
    }
    return TENON_OK;
}

/* The small key comes first: a TPM needs many seconds to make an EK of RSA. */
static tenon_status read_certificate(tenon_tpm *tpm, void *context)
{
    static const uint32_t kinds[] = {TENON_EK_P256, TENON_EK_P384, TENON_EK_RSA_2048};
    certificate_job *work = context;
    nv_list list;
    tenon_status status = TENON_OK;
    work->n = 0;
    if (work->kind != TENON_EK_ANY)
        status = read_kind(tpm, work, work->kind, NULL);
    else
        status = list_nv(tpm, &list);
    for (size_t i = 0; work->kind == TENON_EK_ANY && status == TENON_OK && i < sizeof kinds / sizeof kinds[0]; i++)
        status = read_kind(tpm, work, kinds[i], &list);
    return status == TENON_OK && work->n == 0 ? TENON_ERROR_EK_MISSING : status;
}

tenon_status tenon_tpm_ek_certificate(tenon_tpm *tpm, uint32_t kind, uint8_t *out, size_t n, size_t *written)
{
    certificate_job work = {.kind = kind};
    tenon_bytes certificate;
    if (written != NULL)
        *written = 0;
    if (tpm == NULL || written == NULL || (out == NULL && n != 0))
        return TENON_ERROR_NULL;
    if (kind != TENON_EK_ANY && kind != TENON_EK_RSA_2048 && kind != TENON_EK_P256 && kind != TENON_EK_P384)
        return TENON_ERROR_OPTIONS;
    tenon_status status = tenoni_tpm_do(tpm, read_certificate, &work);
    if (status == TENON_OK)
        status = tenon_certificate_trim(&certificate, work.bytes, work.n);
    return status == TENON_OK ? tenoni_output_copy(out, n, written, certificate.bytes, certificate.n) : status;
}

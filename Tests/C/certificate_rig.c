/* SPDX-License-Identifier: Apache-2.0 */
#include "certificate_rig.h"
#include "proof/ek_rules.h"

/* ---- Keys ---- */

const uint8_t rig_ak_scalar[TENON_SCALAR_SIZE] = {0xa1, 1, 2, 3};
const uint8_t rig_key_scalar[TENON_SCALAR_SIZE] = {0xb2, 4, 5, 6};
const uint8_t rig_other_scalar[TENON_SCALAR_SIZE] = {0xc3, 7, 8, 9};

static tenon_key *open_key(const uint8_t *scalar)
{
    tenon_key *key;
    uint32_t flags = TENON_KEY_SIGNS_DIGESTS | TENON_KEY_DETERMINISTIC;
    if (!CHECK_OK(tenon_software_key_import(&key, scalar, TENON_SCALAR_SIZE, flags)))
        exit(2);
    return key;
}

tenon_public_key rig_public(const uint8_t *scalar)
{
    tenon_public_key out;
    tenon_key *key = open_key(scalar);
    CHECK_OK(tenon_key_public_key(key, &out));
    tenon_key_free(&key);
    return out;
}

tenon_signature rig_sign(const uint8_t *scalar, const void *bytes, size_t n)
{
    tenon_signature out;
    tenon_digest digest;
    tenon_key *key = open_key(scalar);
    CHECK_OK(tenon_sha256(&digest, bytes, n));
    CHECK_OK(tenon_key_sign_digest(key, &out, &digest));
    tenon_key_free(&key);
    return out;
}

/* ---- Certificates, from the inside out ---- */

typedef struct {
    uint8_t bytes[CERTIFICATE_MADE_MAX];
    size_t n;
} der;

static void add(der *out, const void *bytes, size_t n)
{
    CHECK(out->n + n <= sizeof out->bytes);
    if (n != 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

static void add_hex(der *out, const char *hex)
{
    size_t n;
    uint8_t *bytes = test_hex_all(hex, &n);
    add(out, bytes, n);
    free(bytes);
}

/* X.690, 8.1: the whole content becomes one element. */
static der wrap(uint8_t tag, der content)
{
    der out = {.n = 0};
    const uint8_t head[] = {tag, 0x82, (uint8_t)(content.n >> 8), (uint8_t)content.n};
    const uint8_t middle[] = {tag, 0x81, (uint8_t)content.n}, shortest[] = {tag, (uint8_t)content.n};
    if (content.n < 128)
        add(&out, shortest, sizeof shortest);
    else if (content.n < 256)
        add(&out, middle, sizeof middle);
    else
        add(&out, head, sizeof head);
    add(&out, content.bytes, content.n);
    return out;
}

static void add_wrapped(der *out, uint8_t tag, der content)
{
    der whole = wrap(tag, content);
    add(out, whole.bytes, whole.n);
}

static der of_hex(const char *hex)
{
    der out = {.n = 0};
    add_hex(&out, hex);
    return out;
}

static der name_of(const char *common)
{
    der pair = of_hex("0603550403"), text = {.n = 0};
    if (common == NULL)
        return wrap(0x30, text);
    add(&text, common, strlen(common));
    add_wrapped(&pair, 0x0c, text);
    return wrap(0x30, wrap(0x31, wrap(0x30, pair)));
}

static void add_extension(der *out, const char *oid, bool critical, der value)
{
    der fields = of_hex(oid);
    if (critical)
        add_hex(&fields, "0101ff");
    add_wrapped(&fields, 0x04, value);
    add_wrapped(out, 0x30, fields);
}

static der extensions_of(const certificate_form *from)
{
    der all = {.n = 0};
    if (from->authority || from->leaf)
        add_extension(&all, "0603551d13", true, of_hex(from->authority ? "30030101ff" : "3000"));
    if (from->usage != NULL)
        add_extension(&all, "0603551d0f", true, wrap(0x03, of_hex(from->usage)));
    if (from->extended != NULL)
        add_extension(&all, "0603551d25", false, wrap(0x30, of_hex(from->extended)));
    if (from->name != NULL)
        add_extension(&all, "0603551d11", !from->name_not_critical,
                      wrap(0x30, wrap(0xa4, wrap(0x30, of_hex(from->name)))));
    if (from->asks_for_more)
        add_extension(&all, "06022a03", true, of_hex("0500"));
    return wrap(0xa3, wrap(0x30, all));
}

static der dates_of(const certificate_form *from)
{
    der dates = {.n = 0};
    add_hex(&dates, "180f");
    add(&dates, from->from, 4);
    add(&dates, "0101000000Z", 11);
    add_hex(&dates, "180f");
    add(&dates, from->to, 4);
    add(&dates, "0101000000Z", 11);
    return wrap(0x30, dates);
}

static der key_of(const certificate_form *from)
{
    uint8_t spki[TENON_SPKI_SIZE];
    der out = {.n = 0};
    size_t n;
    add(&out, from->spki.bytes, from->spki.n);
    if (out.n != 0)
        return out;
    tenon_public_key point = rig_public(from->key);
    CHECK_OK(tenon_public_key_encode_spki(spki, sizeof spki, &n, &point));
    add(&out, spki, n);
    return out;
}

#define ECDSA_SHA256 "300a06082a8648ce3d040302"

size_t certificate_write(uint8_t *out, const certificate_form *from)
{
    uint8_t signature[TENON_SIGNATURE_DER_MAX];
    size_t n;
    der part = of_hex("a003020102020101" ECDSA_SHA256),
        parts[] = {name_of(from->issuer), dates_of(from), name_of(from->subject), key_of(from), extensions_of(from)};
    for (size_t i = 0; i < COUNT(parts); i++)
        add(&part, parts[i].bytes, parts[i].n);
    der whole = wrap(0x30, part);
    tenon_signature made = rig_sign(from->signer, whole.bytes, whole.n);
    CHECK_OK(tenon_signature_encode_der(signature, sizeof signature, &n, &made));
    add_hex(&whole, ECDSA_SHA256);
    der bits = of_hex("00");
    add(&bits, signature, n);
    add_wrapped(&whole, 0x03, bits);
    whole = wrap(0x30, whole);
    memcpy(out, whole.bytes, whole.n);
    return whole.n;
}

/* ---- Vectors ---- */

enum { NAMED_MAX = 500 };

typedef struct {
    char *text; /* which the names lie in */
    char *names[NAMED_MAX];
    tenon_bytes ders[NAMED_MAX];
    size_t count;
} library;

static library certificates, of_swtpm;

static void load(library *into, const char *file)
{
    char *text = test_vectors(file), *name, *value;
    into->text = text;
    while (test_line(&text, &name, &value) && into->count < NAMED_MAX) {
        into->names[into->count] = name;
        into->ders[into->count].bytes = test_hex_all(value, &into->ders[into->count].n);
        into->count++;
    }
}

static tenon_bytes find(const library *in, const char *name)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->names[i], name) == 0)
            return in->ders[i];
    fprintf(stderr, "there is no certificate %s\n", name);
    exit(2);
}

tenon_bytes certificate_named(const char *name)
{
    if (certificates.count == 0)
        load(&certificates, "certificates/certificates.txt");
    return find(&certificates, name);
}

tenon_bytes certificate_of_swtpm(const char *name)
{
    if (of_swtpm.count == 0)
        load(&of_swtpm, "certificates/swtpm.txt");
    return find(&of_swtpm, name);
}

static void give_back(const library *of)
{
    for (size_t i = 0; i < of->count; i++)
        free((void *)(uintptr_t)of->ders[i].bytes);
    free(of->text);
}

/* A leak checker runs when a process ends: this one, and a test's child. */
__attribute__((destructor)) static void give_back_all(void)
{
    give_back(&certificates);
    give_back(&of_swtpm);
}

static size_t find_all(tenon_bytes *out, char *names)
{
    size_t count = 0;
    for (char *name = strtok(names, " "); name != NULL && count < CERTIFICATE_CASE_MAX; name = strtok(NULL, " "))
        out[count++] = certificate_named(name);
    return count;
}

static tenon_status result_of(const char *text)
{
    static const struct {
        const char *text;
        tenon_status status;
    } results[] = {
        {"OK", TENON_OK},
        {"22", TENON_RULE_22_CERTIFICATE},
        {"23", TENON_RULE_23_CRITICAL},
        {"34", TENON_RULE_34_EK_CERTIFICATE},
        {"33", TENON_RULE_33_EK_CHAIN},
        {"36", TENON_RULE_36_EK_KEY},
        {"35", TENON_RULE_35_NOT_OAEP},
        {"37", TENON_RULE_37_EK_ALLOWED},
    };
    for (size_t i = 0; i < COUNT(results); i++)
        if (strcmp(results[i].text, text) == 0)
            return results[i].status;
    fprintf(stderr, "there is no result %s\n", text);
    exit(2);
}

/* The lines of a case have a fixed order, with the result last. */
static void take_line(certificate_case *one, const char *name, char *value)
{
    if (strcmp(name, "Name") == 0)
        *one = (certificate_case){.name = value};
    else if (strcmp(name, "Chain") == 0)
        one->count = find_all(one->chain, value);
    else if (strcmp(name, "Roots") == 0)
        one->roots_count = find_all(one->roots, value);
    else if (strcmp(name, "Now") == 0)
        one->now = strtoll(value, NULL, 10);
    else if (strcmp(name, "Flags") == 0) {
        one->requires_usage = strcmp(value, "usage") == 0;
        one->allows_simulator = strcmp(value, "simulator") == 0;
    } else {
        one->result = result_of(value);
    }
}

void certificate_each_case(void (*visit)(const certificate_case *one))
{
    char *text = test_vectors("certificates/cases.txt"), *at = text, *name, *value;
    certificate_case one = {0};
    size_t count = 0;
    while (test_line(&at, &name, &value)) {
        take_line(&one, name, value);
        if (strcmp(name, "Result") != 0)
            continue;
        test_about("%s", one.name);
        visit(&one);
        count++;
    }
    test_about(NULL);
    CHECK(count >= 260);
    free(text);
}

bool certificate_case_is_due(const certificate_case *one, size_t *numbers)
{
    bool is_cheap = one->result == TENON_RULE_22_CERTIFICATE || one->result == TENON_RULE_23_CRITICAL;
    return numbers[one->result % CERTIFICATE_RESULTS]++ % test_rounds(1, is_cheap ? 1 : 8) == 0;
}

static const char *wanted;
static certificate_case found;

static void keep(const certificate_case *one)
{
    if (strcmp(one->name, wanted) == 0)
        found = *one;
}

certificate_case certificate_case_named(const char *name)
{
    wanted = name;
    found.count = 0;
    certificate_each_case(keep);
    found.name = NULL;
    CHECK(found.count != 0);
    return found;
}

tenon_ek_policy certificate_case_policy(const certificate_case *one)
{
    return (tenon_ek_policy){
        .size = sizeof(tenon_ek_policy),
        .flags = (one->requires_usage ? (uint32_t)TENON_EK_REQUIRE_USAGE : 0) |
                 (one->allows_simulator ? (uint32_t)TENON_EK_ALLOW_SIMULATOR : 0),
        .roots = one->roots,
        .roots_count = one->roots_count,
        .now = one->now,
    };
}

tenon_status certificate_case_without(const certificate_case *one, tenon_status rule)
{
    enum { MOST = 16 };
    tenoni_ek_rule rules[MOST];
    size_t count = 0;
    tenon_ek_policy policy = certificate_case_policy(one);
    tenon_ek ek;
    for (size_t i = 0; i < tenoni_ek_rules_count; i++)
        if (tenoni_ek_rules[i].code != rule)
            rules[count++] = tenoni_ek_rules[i];
    CHECK_NUMBER(count, tenoni_ek_rules_count - 1);
    return tenoni_ek_verify(&ek, NULL, one->chain, one->count, &policy, rules, count);
}

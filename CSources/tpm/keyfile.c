/* SPDX-License-Identifier: Apache-2.0 */
#include "tpm/keyfile.h"

#include <string.h>

#include "base/bytes.h"
#include "base/der.h"
#include "base/secure.h"
#include "tenon/encoding.h"
#include "tenon/tpm/tpm.h"

/* draft-bottomley-tpm2-keys: TPMKey. Tags are X.690's; all fields in brackets are EXPLICIT. */
enum {
    BOOLEAN = 0x01,
    OCTET_STRING = 0x04,
    OBJECT_IDENTIFIER = 0x06,
    UTF8_STRING = 0x0C,
    EMPTY_AUTH = 0xA0,
    DESCRIPTION = 0xA4,
    DESCRIPTION_MAX = 255,
    LINE = 64 /* RFC 7468, 2 */
};

/* 2.23.133.10.1.3: id-loadablekey. */
static const uint8_t loadable[] = {0x67, 0x81, 0x05, 0x0A, 0x01, 0x03};

static const char begin[] = "-----BEGIN TSS2 PRIVATE KEY-----";
static const char end[] = "-----END TSS2 PRIVATE KEY-----";
static const char prefix[] = "tenon-";
static const char parent_fact[] = "parent: ";
static const char witness_fact[] = "witness: ";
static const char handle_fact[] = "handle: ";

/* Part 2, 7.2 TPM_HT: persistent objects. */
static bool is_persistent(uint32_t handle)
{
    return handle >> 24 == 0x81;
}

/* Part 2, 10.5.3 TPM2B_NAME with nameAlg SHA-256; or none. */
static bool is_name(const uint8_t *name, size_t n)
{
    return n == 0 || (n == TENON_NAME_SIZE && name[0] == TENONI_ALG_SHA256 >> 8 && name[1] == TENONI_ALG_SHA256);
}

/* Both the reader and the writer check this, so nothing is written that could not be read. */
static tenon_status check(const tenoni_keyfile *file)
{
    if (file->parent != TENONI_PARENT_OWNER && !is_persistent(file->parent))
        return TENON_ERROR_KEY_FIELD;
    if (file->public_n == 0 || file->public_n > sizeof file->public_area)
        return TENON_ERROR_KEY_PUBLIC;
    if (file->private_n == 0 || file->private_n > sizeof file->private_area)
        return TENON_ERROR_KEY_PRIVATE;
    if (!is_name(file->parent_name, file->parent_name_n) || !is_name(file->witness, file->witness_n))
        return TENON_ERROR_PEM_FACT;
    return file->handle == 0 || is_persistent(file->handle) ? TENON_OK : TENON_ERROR_PEM_FACT;
}

/* Reading the text. */

/* Splits the next line off, without its line feed, which the last line may lack. */
static bool next_line(tenoni_reader *text, tenoni_reader *line)
{
    tenoni_reader feed;
    size_t n = 0;
    if (text->left == 0)
        return false;
    while (n < text->left && text->at[n] != '\n')
        n++;
    return tenoni_read_part(text, line, n) && (text->left == 0 || tenoni_read_part(text, &feed, 1));
}

/* Steps over the word if the line begins with it. */
static bool skip(tenoni_reader *line, const char *word)
{
    tenoni_reader found;
    size_t n = strlen(word);
    return line->left >= n && tenoni_equal(line->at, word, n) && tenoni_read_part(line, &found, n);
}

static bool is_line(tenoni_reader line, const char *text)
{
    return skip(&line, text) && line.left == 0;
}

/* The rest of a fact: exactly n bytes, in lower case. */
static tenon_status read_hex(tenoni_reader line, uint8_t *out, size_t n)
{
    size_t written;
    for (size_t i = 0; i < line.left; i++)
        if (line.at[i] >= 'A' && line.at[i] <= 'F')
            return TENON_ERROR_PEM_FACT;
    if (line.left != 2 * n || tenon_hex_decode(out, n, &written, (const char *)line.at, line.left) != TENON_OK)
        return TENON_ERROR_PEM_FACT;
    return TENON_OK;
}

static tenon_status read_name(tenoni_reader line, uint8_t *name, size_t *n)
{
    if (*n != 0)
        return TENON_ERROR_PEM_FACT;
    *n = TENON_NAME_SIZE;
    return read_hex(line, name, TENON_NAME_SIZE);
}

static tenon_status read_handle(tenoni_reader line, uint32_t *handle)
{
    uint8_t bytes[4];
    if (*handle != 0)
        return TENON_ERROR_PEM_FACT;
    tenon_status status = read_hex(line, bytes, sizeof bytes);
    if (status != TENON_OK)
        return status;
    tenoni_reader reader = tenoni_reader_over(bytes, sizeof bytes);
    return tenoni_read_u32(&reader, handle) && is_persistent(*handle) ? TENON_OK : TENON_ERROR_PEM_FACT;
}

static tenon_status read_fact(tenoni_reader line, tenoni_keyfile *file)
{
    if (!skip(&line, prefix))
        return TENON_ERROR_PEM_FORM;
    if (skip(&line, parent_fact))
        return read_name(line, file->parent_name, &file->parent_name_n);
    if (skip(&line, witness_fact))
        return read_name(line, file->witness, &file->witness_n);
    if (skip(&line, handle_fact))
        return read_handle(line, &file->handle);
    return TENON_ERROR_PEM_FACT;
}

/* All before the block, and its first line. */
static tenon_status read_facts(tenoni_reader *text, tenoni_keyfile *file)
{
    tenoni_reader line;
    while (next_line(text, &line)) {
        if (is_line(line, begin))
            return TENON_OK;
        tenon_status status = line.left == 0 ? TENON_OK : read_fact(line, file);
        if (status != TENON_OK)
            return status;
    }
    return TENON_ERROR_PEM_FORM;
}

/* The lines of the block put together, and its last line, behind which there is nothing. */
static tenon_status read_block(tenoni_reader *text, tenoni_writer *base64)
{
    tenoni_reader line;
    bool last = false;
    while (next_line(text, &line)) {
        if (is_line(line, end))
            return text->left == 0 ? TENON_OK : TENON_ERROR_PEM_FORM;
        if (last || line.left == 0 || line.left > LINE)
            return TENON_ERROR_PEM_FORM;
        last = line.left < LINE;
        tenoni_write_bytes(base64, line.at, line.left);
    }
    return TENON_ERROR_PEM_FORM;
}

/* Reading the DER. */

static bool is_next(const tenoni_reader *fields, uint8_t tag)
{
    return fields->left != 0 && fields->at[0] == tag;
}

static tenon_status read_field(tenoni_reader *fields, uint8_t tag, tenoni_reader *content)
{
    return is_next(fields, tag) ? tenoni_der_read(fields, tag, content) : TENON_ERROR_KEY_FIELD;
}

static tenon_status read_type(tenoni_reader *fields)
{
    tenoni_reader type;
    tenon_status status = read_field(fields, OBJECT_IDENTIFIER, &type);
    if (status != TENON_OK)
        return status;
    return type.left == sizeof loadable && tenoni_equal(type.at, loadable, sizeof loadable) ? TENON_OK
                                                                                            : TENON_ERROR_KEY_TYPE;
}

/* An optional [n] EXPLICIT element with nothing else in it. */
static tenon_status read_explicit(tenoni_reader *fields, uint8_t outer, uint8_t tag, tenoni_reader *content)
{
    tenoni_reader inside;
    *content = tenoni_reader_over(NULL, 0);
    if (!is_next(fields, outer))
        return TENON_OK;
    tenon_status status = tenoni_der_read(fields, outer, &inside);
    if (status == TENON_OK)
        status = read_field(&inside, tag, content);
    return status == TENON_OK && inside.left != 0 ? TENON_ERROR_KEY_FIELD : status;
}

static tenon_status read_empty_auth(tenoni_reader *fields, bool *empty_auth)
{
    tenoni_reader content;
    uint8_t value = 0;
    bool present = is_next(fields, EMPTY_AUTH);
    tenon_status status = read_explicit(fields, EMPTY_AUTH, BOOLEAN, &content);
    if (status != TENON_OK)
        return status;
    if (present && (!tenoni_read_u8(&content, &value) || content.left != 0))
        return TENON_ERROR_KEY_FIELD;
    *empty_auth = value != 0;
    /* X.690, 11.1 says ff; tpm2-openssl writes 01. */
    return value == 0 || value == 0x01 || value == 0xFF ? TENON_OK : TENON_ERROR_KEY_FIELD;
}

static tenon_status skip_description(tenoni_reader *fields)
{
    tenoni_reader content;
    tenon_status status = read_explicit(fields, DESCRIPTION, UTF8_STRING, &content);
    return status == TENON_OK && content.left > DESCRIPTION_MAX ? TENON_ERROR_KEY_FIELD : status;
}

static tenon_status read_parent(tenoni_reader *fields, uint32_t *parent)
{
    uint8_t bytes[4] = {0};
    if (!is_next(fields, TENONI_DER_INTEGER))
        return TENON_ERROR_KEY_FIELD;
    tenon_status status = tenoni_der_read_unsigned(fields, bytes, sizeof bytes);
    tenoni_reader reader = tenoni_reader_over(bytes, sizeof bytes);
    if (status == TENON_OK && !tenoni_read_u32(&reader, parent))
        status = TENON_ERROR_KEY_FIELD;
    /* Negative, as some tools wrote handles from 80000000 on, or over 32 bits: no handle. */
    return status == TENON_ERROR_DER_INTEGER ? TENON_ERROR_KEY_FIELD : status;
}

/* An OCTET STRING with a TPM2B that fills it. */
static tenon_status read_area(tenoni_reader *fields, uint8_t *out, size_t max, size_t *n, tenon_status other)
{
    tenoni_reader content;
    uint16_t size;
    tenon_status status = read_field(fields, OCTET_STRING, &content);
    if (status != TENON_OK)
        return status;
    if (!tenoni_read_u16(&content, &size) || size != content.left || size > max ||
        !tenoni_read_bytes(&content, out, size))
        return other;
    *n = size;
    return TENON_OK;
}

static tenon_status read_der(tenoni_keyfile *file, const uint8_t *der, size_t n)
{
    tenoni_reader reader = tenoni_reader_over(der, n);
    tenoni_reader fields;
    tenon_status status = tenoni_der_read(&reader, TENONI_DER_SEQUENCE, &fields);
    if (status == TENON_OK && reader.left != 0)
        status = TENON_ERROR_DER_TRAILING;
    if (status == TENON_OK)
        status = read_type(&fields);
    if (status == TENON_OK)
        status = read_empty_auth(&fields, &file->empty_auth);
    if (status == TENON_OK)
        status = skip_description(&fields);
    if (status == TENON_OK)
        status = read_parent(&fields, &file->parent);
    if (status == TENON_OK)
        status =
            read_area(&fields, file->public_area, sizeof file->public_area, &file->public_n, TENON_ERROR_KEY_PUBLIC);
    if (status == TENON_OK)
        status = read_area(&fields, file->private_area, sizeof file->private_area, &file->private_n,
                           TENON_ERROR_KEY_PRIVATE);
    return status == TENON_OK && fields.left != 0 ? TENON_ERROR_KEY_FIELD : status;
}

tenon_status tenoni_keyfile_read(tenoni_keyfile *out, const char *pem, size_t n)
{
    uint8_t base64[TENON_TPM_KEY_MAX], der[TENON_TPM_KEY_MAX];
    size_t der_n = 0;
    memset(out, 0, sizeof *out);
    if (pem == NULL && n != 0)
        return TENON_ERROR_NULL;
    if (n > TENON_TPM_KEY_MAX)
        return TENON_ERROR_TOO_LARGE;
    tenoni_reader text = tenoni_reader_over((const uint8_t *)pem, n);
    tenoni_writer lines = tenoni_writer_over(base64, sizeof base64);
    tenon_status status = read_facts(&text, out);
    if (status == TENON_OK)
        status = read_block(&text, &lines);
    if (status == TENON_OK)
        status = tenon_base64_decode(der, sizeof der, &der_n, (const char *)base64, lines.used);
    if (status == TENON_OK)
        status = read_der(out, der, der_n);
    if (status == TENON_OK)
        status = check(out);
    if (status != TENON_OK)
        memset(out, 0, sizeof *out);
    return status;
}

/* Writing. */

static void write_header(tenoni_writer *writer, uint8_t tag, size_t n)
{
    tenoni_write_u8(writer, tag);
    if (n >= 0x100)
        tenoni_write_u8(writer, 0x82);
    else if (n >= 0x80)
        tenoni_write_u8(writer, 0x81);
    if (n >= 0x100)
        tenoni_write_u16(writer, (uint16_t)n);
    else
        tenoni_write_u8(writer, (uint8_t)n);
}

static void write_area(tenoni_writer *writer, const uint8_t *bytes, size_t n)
{
    write_header(writer, OCTET_STRING, n + 2);
    tenoni_write_u16(writer, (uint16_t)n);
    tenoni_write_bytes(writer, bytes, n);
}

static void write_der(tenoni_writer *writer, const tenoni_keyfile *file)
{
    uint8_t fields[TENON_TPM_KEY_MAX / 2], handle[4];
    tenoni_writer inside = tenoni_writer_over(fields, sizeof fields);
    tenoni_writer parent = tenoni_writer_over(handle, sizeof handle);
    tenoni_write_u32(&parent, file->parent);
    write_header(&inside, OBJECT_IDENTIFIER, sizeof loadable);
    tenoni_write_bytes(&inside, loadable, sizeof loadable);
    write_header(&inside, EMPTY_AUTH, 3);
    write_header(&inside, BOOLEAN, 1);
    tenoni_write_u8(&inside, file->empty_auth ? 0xFF : 0);
    tenoni_der_write_unsigned(&inside, handle, sizeof handle);
    write_area(&inside, file->public_area, file->public_n);
    write_area(&inside, file->private_area, file->private_n);
    write_header(writer, TENONI_DER_SEQUENCE, inside.used);
    tenoni_write_bytes(writer, fields, inside.used);
}

static void write_line(tenoni_writer *writer, const void *text, size_t n)
{
    tenoni_write_bytes(writer, text, n);
    tenoni_write_u8(writer, '\n');
}

static tenon_status write_fact(tenoni_writer *writer, const char *word, const uint8_t *bytes, size_t n)
{
    char hex[2 * TENON_NAME_SIZE];
    size_t written;
    tenon_status status = tenon_hex_encode(hex, sizeof hex, &written, bytes, n);
    if (n == 0 || status != TENON_OK)
        return status;
    tenoni_write_bytes(writer, prefix, strlen(prefix));
    tenoni_write_bytes(writer, word, strlen(word));
    write_line(writer, hex, written);
    return TENON_OK;
}

static tenon_status write_facts(tenoni_writer *writer, const tenoni_keyfile *file)
{
    uint8_t bytes[4];
    tenoni_writer handle = tenoni_writer_over(bytes, sizeof bytes);
    tenoni_write_u32(&handle, file->handle);
    tenon_status status = write_fact(writer, parent_fact, file->parent_name, file->parent_name_n);
    if (status == TENON_OK)
        status = write_fact(writer, witness_fact, file->witness, file->witness_n);
    if (status == TENON_OK)
        status = write_fact(writer, handle_fact, bytes, file->handle != 0 ? sizeof bytes : 0);
    return status;
}

tenon_status tenoni_keyfile_write(char *out, size_t n, size_t *written, const tenoni_keyfile *file)
{
    uint8_t der[TENON_TPM_KEY_MAX / 2], text[TENON_TPM_KEY_MAX];
    char base64[TENON_TPM_KEY_MAX];
    size_t base64_n = 0;
    if (written != NULL)
        *written = 0;
    tenoni_writer key = tenoni_writer_over(der, sizeof der);
    tenoni_writer pem = tenoni_writer_over(text, sizeof text);
    tenon_status status = check(file);
    if (status == TENON_OK)
        status = write_facts(&pem, file);
    if (status != TENON_OK)
        return status;
    write_der(&key, file);
    status = tenon_base64_encode(base64, sizeof base64, &base64_n, der, key.used);
    if (status != TENON_OK)
        return status;
    write_line(&pem, begin, strlen(begin));
    for (size_t at = 0; at < base64_n; at += LINE)
        write_line(&pem, base64 + at, base64_n - at < LINE ? base64_n - at : LINE);
    write_line(&pem, end, strlen(end));
    return tenoni_output_copy(out, n, written, text, pem.used);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "native/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "base/secure.h"
#include "crypto/hash.h"
#include "tenon/encoding.h"

static const char magic[] = "tenon-native\n";

enum { VERSION = 1, MAGIC = sizeof magic - 1 };

static tenoni_result read_body(tenoni_reader *from, uint8_t *kind, tenoni_reader *name, tenoni_reader *content)
{
    uint8_t found[MAGIC], version;
    uint32_t content_n;
    if (!tenoni_read_bytes(from, found, sizeof found) || !tenoni_equal(found, magic, sizeof found) ||
        !tenoni_read_u8(from, &version) || version != VERSION || !tenoni_read_u8(from, kind) ||
        !tenoni_read_sized(from, name, TENONI_ENVELOPE_MAX) || !tenoni_read_u32(from, &content_n) ||
        !tenoni_read_part(from, content, content_n) || from->left != 0)
        return tenoni_because(TENONI_FILE_DAMAGED);
    return tenoni_because(TENONI_DONE);
}

static tenoni_result read_any(const uint8_t *bytes, size_t n, uint8_t *kind, tenoni_reader *name,
                              tenoni_reader *content)
{
    tenon_digest sum;
    if (n < sizeof sum.bytes || n > TENONI_ENVELOPE_MAX)
        return tenoni_because(TENONI_FILE_DAMAGED);
    size_t body = n - sizeof sum.bytes;
    tenon_status status = tenon_sha256(&sum, bytes, body);
    if (status != TENON_OK)
        return tenoni_of(status);
    if (!tenoni_equal(sum.bytes, bytes + body, sizeof sum.bytes))
        return tenoni_because(TENONI_FILE_DAMAGED);
    tenoni_reader from = tenoni_reader_over(bytes, body);
    return read_body(&from, kind, name, content);
}

tenoni_result tenoni_envelope_open(const uint8_t *bytes, size_t n, tenoni_kind kind, const char *name,
                                   tenoni_reader *content)
{
    tenoni_reader found;
    uint8_t found_kind;
    tenoni_result result = read_any(bytes, n, &found_kind, &found, content);
    if (!tenoni_done(result))
        return result;
    if (found_kind != (uint8_t)kind || found.left != strlen(name) || !tenoni_equal(found.at, name, found.left))
        return tenoni_because(TENONI_FILE_OF_ANOTHER);
    return result;
}

tenoni_result tenoni_envelope_name(const uint8_t *bytes, size_t n, tenoni_kind kind, tenoni_reader *name)
{
    tenoni_reader content;
    uint8_t found;
    tenoni_result result = read_any(bytes, n, &found, name, &content);
    return tenoni_done(result) && found != (uint8_t)kind ? tenoni_because(TENONI_FILE_OF_ANOTHER) : result;
}

static tenoni_result seal(uint8_t *out, size_t *n, tenoni_kind kind, const char *name, const uint8_t *content,
                          size_t content_n)
{
    tenon_digest sum;
    tenoni_writer writer = tenoni_writer_over(out, TENONI_ENVELOPE_MAX);
    tenoni_write_bytes(&writer, magic, MAGIC);
    tenoni_write_u8(&writer, VERSION);
    tenoni_write_u8(&writer, (uint8_t)kind);
    tenoni_write_sized(&writer, name, strlen(name));
    tenoni_write_u32(&writer, (uint32_t)content_n);
    tenoni_write_bytes(&writer, content, content_n);
    tenon_status status = tenon_sha256(&sum, out, writer.used);
    tenoni_write_bytes(&writer, sum.bytes, sizeof sum.bytes);
    *n = writer.used;
    return writer.overflowed ? tenoni_because(TENONI_BAD_ARGUMENT) : tenoni_of(status);
}

static void copy_name(char *out, const char *file)
{
    tenoni_writer writer = tenoni_writer_over((uint8_t *)out, TENONI_COPY_NAME_SIZE - 1);
    tenoni_write_bytes(&writer, file, strlen(file));
    tenoni_write_bytes(&writer, ".copy", sizeof ".copy" - 1);
    out[writer.used] = 0;
}

static tenoni_result write_both(const tenoni_folder *folder, const char *file, const uint8_t *bytes, size_t n)
{
    char copy[TENONI_COPY_NAME_SIZE];
    copy_name(copy, file);
    tenoni_result result = tenoni_file_write(folder, file, bytes, n);
    if (tenoni_done(result))
        result = tenoni_folder_sync(folder);
    if (tenoni_done(result))
        result = tenoni_file_write(folder, copy, bytes, n);
    return tenoni_done(result) ? tenoni_folder_sync(folder) : result;
}

tenoni_result tenoni_envelope_keep(const tenoni_folder *folder, const char *file, tenoni_kind kind, const char *name,
                                   const uint8_t *content, size_t n)
{
    uint8_t bytes[TENONI_ENVELOPE_MAX];
    size_t used;
    tenoni_result result = seal(bytes, &used, kind, name, content, n);
    if (tenoni_done(result))
        result = write_both(folder, file, bytes, used);
    tenoni_wipe(bytes, sizeof bytes);
    return result;
}

static tenoni_result read_one(const tenoni_folder *folder, const char *file, tenoni_kind kind, const char *name,
                              tenoni_content *out)
{
    uint8_t *bytes;
    size_t n;
    tenoni_reader content;
    tenoni_result result = tenoni_file_read(folder->files, file, TENONI_ENVELOPE_MAX, &bytes, &n);
    if (!tenoni_done(result))
        return result;
    result = tenoni_envelope_open(bytes, n, kind, name, &content);
    if (tenoni_done(result)) {
        memcpy(out->bytes, content.at, content.left);
        out->n = content.left;
    }
    free(bytes);
    return result;
}

/* What may be written over: another name's file may be the last of its kind, and what cannot be read now may be later.
 */
static bool is_lost(tenoni_result result)
{
    return result.cause == TENONI_NOTHING || result.cause == TENONI_FILE_DAMAGED;
}

/* The file decides; the copy stands in for one that is missing or cannot be read. */
tenoni_result tenoni_envelope_find(const tenoni_folder *folder, const char *file, tenoni_kind kind, const char *name,
                                   tenoni_content *out)
{
    char copy[TENONI_COPY_NAME_SIZE];
    tenoni_content other;
    copy_name(copy, file);
    tenoni_result result = read_one(folder, file, kind, name, out);
    tenoni_result beside = read_one(folder, copy, kind, name, &other);
    if (!tenoni_done(result) && !tenoni_done(beside))
        return tenoni_nothing(result) ? beside : result;
    if (!tenoni_done(result))
        *out = other;
    if (folder->lock >= 0 && (is_lost(result) || is_lost(beside)))
        (void)tenoni_envelope_keep(folder, file, kind, name, out->bytes, out->n);
    return tenoni_because(TENONI_DONE);
}

tenoni_result tenoni_envelope_remove(const tenoni_folder *folder, const char *file)
{
    char copy[TENONI_COPY_NAME_SIZE];
    copy_name(copy, file);
    tenoni_result result = tenoni_file_remove(folder, copy);
    if (tenoni_done(result))
        result = tenoni_folder_sync(folder);
    if (tenoni_done(result))
        result = tenoni_file_remove(folder, file);
    return tenoni_done(result) ? tenoni_folder_sync(folder) : result;
}

tenoni_result tenoni_envelope_look(const tenoni_folder *folder, const char *file)
{
    char copy[TENONI_COPY_NAME_SIZE];
    struct stat found;
    copy_name(copy, file);
    tenoni_result result = tenoni_file_look(folder->files, file, &found);
    return tenoni_nothing(result) ? tenoni_file_look(folder->files, copy, &found) : result;
}

tenoni_result tenoni_file_name(char *out, char letter, const char *name)
{
    enum { DIGITS = TENONI_FILE_NAME_SIZE - 3 };
    static const char tag[] = "tenon-native-name\n";
    tenon_digest digest;
    size_t written;
    const tenoni_part parts[] = {{tag, sizeof tag - 1}, {name, strlen(name)}};
    tenon_status status = tenoni_sha256_parts(&digest, parts, 2);
    out[0] = letter;
    out[1] = '-';
    if (status == TENON_OK)
        status = tenon_hex_encode(out + 2, DIGITS, &written, digest.bytes, DIGITS / 2);
    out[TENONI_FILE_NAME_SIZE - 1] = 0;
    return tenoni_of(status);
}

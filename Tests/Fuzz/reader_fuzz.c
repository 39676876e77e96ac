/* SPDX-License-Identifier: Apache-2.0 */
#include "base/der.h"
#include "fuzz.h"

/*
 * Input: a count, so many instructions of two bytes, and the bytes that they read. A second account of where each
 * reader stands is kept in offsets, without pointers; after each instruction both must agree.
 */
enum { DEPTH = 8 };

typedef struct {
    tenoni_reader reader;
    size_t from, to;
} level;

typedef struct {
    const uint8_t *bytes; /* NULL when there are none */
    level levels[DEPTH];
    size_t top;
} machine;

static void must_agree(const machine *m)
{
    for (size_t i = 0; i <= m->top; i++) {
        const level *l = &m->levels[i];
        MUST(l->reader.left == l->to - l->from);
        MUST(l->reader.at == (m->bytes == NULL ? NULL : m->bytes + l->from));
    }
}

static void push(machine *m, tenoni_reader part, size_t from, size_t to)
{
    if (m->top + 1 < DEPTH)
        m->levels[++m->top] = (level){part, from, to};
}

static void read_number(machine *m, unsigned log)
{
    level *l = &m->levels[m->top];
    size_t width = (size_t)1 << log;
    uint64_t expected = 0, u64 = FUZZ_FILL;
    uint32_t u32 = FUZZ_FILL;
    uint16_t u16 = FUZZ_FILL;
    uint8_t u8 = FUZZ_FILL;
    bool fits = width <= l->to - l->from;
    for (size_t i = 0; fits && i < width; i++)
        expected = expected * 256 + m->bytes[l->from + i];
    bool read = log == 0   ? tenoni_read_u8(&l->reader, &u8)
                : log == 1 ? tenoni_read_u16(&l->reader, &u16)
                : log == 2 ? tenoni_read_u32(&l->reader, &u32)
                           : tenoni_read_u64(&l->reader, &u64);
    uint64_t found = log == 0 ? u8 : log == 1 ? u16 : log == 2 ? u32 : u64;
    MUST(read == fits);
    MUST(found == (fits ? expected : FUZZ_FILL));
    l->from += fits ? width : 0;
}

static void read_bytes(machine *m, size_t n)
{
    level *l = &m->levels[m->top];
    bool fits = n <= l->to - l->from;
    OWNED uint8_t *out = fuzz_room(n <= UINT8_MAX ? n : 1);
    MUST(tenoni_read_bytes(&l->reader, out, n) == fits);
    if (fits && n != 0)
        MUST(memcmp(out, m->bytes + l->from, n) == 0);
    else
        MUST(fuzz_all(out, n <= UINT8_MAX ? n : 1, FUZZ_FILL));
    l->from += fits ? n : 0;
}

static void read_part(machine *m, size_t n)
{
    level *l = &m->levels[m->top];
    tenoni_reader part = {.at = NULL, .left = FUZZ_FILL};
    bool fits = n <= l->to - l->from;
    MUST(tenoni_read_part(&l->reader, &part, n) == fits);
    if (!fits) {
        MUST(part.at == NULL && part.left == FUZZ_FILL);
        return;
    }
    l->from += n;
    push(m, part, l->from - n, l->from);
}

/* The size of a header of X.690 DER with this tag of one byte (8.1.2.4) whose content fits, or 0. */
static size_t header_size(const uint8_t *bytes, size_t n, uint8_t tag, size_t *content)
{
    size_t size = 0;
    if (n < 2 || bytes[0] != tag || (tag & 0x1f) == 0x1f)
        return 0;
    *content = bytes[1];
    if (bytes[1] < 0x80)
        size = 2;
    else if (bytes[1] == 0x81 && n >= 3 && bytes[2] >= 0x80)
        *content = bytes[2], size = 3;
    else if (bytes[1] == 0x82 && n >= 4 && bytes[2] != 0)
        *content = bytes[2] * 256u + bytes[3], size = 4;
    return size != 0 && *content <= n - size ? size : 0;
}

/* After an error, a reader may be at any place within its bounds. */
static void settle(machine *m, level *l)
{
    MUST(l->reader.left <= l->to - l->from);
    l->from = l->to - l->reader.left;
    must_agree(m);
}

static void read_element(machine *m, uint8_t tag)
{
    level *l = &m->levels[m->top];
    tenoni_reader part;
    size_t content = 0;
    size_t head = m->bytes == NULL ? 0 : header_size(m->bytes + l->from, l->to - l->from, tag, &content);
    tenon_status status = tenoni_der_read(&l->reader, tag, &part);
    MUST((status == TENON_OK) == (head != 0));
    if (status != TENON_OK) {
        MUST(tenon_status_category(status) == TENON_CATEGORY_FORMAT);
        settle(m, l);
        return;
    }
    l->from += head + content;
    push(m, part, l->from - content, l->from);
}

/* A number that was read from n bytes is written as the same bytes. */
static void read_unsigned(machine *m, size_t n)
{
    level *l = &m->levels[m->top];
    size_t before = l->from;
    uint8_t written[130];
    OWNED uint8_t *number = fuzz_room(n);
    tenon_status status = tenoni_der_read_unsigned(&l->reader, number, n);
    settle(m, l);
    if (status == TENON_OK) {
        tenoni_writer writer = tenoni_writer_over(written, sizeof written);
        tenoni_der_write_unsigned(&writer, number, n);
        MUST(!writer.overflowed && writer.used == l->from - before);
        MUST(memcmp(written, m->bytes + before, writer.used) == 0);
    } else {
        MUST(tenon_status_category(status) == TENON_CATEGORY_FORMAT);
    }
}

static void run(machine *m, uint8_t instruction, uint8_t operand)
{
    switch (instruction % 9) {
    case 0:
        read_number(m, operand % 4);
        break;
    case 1:
        read_bytes(m, operand);
        break;
    case 2:
        read_bytes(m, SIZE_MAX - operand);
        break;
    case 3:
        read_part(m, operand);
        break;
    case 4:
        read_part(m, SIZE_MAX - operand);
        break;
    case 5:
        read_element(m, operand);
        break;
    case 6:
        read_element(m, TENONI_DER_SEQUENCE);
        break;
    case 7:
        read_unsigned(m, operand % 126 + 1u);
        break;
    default:
        m->top -= m->top > 0;
    }
}

/* A number that was written is read back. */
static void write_unsigned(const uint8_t *bytes, size_t n)
{
    uint8_t written[130], number[126];
    size_t size = n < sizeof number ? n : sizeof number;
    tenoni_writer writer = tenoni_writer_over(written, sizeof written);
    if (size == 0)
        return;
    tenoni_der_write_unsigned(&writer, bytes, size);
    MUST(!writer.overflowed);
    tenoni_reader reader = tenoni_reader_over(written, writer.used);
    MUST(tenoni_der_read_unsigned(&reader, number, size) == TENON_OK);
    MUST(reader.left == 0 && memcmp(number, bytes, size) == 0);
}

FUZZ_TARGET(data, n)
{
    size_t count = n == 0 ? 0 : data[0];
    if (n < 1 + 2 * count)
        return;
    size_t bytes_n = n - 1 - 2 * count;
    OWNED uint8_t *bytes = fuzz_copy(data + 1 + 2 * count, bytes_n);
    machine m = {.bytes = bytes_n == 0 ? NULL : bytes};
    m.levels[0] = (level){tenoni_reader_over(m.bytes, bytes_n), 0, bytes_n};
    for (size_t i = 0; i < count; i++) {
        run(&m, data[1 + 2 * i], data[2 + 2 * i]);
        must_agree(&m);
    }
    write_unsigned(bytes, bytes_n);
}

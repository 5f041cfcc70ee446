/* SPDX-License-Identifier: Apache-2.0
 * proto/vectors/messages.txt against the frame reader, the decoder and the encoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec/messages.h"
#include "proto/codec/msgpack.h"

#define VECTORS "proto/vectors/messages.txt"
#define FRAME_LIMIT (1u << 20) /* tests/vectors/messages.py has the same */
#define MAX_FRAMES 16
#define MAX_BYTES 4096

struct vector {
    char name[64], value[8192], error[32], at[256];
    unsigned char bytes[MAX_FRAMES][MAX_BYTES]; /* the frame, then its other forms */
    size_t len[MAX_FRAMES];
    unsigned n;
};

/* ---- the text form of a message ---- */
static void print_text(struct buf *out, struct span s)
{
    buf_byte(out, '"');
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.p[i] == '"' || s.p[i] == '\\')
            buf_byte(out, '\\');
        buf_byte(out, (unsigned char)s.p[i]);
    }
    buf_byte(out, '"');
}

static void print_bytes(struct buf *out, struct span s)
{
    buf_str(out, "hex\"");
    for (uint32_t i = 0; i < s.len; i++)
        buf_printf(out, "%02x", (unsigned char)s.p[i]);
    buf_byte(out, '"');
}

static void print(struct buf *out, const struct msg_desc *d, const void *msg);

static void print_field(struct buf *out, const struct msg_field *f, const unsigned char *at, uint32_t n)
{
    const struct span *spans;
    const unsigned char *items;

    switch (f->type) {
    case MSG_F_UINT: buf_printf(out, "%llu", *(const unsigned long long *)at); break;
    case MSG_F_INT: buf_printf(out, "%lld", *(const long long *)at); break;
    case MSG_F_BOOL: buf_str(out, *(const bool *)at ? "true" : "false"); break;
    case MSG_F_STR: print_text(out, *(const struct span *)at); break;
    case MSG_F_BIN: print_bytes(out, *(const struct span *)at); break;
    case MSG_F_STRS:
    case MSG_F_BINS:
        spans = *(const struct span *const *)at;
        buf_byte(out, '[');
        for (uint32_t i = 0; i < n; i++) {
            buf_str(out, i ? ", " : "");
            (f->type == MSG_F_STRS ? print_text : print_bytes)(out, spans[i]);
        }
        buf_byte(out, ']');
        break;
    case MSG_F_LIST:
        items = *(const unsigned char *const *)at;
        buf_byte(out, '[');
        for (uint32_t i = 0; i < n; i++) {
            buf_str(out, i ? ", " : "");
            print(out, f->element, items + i * f->element->size);
        }
        buf_byte(out, ']');
        break;
    }
}

/* Whether a field is at the value that absence means, found without the codec's own test. */
static bool absent(const struct msg_field *f, const unsigned char *at, uint32_t n)
{
    switch (f->type) {
    case MSG_F_UINT: return *(const uint64_t *)at == 0;
    case MSG_F_INT: return *(const int64_t *)at == -1;
    case MSG_F_BOOL: return !*(const bool *)at;
    case MSG_F_STR:
    case MSG_F_BIN: return ((const struct span *)at)->len == 0;
    default: return n == 0;
    }
}

static void print(struct buf *out, const struct msg_desc *d, const void *msg)
{
    bool first = true;

    buf_byte(out, '{');
    for (const struct msg_field *f = d->fields(); f->name; f++) {
        const unsigned char *at = (const unsigned char *)msg + f->offset;
        uint32_t n = f->n_offset ? *(const uint32_t *)((const unsigned char *)msg + f->n_offset) : 0;
        if (!f->required && absent(f, at, n))
            continue;
        buf_printf(out, "%s%s: ", first ? "" : ", ", f->name);
        first = false;
        print_field(out, f, at, n);
    }
    buf_byte(out, '}');
}

/* ---- the file ---- */
static size_t from_hex(const char *s, unsigned char *out)
{
    size_t n = 0;
    unsigned v;

    for (; *s && *s != '#'; s++) {
        if (*s == ' ' || *s == '-')
            continue;
        assert_int_equal(sscanf(s, "%2x", &v), 1);
        assert_true(n < MAX_BYTES);
        out[n++] = (unsigned char)v;
        s++;
    }
    return n;
}

/* The next case; false at the end. `line` holds a line read ahead. */
static bool next_vector(FILE *f, struct vector *v, char *line, size_t size)
{
    memset(v, 0, sizeof *v);
    for (;; *line = '\0') {
        if (!*line && !fgets(line, (int)size, f))
            return v->name[0] != '\0';
        line[strcspn(line, "\n")] = '\0';
        if (*line == '#' || !*line)
            continue;
        if (!strncmp(line, "case ", 5)) {
            if (v->name[0])
                return true; /* kept for the next call */
            snprintf(v->name, sizeof v->name, "%s", line + 6);
        } else if (!strncmp(line, "frame ", 6) || !strncmp(line, "also ", 5)) {
            assert_true(v->n < MAX_FRAMES);
            v->len[v->n] = from_hex(line + 6, v->bytes[v->n]);
            v->n++;
        } else if (!strncmp(line, "value ", 6)) {
            snprintf(v->value, sizeof v->value, "%s", line + 6);
        } else if (!strncmp(line, "error ", 6)) {
            sscanf(line + 6, "%31s %255[^\n]", v->error, v->at);
        } else {
            fail_msg("%s: '%s'", VECTORS, line);
        }
    }
}

/* ---- one frame ---- */
/* Decode from memory without a byte to spare. 0, MORE (1) or a negative code. */
static int decode(const unsigned char *data, size_t len, struct arena *a, struct frame *f, void **ret_msg,
                  unsigned char **ret_copy, struct kiln_err *e)
{
    const struct msg_desc *d;
    unsigned char *copy = malloc(len + !len);
    int r;

    if (len)
        memcpy(copy, data, len);
    *ret_copy = copy;
    r = frame_next(copy, len, FRAME_LIMIT, f, NULL, e);
    if (r <= 0)
        return r ? r : 1;
    assert_int_equal(FRAME_HEAD + f->body_len, len);
    d = msg_desc(f->type);
    if (!d)
        return kiln_err_set(e, KILN_E_UNSUPPORTED, 0, NULL);
    *ret_msg = arena_alloc(a, d->size);
    return msg_decode(a, d, f->body, f->body_len, *ret_msg, e);
}

static void check_good(const struct vector *v, unsigned i)
{
    unsigned char *copy;
    struct kiln_err e = KILN_ERR_INIT;
    struct arena a;
    struct frame f;
    struct buf out;
    void *msg = NULL;

    arena_init(&a, 1 << 20);
    buf_init(&out, 1 << 20);
    if (decode(v->bytes[i], v->len[i], &a, &f, &msg, &copy, &e) != 0)
        fail_msg("%s, form %u: %s", v->name, i, e.msg);
    buf_printf(&out, "%s id=%llu flags=%u ", msg_desc(f.type)->name, (unsigned long long)f.id, f.flags);
    print(&out, msg_desc(f.type), msg);
    if (strcmp(buf_cstr(&out), v->value) != 0)
        fail_msg("%s, form %u means\n%s\nnot\n%s", v->name, i, buf_cstr(&out), v->value);
    /* written again it has the first form */
    buf_clear(&out);
    assert_int_equal(msg_frame(&out, (enum msg_type)f.type, f.flags, f.id, msg, &e), 0);
    if (out.len != v->len[0] || memcmp(out.data, v->bytes[0], out.len) != 0)
        fail_msg("%s, form %u is not written as its frame says", v->name, i);
    buf_done(&out);
    arena_done(&a);
    free(copy);
}

static void check_bad(const struct vector *v, unsigned i)
{
    struct kiln_err e = KILN_ERR_INIT;
    unsigned char *copy;
    struct arena a;
    struct frame f;
    void *msg;
    int r;

    arena_init(&a, 1 << 20);
    r = decode(v->bytes[i], v->len[i], &a, &f, &msg, &copy, &e);
    if (!strcmp(v->error, "MORE")) {
        if (r != 1)
            fail_msg("%s, form %u: %d (%s) instead of more", v->name, i, r, e.msg);
    } else {
        if (r >= 0 || strcmp(kiln_err_name(r), v->error) != 0)
            fail_msg("%s, form %u: %s (%s) instead of %s", v->name, i, r < 0 ? kiln_err_name(r) : "good", e.msg,
                     v->error);
        if (!strstr(e.msg, v->at))
            fail_msg("%s, form %u: '%s' does not speak of '%s'", v->name, i, e.msg, v->at);
    }
    arena_done(&a);
    free(copy);
}

static void vectors_hold(void **state)
{
    struct vector *v = malloc(sizeof *v);
    unsigned good = 0, bad = 0;
    char line[16384] = "";
    FILE *f = fopen(VECTORS, "r");

    (void)state;
    assert_non_null(f);
    while (next_vector(f, v, line, sizeof line)) {
        assert_true(v->n > 0);
        for (unsigned i = 0; i < v->n; i++) {
            if (v->error[0])
                check_bad(v, i);
            else
                check_good(v, i);
        }
        good += !v->error[0];
        bad += v->error[0] != '\0';
    }
    print_message("%u good cases, %u refused\n", good, bad);
    assert_true(good >= 70 && bad >= 30);
    fclose(f);
    free(v);
}

/* Each byte of each vector changed, and each beginning of it: an answer comes, and what is accepted can be written and
 * read again with the same meaning. */
static void mutations_are_answered(void **state)
{
    struct vector *v = malloc(sizeof *v);
    unsigned accepted = 0, refused = 0;
    char line[16384] = "";
    FILE *f = fopen(VECTORS, "r");

    (void)state;
    srand(11);
    while (next_vector(f, v, line, sizeof line)) {
        for (size_t at = FRAME_HEAD; at < v->len[0]; at++) {
            unsigned char old = v->bytes[0][at], *copy, *copy2;
            struct kiln_err e;
            struct arena a;
            struct frame fr;
            struct buf one, two;
            void *msg, *msg2;
            v->bytes[0][at] = (unsigned char)(rand() >> 5);
            arena_init(&a, 1 << 20);
            buf_init(&one, 1 << 20);
            buf_init(&two, 1 << 20);
            if (decode(v->bytes[0], v->len[0], &a, &fr, &msg, &copy, &e) == 0) {
                accepted++;
                assert_int_equal(msg_frame(&one, (enum msg_type)fr.type, fr.flags, fr.id, msg, &e), 0);
                assert_int_equal(decode(one.data, one.len, &a, &fr, &msg2, &copy2, &e), 0);
                assert_int_equal(msg_frame(&two, (enum msg_type)fr.type, fr.flags, fr.id, msg2, &e), 0);
                assert_int_equal(one.len, two.len);
                assert_memory_equal(one.data, two.data, one.len);
                free(copy2);
            } else {
                refused++;
            }
            buf_done(&one);
            buf_done(&two);
            arena_done(&a);
            free(copy);
            v->bytes[0][at] = old;
        }
    }
    assert_true(accepted > 100 && refused > 100);
    fclose(f);
    free(v);
}

/* 60,000 records of one byte each would take megabytes: the arena's limit ends that. */
static void many_small_records_meet_the_limit(void **state)
{
    const struct msg_desc *d = msg_desc(MSG_COUNTERS);
    struct msg_counters msg;
    struct kiln_err e;
    struct arena a;
    struct buf b;

    (void)state;
    arena_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    mp_put_map(&b, 1);
    mp_put_cstr(&b, "counters");
    mp_put_array(&b, 60000);
    for (unsigned i = 0; i < 60000; i++)
        mp_put_map(&b, 0);
    assert_int_equal(msg_decode(&a, d, b.data, b.len, &msg, &e), -KILN_E_LIMIT);
    buf_done(&b);
    arena_done(&a);
}

static void tables_are_sound(void **state)
{
    unsigned messages = 0;

    (void)state;
    for (unsigned type = 0; type < 70000; type++) {
        const struct msg_desc *d = msg_desc(type);
        unsigned n = 0;
        if (!d)
            continue;
        messages++;
        assert_int_equal(d->type, type);
        assert_ptr_equal(msg_desc_named(d->name), d);
        assert_true(strchr("CSWK", d->direction) != NULL);
        for (const struct msg_field *f = d->fields(); f->name; f++) {
            assert_true(f->offset < d->size);
            n++;
        }
        assert_true(n <= 64); /* the decoder keeps a bit for each */
    }
    assert_true(messages >= 26);
    assert_null(msg_desc(0));
    assert_non_null(msg_desc_named("note")); /* records are found by name */
    assert_null(msg_desc_named("no such message"));
}

static void a_message_that_does_not_fit_is_an_error(void **state)
{
    struct msg_hello hello;
    struct kiln_err e;
    struct buf b;

    (void)state;
    MSG_INIT(MSG_HELLO, &hello);
    hello.client = span_text("a name that is longer than the buffer");
    buf_init(&b, 40);
    assert_int_equal(msg_frame(&b, MSG_HELLO, 0, 1, &hello, &e), -KILN_E_LIMIT);
    assert_non_null(strstr(e.msg, "hello"));
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_hold),
        cmocka_unit_test(mutations_are_answered),
        cmocka_unit_test(many_small_records_meet_the_limit),
        cmocka_unit_test(tables_are_sound),
        cmocka_unit_test(a_message_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

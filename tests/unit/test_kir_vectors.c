/* SPDX-License-Identifier: Apache-2.0
 * proto/vectors/kir.txt against decoder, encoder, printer and parser.
 *
 * `test_kir_vectors --assemble` reads a text form from standard input and writes it in canonical form, "--"
 * and its bytes: tests/vectors/test_kir.py --update uses it. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/kir_samples.h"

#define VECTORS "proto/vectors/kir.txt"

struct vector {
    bool ok;
    char name[64];
    char *body; /* text form or value */
    unsigned char *bytes;
    size_t len;
    char error[32], message[128];
};

static char *slurp(FILE *f)
{
    struct buf b;
    unsigned char block[4096];
    size_t n;

    buf_init(&b, SAMPLE_LIMIT);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(&b, block, n);
    buf_byte(&b, 0);
    return (char *)buf_take(&b, &n);
}

/* The part up to a line "--" or "== ..."; cuts it off. *p moves behind a "--". */
static char *part(char **p)
{
    char *start = *p, *s = start;

    while (*s) {
        if (!strncmp(s, "--\n", 3)) {
            *s = '\0';
            *p = s + 3;
            return start;
        }
        if (!strncmp(s, "== ", 3))
            break;
        s = strchr(s, '\n') ? strchr(s, '\n') + 1 : s + strlen(s);
    }
    *p = s;
    return start;
}

static size_t from_hex(const char *s, const char *end, unsigned char *out)
{
    size_t n = 0;
    unsigned v;

    while (s < end) {
        if (*s == '\n' || *s == ' ') {
            s++;
            continue;
        }
        if (sscanf(s, "%2x", &v) != 1)
            fail_msg("not hex: %.10s", s);
        out[n++] = (unsigned char)v;
        s += 2;
    }
    return n;
}

/* Calls f for every vector; returns how many there were. */
static unsigned each(void (*f)(const struct vector *v))
{
    FILE *file = fopen(VECTORS, "r");
    char *all, *p;
    unsigned n = 0;

    assert_non_null(file);
    all = slurp(file);
    fclose(file);
    for (p = strstr(all, "\n== "); p && *p; n++) {
        struct vector v = { 0 };
        char kind[8], *hex, *end;
        p += *p == '\n';
        if (sscanf(p, "== %7s %63s", kind, v.name) != 2)
            fail_msg("bad head: %.40s", p);
        v.ok = !strcmp(kind, "ok");
        p = strchr(p, '\n') + 1;
        v.body = part(&p);
        hex = part(&p);
        end = p;
        v.bytes = malloc(strlen(hex) + 1);
        if (v.ok) {
            v.len = from_hex(hex, end, v.bytes);
        } else {
            v.len = from_hex(hex, hex + strlen(hex), v.bytes);
            if (sscanf(p, "%31s %127[^\n]", v.error, v.message) != 2)
                fail_msg("%s: no error stated", v.name);
        }
        f(&v);
        free(v.bytes);
        p = strstr(p, "== ");
    }
    free(all);
    return n;
}

static void check_ok(const struct vector *v)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf out;

    if (!v->ok)
        return;
    arena_init(&a, SAMPLE_LIMIT);
    if (kir_decode(&a, v->bytes, v->len, &m, &e))
        fail_msg("%s: %s", v->name, e.msg);
    sample_encode(m, &out);
    assert_int_equal(out.len, v->len);
    assert_memory_equal(out.data, v->bytes, v->len);
    buf_done(&out);
    buf_init(&out, SAMPLE_LIMIT);
    assert_int_equal(kir_print(m, &out, &e), 0);
    assert_string_equal(buf_cstr(&out), v->body);
    m = sample_parse(&a, v->body);
    buf_done(&out);
    sample_encode(m, &out);
    assert_int_equal(out.len, v->len);
    assert_memory_equal(out.data, v->bytes, v->len);
    buf_done(&out);
    arena_done(&a);
}

static void check_bad(const struct vector *v)
{
    struct arena a;
    struct kir_module *m = NULL;
    struct kiln_err e = KILN_ERR_INIT;

    if (v->ok)
        return;
    arena_init(&a, SAMPLE_LIMIT);
    if (!kir_decode(&a, v->bytes, v->len, &m, &e))
        fail_msg("%s: was accepted", v->name);
    if (strcmp(kiln_err_name(e.code), v->error) || !strstr(e.msg, v->message))
        fail_msg("%s: %s %s", v->name, kiln_err_name(e.code), e.msg);
    arena_done(&a);
}

/* Every prefix of a good module, and every single byte changed, is refused or is a good module. */
static void check_damage(const struct vector *v)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf out;
    unsigned char *copy = malloc(v->len + 1);

    assert_non_null(copy);
    arena_init(&a, SAMPLE_LIMIT);
    for (size_t n = 0; v->ok && n < v->len; n++) {
        memcpy(copy, v->bytes, n); /* so that sanitizers see reads past the end */
        arena_clear(&a);
        assert_int_not_equal(kir_decode(&a, copy, n, &m, &e), 0);
    }
    memcpy(copy, v->bytes, v->len);
    for (size_t i = 0; v->ok && i < v->len; i++)
        for (unsigned x = 1; x < 256; x <<= 1) {
            copy[i] ^= (unsigned char)x;
            arena_clear(&a);
            if (!kir_decode(&a, copy, v->len, &m, &e)) {
                sample_encode(m, &out);
                assert_int_equal(out.len, v->len);
                assert_memory_equal(out.data, copy, v->len);
                buf_done(&out);
            }
            copy[i] ^= (unsigned char)x;
        }
    free(copy);
    arena_done(&a);
}

static unsigned ops_seen[KIR__OP_END];

static void note_ops(const struct vector *v)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;

    arena_init(&a, SAMPLE_LIMIT);
    if (v->ok && !kir_decode(&a, v->bytes, v->len, &m, &e))
        for (uint32_t f = 0; f < m->n_functions; f++)
            for (uint32_t i = 0; i < m->functions[f].n_nodes; i++)
                ops_seen[m->functions[f].nodes[i].op]++;
    arena_done(&a);
}

static void test_ok(void **state)
{
    (void)state;
    assert_true(each(check_ok) > 20);
}

static void test_bad(void **state)
{
    (void)state;
    assert_true(each(check_bad) > 60);
}

static void test_damage(void **state)
{
    (void)state;
    each(check_damage);
}

static void test_every_op_has_a_vector(void **state)
{
    (void)state;
    each(note_ops);
    for (unsigned op = 0; op < KIR__OP_END; op++)
        if (kir_opinfo(op) && !ops_seen[op])
            fail_msg("no vector has %s", kir_opinfo(op)->text);
}

static int assemble(void)
{
    struct arena a;
    struct kir_module *m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf text, bytes;
    char *in = slurp(stdin);

    arena_init(&a, SAMPLE_LIMIT);
    buf_init(&text, SAMPLE_LIMIT);
    buf_init(&bytes, SAMPLE_LIMIT);
    if (kir_parse(&a, in, strlen(in), &m, &e) || kir_print(m, &text, &e) || kir_encode(m, &bytes, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    printf("%s--\n", buf_cstr(&text));
    for (size_t i = 0; i < bytes.len; i++)
        printf("%02x%s", bytes.data[i], i % 60 == 59 || i + 1 == bytes.len ? "\n" : "");
    free(in);
    buf_done(&text);
    buf_done(&bytes);
    arena_done(&a);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ok),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_every_op_has_a_vector),
    };

    if (argc == 2 && !strcmp(argv[1], "--assemble"))
        return assemble();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

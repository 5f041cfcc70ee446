/* SPDX-License-Identifier: Apache-2.0
 * Whole programs through the compiler, loaded and run: loops, views, stores, exceptions with their trace,
 * recursion, reference counts, the plain C symbol. Texts are KIR; the Python above each says what it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/compiler/compile.h"
#include "proto/abi/abi.h"
#include "proto/ir/kir.h"

/* def total(a):
 *     s = 0.0
 *     for row in a:
 *         for x in row:
 *             s += x
 *     return s */
static const char total_kir[] = "(kir 1\n"
                                "  (function 0 (params (a normal))\n"
                                "    (block\n"
                                "      (assign (const 0.0) (local 1))\n"
                                "      (for (local 2) (local 0)\n"
                                "        (block\n"
                                "          (for (local 3) (local 2)\n"
                                "            (block\n"
                                "              (augassign + (local 1) (local 3))))))\n"
                                "      (return (local 1)))))\n";

/* def make(n):
 *     a = np.zeros(n)
 *     b = a[1:]
 *     for i in range(n):
 *         c = np.ones(i)
 *         if i == 4:
 *             continue
 *         if i == n - 2:
 *             break
 *         b = c[::2]
 *     if n == 7:
 *         raise ValueError("seven", n)
 *     return a, b */
static const char make_kir[] =
    "(kir 1\n"
    "  (function 0 (params (n normal))\n"
    "    (block\n"
    "      (assign (call (lib numpy.zeros) [(local 0)]) (local 1))\n"
    "      (assign (subscript (local 1) (slice (const 1))) (local 2))\n"
    "      (for (local 3) (call (lib builtins.range) [(local 0)])\n"
    "        (block\n"
    "          (assign (call (lib numpy.ones) [(local 3)]) (local 4))\n"
    "          (if (compare [==] [(local 3) (const 4)])\n"
    "            (block\n"
    "              (continue)))\n"
    "          (if (compare [==] [(local 3) (binary - (local 0) (const 2))])\n"
    "            (block\n"
    "              (break)))\n"
    "          (assign (subscript (local 4) (slice _ _ (const 2))) (local 2))))\n"
    "      (if (compare [==] [(local 0) (const 7)])\n"
    "        (block\n"
    "          (raise (call (lib builtins.ValueError) [(const \"seven\") (local 0)]))))\n"
    "      (return (tuple (local 1) (local 2))))))\n";

/* def helper(a, i):
 *     if i >= len(a):
 *         raise IndexError("far", i, 2.5)
 *     return a[i]
 * def outer(a, i):
 *     return helper(a, i) * 2 */
static const char outer_kir[] =
    "(kir 1\n"
    "  (function 0 (params (a normal) (i normal))\n"
    "    (block\n"
    "      (return (binary * (call (func 1) [(local 0) (local 1)]) (const 2)))))\n"
    "  (function 1 (params (a normal) (i normal))\n"
    "    (block\n"
    "      (if (compare [>=] [(local 1) (call (lib builtins.len) [(local 0)])])\n"
    "        (block\n"
    "          (raise (call (lib builtins.IndexError) [(const \"far\") (local 1) (const 2.5)]))))\n"
    "      (return (subscript (local 0) (local 1))))))\n";

/* def deep(n):
 *     return deep(n + 1) + 1 */
static const char deep_kir[] =
    "(kir 1\n"
    "  (function 0 (params (n normal))\n"
    "    (block\n"
    "      (return (binary + (call (func 0) [(binary + (local 0) (const 1))]) (const 1))))))\n";

/* def view(a):
 *     return a[::-2] */
static const char view_kir[] = "(kir 1\n"
                               "  (function 0 (params (a normal))\n"
                               "    (block\n"
                               "      (return (subscript (local 0) (slice _ _ (const -2)))))))\n";

/* def shift(a):
 *     a[1:] = a[:-1] */
static const char shift_kir[] =
    "(kir 1\n"
    "  (function 0 (params (a normal))\n"
    "    (block\n"
    "      (assign (subscript (local 0) (slice _ (const -1))) (subscript (local 0) (slice (const 1)))))))\n";

/* def store(a, b):
 *     a[:] = b */
static const char store_kir[] = "(kir 1\n"
                                "  (function 0 (params (a normal) (b normal))\n"
                                "    (block\n"
                                "      (assign (local 1) (subscript (local 0) (slice))))))\n";

/* def pair(t, z):
 *     return t[1], t[0] * 2, z * z */
static const char pair_kir[] = "(kir 1\n"
                               "  (function 0 (params (t normal) (z normal))\n"
                               "    (block\n"
                               "      (return (tuple (subscript (local 0) (const 1)) (binary * (subscript "
                               "(local 0) (const 0)) (const 2)) (binary * (local 1) (local 1)))))))\n";

/* def element(a, i):
 *     return a[i] */
static const char element_kir[] = "(kir 1\n"
                                  "  (function 0 (params (a normal) (i normal))\n"
                                  "    (block\n"
                                  "      (return (subscript (local 0) (local 1))))))\n";

/* def fib(n):
 *     if n < 2:
 *         return n
 *     return fib(n - 1) + fib(n - 2) */
static const char fib_kir[] = "(kir 1\n"
                              "  (function 0 (params (n normal))\n"
                              "    (block\n"
                              "      (if (compare [<] [(local 0) (const 2)])\n"
                              "        (block\n"
                              "          (return (local 0))))\n"
                              "      (return (binary + (call (func 0) [(binary - (local 0) (const 1))]) "
                              "(call (func 0) [(binary - (local 0) (const 2))]))))))\n";

/* def maybe(c):
 *     if c > 0:
 *         x = 1
 *     return x */
static const char maybe_kir[] = "(kir 1\n"
                                "  (function 0 (params (c normal))\n"
                                "    (block\n"
                                "      (if (compare [>] [(local 0) (const 0)])\n"
                                "        (block\n"
                                "          (assign (const 1) (local 1))))\n"
                                "      (return (local 1)))))\n";

/* def pick(a, c):
 *     b = a if c else np.ones(2)
 *     return b */
static const char pick_kir[] =
    "(kir 1\n"
    "  (function 0 (params (a normal) (c normal))\n"
    "    (block\n"
    "      (assign (ifexp (local 1) (local 0) (call (lib numpy.ones) [(const 2)])) (local 2))\n"
    "      (return (local 2)))))\n";

/* def both(a):
 *     return a, np.ones(3), a[1:] */
static const char both_kir[] = "(kir 1\n"
                               "  (function 0 (params (a normal))\n"
                               "    (block\n"
                               "      (return (tuple (local 0) (call (lib numpy.ones) [(const 3)])\n"
                               "        (subscript (local 0) (slice (const 1))))))))\n";

/* ---- a host that counts ---- */

static int allocated, released, allow = -1; /* allow: how many more allocations succeed; -1 any */

static void mem_release(struct kiln_mem *m)
{
    released++;
    free(m->data);
    free(m);
}

static struct kiln_mem *mem_alloc(int64_t size)
{
    if (allow == 0)
        return NULL;
    allow -= allow > 0;
    struct kiln_mem *m = malloc(sizeof *m);
    *m = (struct kiln_mem){ .refs = 1, .release = mem_release, .size = size };
    m->data = aligned_alloc(64, ((size_t)size + 64) / 64 * 64);
    memset(m->data, 0xA5, (size_t)size);
    allocated++;
    return m;
}

static const struct kiln_host host = { .version = KILN_ABI_VERSION, .size = sizeof host, .alloc = mem_alloc };

struct array1 {
    struct kiln_mem *owner;
    double *data;
    intptr_t n, stride;
};

/* Memory of the caller: its count must be what it was after each call. */
static struct kiln_mem borrowed = { .refs = 100 };

static struct array1 over(double *data, intptr_t n)
{
    return (struct array1){ &borrowed, data, n, sizeof(double) };
}

static void drop(struct array1 *a)
{
    if (--a->owner->refs == 0)
        a->owner->release(a->owner);
}

/* ---- compile and load ---- */

static struct compiler *compiler;

struct loaded {
    void *handle;
    int fd;
    kiln_entry_fn entry;
    struct kiln_exc exc;
};

static int setup(void **state)
{
    struct kiln_err e = KILN_ERR_INIT;
    (void)state;
    if (compiler_new(&compiler, &e)) {
        print_error("%s\n", e.msg);
        return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    compiler_free(compiler);
    return 0;
}

static struct loaded load(const char *text, const char *signature, struct compile_options options,
                          const char *symbol)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct arena a;
    struct kir_module *m;
    struct buf wire;
    struct compile_result r;
    struct loaded l = { .fd = memfd_create("test", 0) };
    char path[64];

    arena_init(&a, 64 << 20);
    buf_init(&wire, 1 << 20);
    if (kir_parse(&a, text, strlen(text), &m, &e) || kir_encode(m, &wire, &e))
        fail_msg("%s", e.msg);
    struct compile_request req = { .kind = COMPILE_KIR,
                                   .body = wire.data,
                                   .body_len = wire.len,
                                   .signature = signature,
                                   .target = "",
                                   .emit = EMIT_SO,
                                   .options = options,
                                   .symbol = symbol };
    memset(req.key, 7, sizeof req.key);
    if (compiler_run(compiler, &a, &req, &r, &e))
        fail_msg("%s %s", e.msg, r.diags.n ? r.diags.items[0].message : "");
    assert_int_equal(write(l.fd, r.object.data, r.object.len), (ssize_t)r.object.len);
    compile_result_done(&r);
    buf_done(&wire);
    arena_done(&a);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), l.fd);
    l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l.handle)
        fail_msg("%s", dlerror());
    assert_memory_equal(dlsym(l.handle, KILN_SYM_KEY), req.key, 32);
    ((kiln_bind_fn)dlsym(l.handle, KILN_SYM_BIND))(&host);
    l.entry = (kiln_entry_fn)dlsym(l.handle, KILN_SYM_ENTRY);
    allocated = released = 0;
    allow = -1;
    return l;
}

static void unload(struct loaded *l)
{
    assert_int_equal(borrowed.refs, 100);
    assert_int_equal(allocated, released);
    dlclose(l->handle);
    close(l->fd);
}

static const struct compile_options plain;

static void run(struct loaded *l, void *ret, const void *args)
{
    assert_int_equal(l->entry(ret, args, NULL, &l->exc), KILN_DONE);
}

static void raises(struct loaded *l, void *ret, const void *args, uint32_t class_id, uint32_t frames)
{
    assert_int_equal(l->entry(ret, args, NULL, &l->exc), KILN_RAISED);
    assert_int_equal(l->exc.class_id, class_id);
    assert_int_equal(l->exc.n_trace, frames);
}

/* ---- tests ---- */

static void test_total(void **state)
{
    double data[6] = { 1, 2, 3, 4, 5, 6 }, out;
    struct {
        struct kiln_mem *owner;
        double *data;
        intptr_t shape[2], strides[2];
    } a = { &borrowed, data, { 2, 3 }, { 24, 8 } };
    (void)state;
    struct loaded l = load(total_kir, "(float64[:, ::1])", plain, NULL);
    run(&l, &out, &a);
    assert_true(out == 21);
    unload(&l);
    l = load(total_kir, "(float64[:, :])", plain, NULL);
    a.data = data + 5;
    a.shape[0] = a.shape[1] = 2;
    a.strides[0] = -8;
    a.strides[1] = -16;
    run(&l, &out, &a);
    assert_true(out == 6 + 4 + 5 + 3);
    a.shape[0] = 0;
    run(&l, &out, &a);
    assert_true(out == 0);
    unload(&l);
}

static void test_references(void **state)
{
    (void)state;
    struct loaded l = load(make_kir, "(int64)", plain, NULL);
    for (int64_t n = 2; n < 10; n++) {
        struct array1 out[2];
        if (n == 7) {
            raises(&l, out, &n, KILN_EXC_ValueError, 1);
            assert_int_equal(l.exc.n_args, 2);
            assert_int_equal(l.exc.args[0].kind, KILN_ARG_STR);
            assert_memory_equal(l.exc.args[0].s, "seven", 5);
            assert_int_equal(l.exc.args[1].kind, KILN_ARG_INT);
            assert_int_equal(l.exc.args[1].i, 7);
        } else {
            run(&l, out, &n);
            assert_int_equal(out[0].n, n);
            for (int64_t i = 0; i < n; i++)
                assert_true(out[0].data[i] == 0);
            drop(&out[0]);
            drop(&out[1]);
        }
        assert_int_equal(allocated, released);
    }
    unload(&l);
}

/* Every allocation in turn fails: MemoryError, and nothing leaks. */
static void test_no_memory(void **state)
{
    (void)state;
    struct loaded l = load(make_kir, "(int64)", plain, NULL);
    for (int k = 0; k < 9; k++) {
        int64_t n = 9;
        struct array1 out[2];
        allow = k;
        if (l.entry(out, &n, NULL, &l.exc) == KILN_DONE) {
            assert_true(k > 5);
            drop(&out[0]);
            drop(&out[1]);
        } else {
            assert_int_equal(l.exc.class_id, KILN_EXC_MemoryError);
        }
        assert_int_equal(allocated, released);
    }
    unload(&l);
}

static void test_trace(void **state)
{
    double data[3] = { 1, 2, 3 }, out;
    struct {
        struct array1 a;
        int64_t i;
    } args = { over(data, 3), 1 };
    (void)state;
    struct loaded l = load(outer_kir, "(float64[::1], int64)", plain, NULL);
    run(&l, &out, &args);
    assert_true(out == 4);
    args.i = 5;
    raises(&l, &out, &args, KILN_EXC_IndexError, 2);
    assert_int_equal(l.exc.trace[0].function, 1);
    assert_int_equal(l.exc.trace[1].function, 0);
    assert_int_equal(l.exc.n_args, 3);
    assert_int_equal(l.exc.args[1].i, 5);
    assert_true(l.exc.args[2].kind == KILN_ARG_FLOAT && l.exc.args[2].f == 2.5);
    unload(&l);
}

static void test_recursion(void **state)
{
    int64_t n = 20, out;
    (void)state;
    struct loaded l = load(fib_kir, "(int64)", plain, NULL);
    run(&l, &out, &n);
    assert_int_equal(out, 6765);
    unload(&l);
    l = load(deep_kir, "(int64)", plain, NULL);
    assert_int_equal(l.entry(&out, &n, NULL, &l.exc), KILN_RAISED);
    assert_int_equal(l.exc.class_id, KILN_EXC_RecursionError);
    assert_true(l.exc.n_trace > KILN_TRACE_MAX);
    unload(&l);
}

static void test_views(void **state)
{
    double data[6] = { 0, 1, 2, 3, 4, 5 };
    struct array1 a = over(data, 6), out;
    (void)state;
    struct loaded l = load(view_kir, "(float64[::1])", plain, NULL);
    run(&l, &out, &a);
    assert_ptr_equal(out.owner, &borrowed);
    assert_int_equal(borrowed.refs, 101);
    borrowed.refs--;
    assert_int_equal(out.n, 3);
    assert_int_equal(out.stride, -16);
    assert_ptr_equal(out.data, data + 5);
    a.owner = NULL; /* nobody counts: the result is a copy */
    run(&l, &out, &a);
    assert_non_null(out.owner);
    assert_int_equal(out.n, 3);
    for (int i = 0; i < 3; i++)
        assert_true(*(double *)((char *)out.data + i * out.stride) == 5 - 2 * i);
    drop(&out);
    unload(&l);
}

static void test_stores(void **state)
{
    double data[5] = { 0, 1, 2, 3, 4 };
    struct array1 a = over(data, 5);
    char out;
    (void)state;
    struct loaded l = load(shift_kir, "(float64[::1])", plain, NULL);
    run(&l, &out, &a);
    for (int i = 0; i < 5; i++)
        assert_true(data[i] == (i ? i - 1 : 0));
    unload(&l);
    l = load(shift_kir, "(float64[:])", plain, NULL); /* strided and overlapping: through new memory */
    double wide[9] = { 0, -1, 1, -1, 2, -1, 3, -1, 4 };
    struct array1 w = { &borrowed, wide, 5, 16 };
    run(&l, &out, &w);
    for (int i = 0; i < 9; i++)
        assert_true(wide[i] == (i % 2 ? -1 : i < 2 ? 0 : i / 2 - 1));
    assert_int_equal(allocated, 1);
    unload(&l);
    l = load(store_kir, "(float64[::1], float64[::1])", plain, NULL);
    struct array1 two[2] = { over(data, 5), over(wide, 3) };
    raises(&l, &out, two, KILN_EXC_ValueError, 1);
    assert_int_equal(l.exc.args[0].kind, KILN_ARG_FORMAT);
    assert_int_equal(l.exc.n_args, 3);
    assert_int_equal(l.exc.args[1].i, 3);
    assert_int_equal(l.exc.args[2].i, 5);
    unload(&l);
}

static void test_bounds(void **state)
{
    double data[3] = { 1, 2, 3 }, out;
    struct {
        struct array1 a;
        int64_t i;
    } args = { over(data, 3), -1 };
    (void)state;
    struct loaded l = load(element_kir, "(float64[::1], int64)",
                           (struct compile_options){ .flags = KIR_F_BOUNDSCHECK }, NULL);
    run(&l, &out, &args);
    assert_true(out == 3);
    static const int64_t bad[] = { 3, -4, INT64_MAX, INT64_MIN };
    for (size_t k = 0; k < 4; k++) {
        args.i = bad[k];
        raises(&l, &out, &args, KILN_EXC_IndexError, 1);
        assert_int_equal(l.exc.args[1].i, bad[k]);
        assert_int_equal(l.exc.args[3].i, 3);
    }
    unload(&l);
}

static void test_unbound(void **state)
{
    int64_t c = 1, out;
    (void)state;
    struct loaded l = load(maybe_kir, "(int64)", plain, NULL);
    run(&l, &out, &c);
    assert_int_equal(out, 1);
    c = 0;
    raises(&l, &out, &c, KILN_EXC_UnboundLocalError, 1);
    unload(&l);
}

static void test_either_array(void **state)
{
    double data[2] = { 7, 8 };
    struct {
        struct array1 a;
        uint8_t c;
    } args = { over(data, 2), 1 };
    struct array1 out;
    (void)state;
    struct loaded l = load(pick_kir, "(float64[::1], bool)", plain, NULL);
    run(&l, &out, &args);
    assert_ptr_equal(out.data, data);
    borrowed.refs--;
    args.c = 0;
    run(&l, &out, &args);
    assert_true(out.n == 2 && out.data[0] == 1);
    drop(&out);
    unload(&l);
}

/* Borrowed arrays in a result are copied; where that fails, nothing of the result stays. */
static void test_copied_results(void **state)
{
    double data[3] = { 1, 2, 3 };
    struct array1 a = { NULL, data, 3, 8 }, out[3];
    (void)state;
    struct loaded l = load(both_kir, "(float64[::1])", plain, NULL);
    for (int k = 0; k < 4; k++) {
        allow = k;
        if (k < 3) {
            assert_int_equal(l.entry(out, &a, NULL, &l.exc), KILN_RAISED);
            assert_int_equal(l.exc.class_id, KILN_EXC_MemoryError);
        } else {
            run(&l, out, &a);
            assert_true(out[0].data != data && out[0].data[2] == 3 && out[1].data[2] == 1 &&
                        out[2].data[1] == 3);
            for (int i = 0; i < 3; i++)
                drop(&out[i]);
        }
        assert_int_equal(allocated, released);
    }
    unload(&l);
}

struct pair {
    int32_t a;
    double b;
};
struct pair3 {
    double b;
    int32_t a;
    double re, im;
};

static void test_symbol(void **state)
{
    struct {
        struct pair t;
        double z[2];
    } args = { { 21, 0.5 }, { 1, 2 } };
    struct pair3 out;
    (void)state;
    struct loaded l = load(pair_kir, "(Tuple((int32, float64)), complex128)", plain, "pair");
    run(&l, &out, &args);
    assert_true(out.b == 0.5 && out.a == 42 && out.re == -3 && out.im == 4);
    struct pair3 (*symbol)(struct pair, _Complex double) =
        (struct pair3(*)(struct pair, _Complex double))dlsym(l.handle, "pair");
    assert_non_null(symbol);
    out = symbol(args.t, 1 + 2 * 1.0i);
    assert_true(out.b == 0.5 && out.a == 42 && out.re == -3 && out.im == 4);
    unload(&l);
    l = load(element_kir, "(float64[::1], int64)", (struct compile_options){ .flags = KIR_F_BOUNDSCHECK },
             "element");
    double data[2] = { 3, 4 };
    struct array1 a = over(data, 2);
    double (*element)(const struct array1 *, int64_t) =
        (double (*)(const struct array1 *, int64_t))dlsym(l.handle, "element");
    assert_true(element(&a, -1) == 4);
    assert_true(element(&a, 9) == 0); /* raised: zero */
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_total),     cmocka_unit_test(test_references),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_trace),
        cmocka_unit_test(test_recursion), cmocka_unit_test(test_views),
        cmocka_unit_test(test_stores),    cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_unbound),   cmocka_unit_test(test_either_array),
        cmocka_unit_test(test_symbol),    cmocka_unit_test(test_copied_results),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

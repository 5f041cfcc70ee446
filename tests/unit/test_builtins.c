/* SPDX-License-Identifier: Apache-2.0
 * Helpers of code generation (runtime/builtins.inc) against the building compiler's own, on random and edge
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define __muldc3 own_muldc3
#define __mulsc3 own_mulsc3
#define __divdc3 own_divdc3
#define __divsc3 own_divsc3
#define __powidf2 own_powidf2
#define __powisf2 own_powisf2
#define __udivti3 own_udivti3
#define __umodti3 own_umodti3
#define __divti3 own_divti3
#define __modti3 own_modti3
#define __floattidf own_floattidf
#define __floatuntidf own_floatuntidf
#define __floattisf own_floattisf
#define __floatuntisf own_floatuntisf
#define __fixdfti own_fixdfti
#define __fixunsdfti own_fixunsdfti
#define __fixsfti own_fixsfti
#define __fixunssfti own_fixunssfti
#include "daemon/compiler/runtime/builtins.inc"

static uint64_t seed = 88172645463325252ull;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Of any length: short numbers are the interesting divisors. */
static tu random128(void)
{
    tu a = (tu)random64() << 64 | random64();

    return a >> random64() % 128;
}

static void test_integers(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        tu a = random128(), b = random128();
        ti x = (ti)(random64() & 1 ? a : 0 - a), y = (ti)(random64() & 1 ? b : 0 - b);
        if (!b)
            continue;
        assert_true(own_udivti3(a, b) == a / b && own_umodti3(a, b) == a % b);
        if (!(x == (ti)((tu)1 << 127) && y == -1))
            assert_true(own_divti3(x, y) == x / y && own_modti3(x, y) == x % y);
        assert_true(own_floatuntidf(a) == (double)a && own_floattidf(x) == (double)x);
        assert_true(own_floatuntisf(a) == (float)a && own_floattisf(x) == (float)x);
        double d = (double)x * 0.75;
        assert_true(fabs(d) >= 0x1p127 || own_fixdfti(d) == (ti)d);
        assert_true(d < 0 || d >= 0x1p128 || own_fixunsdfti(d) == (tu)d);
        assert_true(own_fixsfti((float)(d / 4)) == (ti)(float)(d / 4));
    }
    assert_true(own_fixdfti(INFINITY) == (ti)(~(tu)0 >> 1) && own_fixdfti(-INFINITY) == (ti)((tu)1 << 127) &&
                own_fixdfti(NAN) == 0);
    assert_true(own_fixunsdfti(-5) == 0 && own_fixunsdfti(1e300) == ~(tu)0);
    assert_true(own_floatuntisf(~(tu)0) == (float)~(tu)0);
}

static const double edges[] = { 0.0, -0.0, 1.0, -2.5, 1e-300, 1e300, INFINITY, -INFINITY, NAN, 3.0 };
#define N_EDGES (sizeof edges / sizeof edges[0])

/* NaN in both parts, or an infinity: that is what annex G leaves open about the other part. */
static bool alike_complex(double _Complex a, double _Complex b)
{
    bool inf_a = isinf(creal(a)) || isinf(cimag(a)), inf_b = isinf(creal(b)) || isinf(cimag(b));

    if (inf_a || inf_b)
        return inf_a == inf_b;
    if (isnan(cabs(a)) || isnan(cabs(b)))
        return isnan(creal(a)) == isnan(creal(b)) && isnan(cimag(a)) == isnan(cimag(b));
    return cabs(a - b) <= 8e-16 * cabs(b);
}

static void test_complex(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EDGES * N_EDGES; i++)
        for (size_t k = 0; k < N_EDGES * N_EDGES; k++) {
            double a = edges[i / N_EDGES], b = edges[i % N_EDGES], c = edges[k / N_EDGES],
                   d = edges[k % N_EDGES];
            double _Complex x = CMPLX(a, b), y = CMPLX(c, d), p = x * y, q = x / y;
            assert_true(alike_complex(own_muldc3(a, b, c, d), p));
            if (fabs(c) + fabs(d) < 1e299 &&
                fabs(a) + fabs(b) < 1e299) /* beyond, who overflows first differs */
                if (!alike_complex(own_divdc3(a, b, c, d), q))
                    fail_msg("(%g, %g) / (%g, %g) = (%g, %g), not (%g, %g)", a, b, c, d,
                             creal(own_divdc3(a, b, c, d)), cimag(own_divdc3(a, b, c, d)), creal(q),
                             cimag(q));
        }
    for (int i = 0; i < 100000; i++) {
        float a = (float)random64() / 0x1p60f, b = (float)random64() / 0x1p62f,
              c = (float)random64() / 0x1p63f, d = (float)random64() / 0x1p61f;
        float _Complex x = CMPLXF(a, b), y = CMPLXF(c, d), q = x / y, mine = own_divsc3(a, b, c, d);
        assert_true(cabsf(q - mine) <= 1e-6f * cabsf(q));
        assert_true(cabsf(x * y - own_mulsc3(a, b, c, d)) == 0);
    }
}

static void test_powers(void **state)
{
    (void)state;
    assert_true(own_powidf2(2, 10) == 1024 && own_powidf2(2, -2) == 0.25 && own_powidf2(3, 0) == 1 &&
                own_powidf2(0, 0) == 1);
    assert_true(own_powidf2(1, INT32_MIN) == 1 && own_powidf2(2, INT32_MIN) == 0 && own_powisf2(-2, 3) == -8);
}

static void test_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) { /* every half, both ways */
        float x = float_of_half((uint16_t)h);
        uint32_t exp = h >> 10 & 0x1f, frac = h & 0x3ff;
        double want = exp == 0x1f ? (frac ? NAN : INFINITY)
                      : exp       ? ldexp(1024 + frac, (int)exp - 25)
                                  : ldexp(frac, -24);
        if (h & 0x8000)
            want = -want;
        assert_true(isnan(want) ? isnan(x) : (double)x == want && !signbit(x) == !signbit(want));
        if (!isnan(x))
            assert_int_equal(half_of_double(x), h);
    }
    for (uint32_t h = 0; h < 0x7bff; h++) { /* between two neighbours: nearest, the middle to the even one */
        double low = float_of_half((uint16_t)h), high = float_of_half((uint16_t)(h + 1)),
               middle = (low + high) / 2;
        assert_int_equal(half_of_double(middle), h & 1 ? h + 1 : h);
        assert_int_equal(half_of_double(nextafter(middle, low)), h);
        assert_int_equal(half_of_double(-nextafter(middle, high)), 0x8000 | (h + 1));
    }
    assert_int_equal(half_of_double(65519.99), 0x7bff);
    assert_int_equal(half_of_double(65520.0), 0x7c00);
    assert_int_equal(half_of_double(1e-300), 0);
    assert_true((half_of_double(NAN) & 0x7c00) == 0x7c00 && half_of_double(NAN) & 0x3ff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_complex),
        cmocka_unit_test(test_powers),
        cmocka_unit_test(test_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

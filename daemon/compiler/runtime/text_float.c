/* SPDX-License-Identifier: Apache-2.0
 * text_float.c - floats to decimal digits and back, exactly.
 *
 * A binary float is a finite decimal. It is written out digit by digit with plain long arithmetic, as far as
 * a decision needs it, and decisions are comparisons of digits: no tables, no approximation to argue about,
 * and the same result on every target. A usual number takes well under a microsecond, the smallest a few. */
#include "text_float.h"

#define WORDS 40 /* of 32 bits: 1074 bits of fraction, or 1024 of an integer, and room */

/* Digits of m * 2^e (m < 2^56, not 0), at most `most`; without leading or trailing zeros. */
struct digits {
    uint8_t d[FLOAT_DIGITS];
    int n, point; /* 0.d0 d1 d2 ... * 10^point */
    int rest;     /* something other than zeros follows */
};

static void push(struct digits *x, unsigned digit, int most)
{
    if (!x->n && !digit)
        return;
    if (x->n < most)
        x->d[x->n++] = (uint8_t)digit;
    else
        x->rest |= digit != 0;
}

static void push_nine(struct digits *x, uint32_t chunk, int most)
{
    for (uint32_t unit = 100000000; unit; unit /= 10)
        push(x, chunk / unit % 10, most);
}

/* m << shift, shift below 32. */
static void shifted(uint64_t m, int shift, uint32_t to[3])
{
    uint64_t low = m << shift;

    to[0] = (uint32_t)low;
    to[1] = (uint32_t)(low >> 32);
    to[2] = shift ? (uint32_t)(m >> (64 - shift)) : 0;
}

TEXT_LONG static void integer_digits(struct digits *x, uint64_t m, int e, int most)
{
    uint32_t big[WORDS] = { 0 }, chunks[WORDS];
    int n = e / 32 + 3, n_chunks = 0;

    shifted(m, e % 32, big + e / 32);
    while (n && !big[n - 1])
        n--;
    while (n) {
        uint64_t carry = 0;
        for (int i = n; i-- > 0;) {
            carry = carry << 32 | big[i];
            big[i] = (uint32_t)(carry / 1000000000);
            carry %= 1000000000;
        }
        chunks[n_chunks++] = (uint32_t)carry;
        while (n && !big[n - 1])
            n--;
    }
    for (int i = n_chunks; i-- > 0;)
        push_nine(x, chunks[i], most);
    for (uint32_t top = n_chunks ? chunks[n_chunks - 1] : 0; top; top /= 10)
        x->point++;
    x->point += n_chunks ? 9 * (n_chunks - 1) : 0;
}

/* The fraction m / 2^bits, m < 2^bits; whole: digits before it have been pushed. */
TEXT_LONG static void fraction_digits(struct digits *x, uint64_t m, int bits, int most, int whole)
{
    uint32_t big[WORDS] = { 0 };
    int n = (bits + 31) / 32, low = 0, zeros = 0, pad = n * 32 - bits; /* big / 2^(32 n) is the fraction */

    shifted(m, pad, big);
    while (low < n && !big[low])
        low++;
    while (low < n && (x->n < most || !x->rest)) {
        uint64_t carry = 0;
        for (int i = low; i < n; i++) {
            carry += (uint64_t)big[i] * 1000000000;
            big[i] = (uint32_t)carry;
            carry >>= 32;
        }
        if (x->n >= most) {
            x->rest |= carry != 0;
        } else {
            for (uint32_t unit = 100000000; unit; unit /= 10) {
                unsigned digit = (unsigned)(carry / unit % 10);
                zeros += !x->n && !digit && !whole;
                push(x, digit, most);
            }
        }
        while (low < n && !big[low])
            low++;
    }
    if (!whole)
        x->point = -zeros;
}

TEXT_LONG static void expand(struct digits *x, uint64_t m, int e, int most)
{
    x->n = x->point = x->rest = 0;
    if (e >= 0) {
        integer_digits(x, m, e, most);
    } else {
        uint64_t whole = e > -64 ? m >> -e : 0, part = e > -64 ? m & ((UINT64_C(1) << -e) - 1) : m;
        if (whole)
            integer_digits(x, whole, 0, most);
        if (part)
            fraction_digits(x, part, -e, most, whole != 0);
    }
    while (x->n && !x->rest && !x->d[x->n - 1])
        x->n--;
}

/* <0, 0, >0; a's digits are all there is of it. */
TEXT_LONG static int compare(const struct digits *a, const struct digits *b)
{
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    for (int i = 0; i < a->n || i < b->n; i++) {
        int x = i < a->n ? a->d[i] : 0, y = i < b->n ? b->d[i] : 0;
        if (x != y)
            return x < y ? -1 : 1;
    }
    return a->rest == b->rest ? 0 : a->rest ? 1 : -1;
}

/* One more in the last place of the first n digits. */
static void increment(struct digits *x)
{
    int i = x->n;

    while (i > 0 && x->d[i - 1] == 9)
        i--;
    if (!i) {
        x->d[0] = 1;
        x->n = 1;
        x->point++;
        return;
    }
    x->d[i - 1]++;
    x->n = i;
}

static void cut(struct digits *to, const struct digits *x, int n)
{
    to->n = n < x->n ? n : x->n;
    to->point = x->point;
    to->rest = 0;
    __builtin_memcpy(to->d, x->d, (size_t)to->n);
}

/* To n digits (0: none), ties to even. All of x's digits must be there, or rest be set. */
TEXT_LONG static void round_to(struct digits *x, int n)
{
    int up, more = x->rest;

    if (n >= x->n)
        return;
    for (int i = n + 1; i < x->n; i++)
        more |= x->d[i];
    up = x->d[n] > 5 || (x->d[n] == 5 && (more || (n && x->d[n - 1] & 1)));
    x->n = n;
    x->rest = 0;
    if (up && n) {
        increment(x);
    } else if (up) {
        x->d[0] = 1;
        x->n = 1;
        x->point++;
    }
    while (x->n && !x->d[x->n - 1])
        x->n--;
}

static const struct {
    int bits, least; /* of the mantissa; exponent of the smallest subnormal's last bit */
} formats[] = { { 53, -1074 }, { 24, -149 }, { 11, -24 } };

/* v = m * 2^e in the narrow format that v is a value of. */
static void split(double v, int format, uint64_t *ret_m, int *ret_e)
{
    uint64_t bits, m;
    int e, excess = 53 - formats[format].bits;

    __builtin_memcpy(&bits, &v, 8);
    m = bits & ((UINT64_C(1) << 52) - 1);
    e = (int)(bits >> 52 & 2047);
    if (e)
        m |= UINT64_C(1) << 52;
    else
        e = 1;
    e -= 1075;
    m >>= excess;
    e += excess;
    while (e < formats[format].least) { /* subnormal there */
        m >>= 1;
        e++;
    }
    *ret_m = m;
    *ret_e = e;
}

/* The fewest digits that read back as v, and of those the nearest to v. */
TEXT_LONG static void shortest(struct digits *x, double v, int format)
{
    struct digits all, low, high;
    uint64_t m;
    int e, even, narrow;

    split(v, format, &m, &e);
    even = !(m & 1);
    narrow =
        m == UINT64_C(1) << (formats[format].bits - 1) && e > formats[format].least; /* half the step below */
    expand(&all, m, e, 30);
    expand(&low, narrow ? 4 * m - 1 : 2 * m - 1, narrow ? e - 2 : e - 1, 30);
    expand(&high, 2 * m + 1, e - 1, 30);
    for (int n = 1; n < 18; n++) {
        struct digits up;
        cut(x, &all, n);
        while (x->n && !x->d[x->n - 1])
            x->n--;
        if (n >= all.n && !all.rest)
            return; /* all of it */
        cut(&up, &all, n);
        increment(&up);
        int c = compare(x, &low), d = compare(&up, &high);
        int below = c > 0 || (c == 0 && even), above = d < 0 || (d == 0 && even);
        if (below && above) {
            struct digits nearest = all;
            round_to(&nearest, n);
            cut(x, &nearest, n);
            return;
        }
        if (below)
            return;
        if (above) {
            cut(x, &up, n);
            return;
        }
    }
}

TEXT_LONG int kiln_rt_float_digits(double v, int mode, int64_t n, uint8_t d[FLOAT_DIGITS], int *ret_point)
{
    struct digits x;
    uint64_t m;
    int e;

    v = __builtin_fabs(v);
    if (v == 0) {
        d[0] = 0;
        *ret_point = 1;
        return 1;
    }
    if (mode <= FLOAT_SHORTEST_HALF) {
        shortest(&x, v, mode);
    } else {
        int64_t most = n < 0 ? 20 : n + 20; /* what rounding looks at, and then some */
        if (mode == FLOAT_FIXED && v >= 1e18)
            most = FLOAT_DIGITS;
        split(v, 0, &m, &e);
        expand(&x, m, e, most < FLOAT_DIGITS ? (int)most : FLOAT_DIGITS);
        if (mode == FLOAT_FIXED)
            n = n > FLOAT_DIGITS ? FLOAT_DIGITS + x.point : n + x.point;
        if (n < 0) {
            x.n = 0;
        } else if (n < x.n) {
            round_to(&x, (int)n);
        }
    }
    __builtin_memcpy(d, x.d, (size_t)x.n);
    *ret_point = x.point;
    return x.n;
}

/* ---- reading ---- */

/* Up to 800 digits decide: half-way between two floats takes 770. */
#define READ_DIGITS 800

TEXT_LONG static double nearest(const struct digits *x)
{
    static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    uint64_t head = 0, bits;
    int n = x->n < 19 ? x->n : 19, e = x->point - n;
    double v;

    for (int i = 0; i < n; i++)
        head = head * 10 + x->d[i];
    if (x->point > 310)
        return __builtin_inf();
    if (x->point < -330)
        return 0;
    v = (double)head;
    if (x->n <= 15 && !x->rest && e <= 22 && e >= -22)
        return e < 0 ? v / tens[-e] : v * tens[e]; /* both exact: one rounding */
    for (int k = e; k > 0; k -= 22)
        v *= tens[k < 22 ? k : 22];
    for (int k = -e; k > 0; k -= 22)
        v /= tens[k < 22 ? k : 22];
    /* A few units off at most: step towards x until it lies between the halves to the neighbours. */
    __builtin_memcpy(&bits, &v, 8);
    if (bits >= UINT64_C(0x7FF0000000000000))
        bits = UINT64_C(0x7FEFFFFFFFFFFFFF);
    for (;;) {
        struct digits half;
        uint64_t m = bits & ((UINT64_C(1) << 52) - 1);
        int exponent = (int)(bits >> 52), c;
        m |= exponent ? UINT64_C(1) << 52 : 0;
        exponent = (exponent ? exponent : 1) - 1075;
        expand(&half, 2 * m + 1, exponent - 1, FLOAT_DIGITS);
        c = compare(x, &half);
        if (c > 0 || (c == 0 && m & 1)) {
            if (++bits == UINT64_C(0x7FF0000000000000))
                break;
            continue;
        }
        if (!bits)
            break;
        if (m == UINT64_C(1) << 52 && exponent > -1074)
            expand(&half, 4 * m - 1, exponent - 2, FLOAT_DIGITS);
        else
            expand(&half, 2 * m - 1, exponent - 1, FLOAT_DIGITS);
        c = compare(x, &half);
        if (c > 0 || (c == 0 && !(m & 1)))
            break;
        bits--;
    }
    __builtin_memcpy(&v, &bits, 8);
    return v;
}

/* The ASCII character that counts as code point c in a number: digits of every script, and spaces. */
static uint32_t plain(uint32_t c)
{
    int digit;

    if (c < 128)
        return c;
    digit = kiln_rt_unicode_decimal(c);
    return digit >= 0 ? '0' + (uint32_t)digit : text_is_space(c) ? ' ' : '?';
}

static int word(text_p s, int64_t i, int64_t stop, const char *name)
{
    for (; *name && i < stop; name++, i++)
        if ((text_at(s, i) | 32) != (uint32_t)*name)
            return 0;
    return !*name && i == stop;
}

/* Digits with single underscores between them; returns where they end, -1 if the underscores are wrong. */
TEXT_LONG static int64_t read_digits(text_p s, int64_t i, int64_t stop, struct digits *x, int *ret_n,
                                     int fraction)
{
    int64_t start = i;

    for (; i < stop; i++) {
        uint32_t c = plain(text_at(s, i));
        if (c == '_') {
            uint32_t next = i + 1 < stop ? plain(text_at(s, i + 1)) : 0;
            if (i == start || next < '0' || next > '9')
                return -1;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        if (x && (x->n || c != '0')) {
            if (x->n < READ_DIGITS)
                x->d[x->n++] = (uint8_t)(c - '0');
            else
                x->rest |= c != '0';
            x->point += !fraction;
        } else if (x && fraction) {
            x->point--;
        }
        ++*ret_n;
    }
    return i;
}

TEXT_LONG static int read_float(text_p s, double *ret)
{
    struct digits x = { .n = 0 };
    int64_t i = 0, stop = s->length;
    int negative = 0, n = 0, dummy = 0;

    while (i < stop && text_is_space(text_at(s, i)))
        i++;
    while (stop > i && text_is_space(text_at(s, stop - 1)))
        stop--;
    if (i < stop && (text_at(s, i) == '-' || text_at(s, i) == '+'))
        negative = text_at(s, i++) == '-';
    if (word(s, i, stop, "inf") || word(s, i, stop, "infinity") || word(s, i, stop, "nan")) {
        *ret = (text_at(s, i) | 32) == 'i' ? __builtin_inf() : __builtin_nan("");
        *ret = negative ? -*ret : *ret;
        return 1;
    }
    if ((i = read_digits(s, i, stop, &x, &n, 0)) < 0)
        return 0;
    if (i < stop && text_at(s, i) == '.' && (i = read_digits(s, i + 1, stop, &x, &n, 1)) < 0)
        return 0;
    if (!n)
        return 0;
    if (i < stop && (text_at(s, i) | 32) == 'e') {
        int64_t e = 0;
        int down = 0, places = 0;
        if (++i < stop && (text_at(s, i) == '-' || text_at(s, i) == '+'))
            down = text_at(s, i++) == '-';
        int64_t from = i;
        if ((i = read_digits(s, i, stop, 0, &dummy, 0)) < 0 || !dummy)
            return 0;
        for (; from < i; from++)
            if (text_at(s, from) != '_' && places < 9) {
                e = e * 10 + (plain(text_at(s, from)) - '0');
                places += e != 0;
            }
        e = down ? -e : e;
        x.point = e > 100000 ? 100000 : e < -100000 ? -100000 : x.point + (int)e;
    }
    if (i != stop)
        return 0;
    while (x.n && !x.rest && !x.d[x.n - 1])
        x.n--;
    *ret = x.n ? nearest(&x) : 0;
    *ret = negative ? -*ret : *ret;
    return 1;
}

double TEXT(parse_float)(host_p host, text_p s);
int64_t TEXT(is_float)(host_p host, text_p s);
int64_t TEXT(parse_int)(host_p host, text_p s, int64_t base, int64_t which);

double TEXT(parse_float)(host_p host, text_p s)
{
    double v = 0;

    (void)host;
    read_float(s, &v);
    return v;
}

int64_t TEXT(is_float)(host_p host, text_p s)
{
    double v;

    (void)host;
    return read_float(s, &v);
}

double TEXT(round)(host_p host, double v, int64_t n);

/* round(v, n): the decimal value of v, rounded, as the nearest double. */
double TEXT(round)(host_p host, double v, int64_t n)
{
    struct digits x = { .n = 0 };
    double r = 0;

    (void)host;
    if (v == 0 || v - v != 0)
        return v;
    x.n = kiln_rt_float_digits(v, FLOAT_FIXED, n > 400 ? 400 : n < -400 ? -400 : n, x.d, &x.point);
    if (x.n)
        r = nearest(&x);
    return v < 0 ? -r : r;
}

static int digit_of(uint32_t c)
{
    c = plain(c);
    return c >= '0' && c <= '9'                 ? (int)c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'z' ? (int)(c | 32) - 'a' + 10
                                                : 99;
}

/* 0 good, 1 no integer in this base, 2 too large for 64 bits. */
static int64_t read_int(text_p s, int64_t base, int64_t *ret)
{
    int64_t i = 0, stop = s->length, start, prefix = 0;
    int negative = 0, zero = 0, large = 0;
    uint64_t v = 0;

    while (i < stop && text_is_space(text_at(s, i)))
        i++;
    while (stop > i && text_is_space(text_at(s, stop - 1)))
        stop--;
    if (i < stop && (text_at(s, i) == '-' || text_at(s, i) == '+'))
        negative = text_at(s, i++) == '-';
    if (i + 1 < stop && text_at(s, i) == '0') {
        uint32_t c = text_at(s, i + 1) | 32;
        prefix = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
    }
    if (prefix && (base == 0 || base == prefix)) {
        base = prefix;
        i += 2;
        i += i < stop && text_at(s, i) == '_'; /* one may follow the prefix */
    } else if (base == 0) {
        base = 10;
        zero = i < stop && digit_of(text_at(s, i)) == 0; /* then only zeros may follow */
    }
    for (start = i; i < stop; i++) {
        int d = digit_of(text_at(s, i));
        if (text_at(s, i) == '_' && i > start && i + 1 < stop && text_at(s, i + 1) != '_')
            continue;
        if (d >= base)
            return 1;
        large |= v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base;
        v = v * (uint64_t)base + (uint64_t)d;
    }
    if (i == start || (zero && v))
        return 1;
    if (large || v > (uint64_t)INT64_MAX + (unsigned)negative)
        return 2;
    *ret = (int64_t)(negative ? 0 - v : v);
    return 0;
}

int64_t TEXT(parse_int)(host_p host, text_p s, int64_t base, int64_t which)
{
    int64_t v = 0, status = read_int(s, base, &v);

    (void)host;
    return which ? v : status;
}

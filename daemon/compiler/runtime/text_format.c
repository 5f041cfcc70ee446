/* SPDX-License-Identifier: Apache-2.0
 * text_format.c - str() of floats, and format specifications.
 * Meaning: https://docs.python.org/3/library/string.html#format-specification-mini-language */
#include "text_float.h"

struct spec {
    uint32_t fill, type; /* type 0: none */
    char align, sign, thousands;
    int alternate, no_negative_zero, zero_padded, has_align;
    int64_t width, precision; /* -1: none */
};

/* What is wrong with a specification. */
enum {
    SPEC_GOOD, SPEC_INVALID, SPEC_UNKNOWN, SPEC_DIGITS, SPEC_NO_PRECISION, SPEC_BOTH_SEPARATORS, SPEC_SEPARATOR,
    SPEC_STR_SIGN, SPEC_STR_SPACE, SPEC_STR_ALTERNATE, SPEC_STR_ALIGN, SPEC_INT_PRECISION, SPEC_CHAR_SIGN,
    SPEC_CHAR_ALTERNATE, SPEC_STR_Z, SPEC_INT_Z
};
enum { KIND_STR, KIND_INT, KIND_FLOAT };

int64_t TEXT(spec)(host_p host, text_p s, int64_t kind);
int32_t TEXT(float)(host_p host, struct kiln_str *ret, double v, int64_t format);
int32_t TEXT(format_int)(host_p host, struct kiln_str *ret, int64_t v, int64_t is_unsigned, text_p spec);
int32_t TEXT(format_float)(host_p host, struct kiln_str *ret, double v, text_p spec);
int32_t TEXT(format_str)(host_p host, struct kiln_str *ret, text_p s, text_p spec);

/* ---- reading ---- */

static int is_align(uint32_t c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static int read_number(text_p s, int64_t *i, int64_t *ret)
{
    int64_t v = 0, start = *i;

    for (; *i < s->length; ++*i) {
        uint32_t c = text_at(s, *i);
        int d = c < 128 ? (c >= '0' && c <= '9' ? (int)c - '0' : -1) : kiln_rt_unicode_decimal(c);
        if (d < 0)
            break;
        if (v > (INT64_MAX - d) / 10)
            return SPEC_DIGITS;
        v = v * 10 + d;
    }
    *ret = *i > start ? v : -1;
    return SPEC_GOOD;
}

TEXT_LONG static int read_spec(text_p s, int kind, struct spec *x)
{
    int64_t i = 0, n = s->length;
    int rc;

    *x = (struct spec){ .fill = ' ', .align = kind == KIND_STR ? '<' : '>', .width = -1, .precision = -1 };
    int filled = 0;
    if (n >= 2 && is_align(text_at(s, 1))) {
        x->fill = text_at(s, 0);
        x->align = (char)text_at(s, 1);
        x->has_align = filled = 1;
        i = 2;
    } else if (n >= 1 && is_align(text_at(s, 0))) {
        x->align = (char)text_at(s, 0);
        x->has_align = 1;
        i = 1;
    }
#define HERE(c) (i < n && text_at(s, i) == (c))
    if (HERE(' ') || HERE('+') || HERE('-'))
        x->sign = (char)text_at(s, i++);
    if (HERE('z')) {
        x->no_negative_zero = 1;
        i++;
    }
    if (HERE('#')) {
        x->alternate = 1;
        i++;
    }
    if (!filled && HERE('0')) {
        x->fill = '0';
        if (!x->has_align && kind != KIND_STR)
            x->align = '=';
        i++;
    }
    if ((rc = read_number(s, &i, &x->width)))
        return rc;
    if (HERE(',')) {
        x->thousands = ',';
        i++;
    }
    if (HERE('_')) {
        if (x->thousands)
            return SPEC_BOTH_SEPARATORS;
        x->thousands = '_';
        i++;
    }
    if (HERE(',') && x->thousands == '_')
        return SPEC_BOTH_SEPARATORS;
    if (HERE('.')) {
        i++;
        if ((rc = read_number(s, &i, &x->precision)))
            return rc;
        if (x->precision < 0)
            return SPEC_NO_PRECISION;
    }
#undef HERE
    if (n - i > 1)
        return SPEC_INVALID;
    if (n - i == 1)
        x->type = text_at(s, i);
    return SPEC_GOOD;
}

static int is_one_of(uint32_t c, const char *list)
{
    for (; *list; list++)
        if ((uint32_t)*list == c)
            return 1;
    return 0;
}

TEXT_LONG static int check_spec(const struct spec *x, int kind)
{
    uint32_t type = x->type ? x->type : kind == KIND_STR ? 's' : kind == KIND_INT ? 'd' : 0;

    if (x->thousands && type && !is_one_of(type, "defgEG%F") && (x->thousands == ',' || !is_one_of(type, "boxX")))
        return SPEC_SEPARATOR;
    if (kind == KIND_STR) {
        if (type != 's')
            return SPEC_UNKNOWN;
        return x->sign == ' '         ? SPEC_STR_SPACE
               : x->sign              ? SPEC_STR_SIGN
               : x->no_negative_zero  ? SPEC_STR_Z
               : x->alternate         ? SPEC_STR_ALTERNATE
               : x->align == '='      ? SPEC_STR_ALIGN
                                      : SPEC_GOOD;
    }
    if (kind == KIND_FLOAT)
        return !type || is_one_of(type, "eEfFgGn%") ? SPEC_GOOD : SPEC_UNKNOWN;
    if (is_one_of(type, "eEfFgG%"))
        return SPEC_GOOD;
    if (!is_one_of(type, "bcdnoxX"))
        return SPEC_UNKNOWN;
    if (x->no_negative_zero)
        return SPEC_INT_Z;
    if (x->precision >= 0)
        return SPEC_INT_PRECISION;
    if (type == 'c' && x->sign)
        return SPEC_CHAR_SIGN;
    return type == 'c' && x->alternate ? SPEC_CHAR_ALTERNATE : SPEC_GOOD;
}

/* 0, or what is wrong + 256 * the presentation type that it is about. */
int64_t TEXT(spec)(host_p host, text_p s, int64_t kind)
{
    struct spec x;
    int rc = read_spec(s, (int)kind, &x);

    (void)host;
    if (!rc)
        rc = check_spec(&x, (int)kind);
    return rc ? rc + 256 * (int64_t)(x.type ? x.type : kind == KIND_STR ? 's' : 'd') + ((int64_t)x.thousands << 40) : 0;
}

/* ---- laying out ---- */

/* A number: [sign] [prefix] [digits with separators] [rest]. */
struct number {
    char sign;
    const char *prefix;
    int n_prefix, group;
    const char *digits;
    int64_t n_digits;
    const char *rest; /* point, fraction, exponent, % */
    int64_t n_rest;
};

/* Digits in groups, zeros before them up to least characters; p NULL: count. Written backwards from p. */
TEXT_LONG static int64_t grouped(const struct number *x, char separator, int64_t least, char *p)
{
    int64_t remaining = x->n_digits, n = 0, group = separator ? x->group : INT64_MAX, k = 0;

    if (!x->n_digits)
        return 0;
    for (;;) {
        int64_t most = remaining > least ? remaining : least, l;
        most = most > 1 ? most : 1;
        l = group < most ? group : most;
        if (k++) {
            n++;
            if (p)
                *--p = separator;
        }
        for (int64_t i = 0; i < l; i++) {
            if (p)
                *--p = remaining > 0 ? x->digits[remaining - 1] : '0';
            remaining -= remaining > 0;
        }
        n += l;
        least -= l;
        if (remaining <= 0 && least <= 0)
            return n;
        least--;
    }
}

static void put_ascii(struct kiln_str *ret, int64_t *at, const char *p, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        text_put(ret, (*at)++, (uint8_t)p[i]);
}

static void put_fill(struct kiln_str *ret, int64_t *at, uint32_t c, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        text_put(ret, (*at)++, c);
}

TEXT_LONG static int32_t lay_out(host_p host, struct kiln_str *ret, const struct spec *s, const struct number *x)
{
    int64_t fixed = (x->sign != 0) + x->n_prefix + x->n_rest, at = 0, n, pad, left, middle;
    int64_t least = s->fill == '0' && s->align == '=' ? s->width - fixed : 0;

    if (s->width > (INT64_MAX >> 4))
        return 1;
    n = grouped(x, s->thousands, least, 0);
    pad = s->width - fixed - n > 0 ? s->width - fixed - n : 0;
    left = s->align == '>' ? pad : s->align == '^' ? pad / 2 : 0;
    middle = s->align == '=' ? pad : 0;
    if (text_new(host, ret, fixed + n + pad, text_width_for(s->fill)))
        return 1;
    put_fill(ret, &at, s->fill, left);
    if (x->sign)
        text_put(ret, at++, (uint8_t)x->sign);
    put_ascii(ret, &at, x->prefix, x->n_prefix);
    put_fill(ret, &at, s->fill, middle);
    if (n) { /* written as ASCII at the front of where it goes, then spread where code points are wider */
        char *p = (char *)(uintptr_t)ret->data + at * ret->width;
        grouped(x, s->thousands, least, p + n);
        for (int64_t i = n; ret->width > 1 && i-- > 0;)
            text_put(ret, at + i, (uint8_t)p[i]);
        at += n;
    }
    put_ascii(ret, &at, x->rest, x->n_rest);
    put_fill(ret, &at, s->fill, pad - left - middle);
    return 0;
}

static char sign_of(const struct spec *s, int negative)
{
    return negative ? '-' : s->sign == '+' || s->sign == ' ' ? s->sign : 0;
}

/* ---- integers ---- */

static int32_t format_char(host_p host, struct kiln_str *ret, int64_t v, const struct spec *s)
{
    uint32_t c = (uint32_t)v;
    int64_t pad = s->width > 1 ? s->width - 1 : 0, left = s->align == '<' ? 0 : s->align == '^' ? pad / 2 : pad, at = 0;
    intptr_t a = text_width_for(c), b = text_width_for(s->fill);

    if (text_new(host, ret, pad + 1, a > b ? a : b))
        return 1;
    put_fill(ret, &at, s->fill, left);
    text_put(ret, at++, c);
    put_fill(ret, &at, s->fill, pad - left);
    return 0;
}

TEXT_LONG int32_t TEXT(format_int)(host_p host, struct kiln_str *ret, int64_t v, int64_t is_unsigned, text_p spec)
{
    struct spec s;
    struct number x = { .group = 3 };
    char digits[64];
    int negative = v < 0 && !is_unsigned, n = 0, base;
    uint64_t u = negative ? 0 - (uint64_t)v : (uint64_t)v;

    read_spec(spec, KIND_INT, &s);
    if (is_one_of(s.type, "eEfFgG%") && s.type)
        return TEXT_NAME(format_float)(host, ret, is_unsigned ? (double)(uint64_t)v : (double)v, spec);
    if (s.type == 'c')
        return format_char(host, ret, v, &s);
    base = s.type == 'b' ? 1 : s.type == 'o' ? 3 : s.type == 'x' || s.type == 'X' ? 4 : 0;
    if (base) {
        const char *list = s.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
        x.group = 4;
        do {
            digits[63 - n++] = list[u & ((1u << base) - 1)];
            u >>= base;
        } while (u);
        x.prefix = s.type == 'b' ? "0b" : s.type == 'o' ? "0o" : s.type == 'x' ? "0x" : "0X";
        x.n_prefix = s.alternate ? 2 : 0;
    } else {
        n = text_digits(u, digits + 44);
    }
    x.sign = sign_of(&s, negative);
    x.digits = digits + 64 - n;
    x.n_digits = n;
    return lay_out(host, ret, &s, &x);
}

/* ---- floats ---- */

static int32_t finish_float(host_p host, struct kiln_str *ret, const struct spec *s, const char *text, int64_t n, int negative)
{
    struct number x = { .group = 3, .sign = sign_of(s, negative), .digits = text };

    while (x.n_digits < n && text[x.n_digits] >= '0' && text[x.n_digits] <= '9')
        x.n_digits++;
    x.rest = text + x.n_digits;
    x.n_rest = n - x.n_digits;
    return lay_out(host, ret, s, &x);
}

static void put_exponent(struct text_out *o, int e, char letter)
{
    char digits[20];
    int n = text_digits((uint64_t)(e < 0 ? -e : e), digits);

    out_char(o, letter);
    out_char(o, e < 0 ? '-' : '+');
    if (n < 2)
        out_char(o, '0');
    for (int i = 0; i < n; i++)
        out_char(o, digits[20 - n + i]);
}

/* How digits become text: CPython's rules (Python/pystrtod.c documents them). `code` is e, f, g or r (repr). */
TEXT_LONG static void write_float(struct text_out *o, const uint8_t *d, int n, int point, char code, int64_t precision, int dot_zero,
                        int alternate, char letter)
{
    int64_t end = n, exponent = 0, start;
    int use_exponent = code == 'e';

    if (code == 'e')
        end = precision + 1;
    else if (code == 'f')
        end = point + precision;
    else if (code == 'g') {
        use_exponent = point <= -4 || point > precision - (dot_zero ? 1 : 0);
        end = alternate ? precision : end;
    } else {
        use_exponent = point <= -4 || point > 16;
    }
    if (use_exponent) {
        exponent = point - 1;
        point = 1;
    }
    start = point <= 0 ? point - 1 : 0;
    if (!use_exponent && dot_zero)
        end = end > point ? end : point + 1;
    else
        end = end > point ? end : point;
    for (int64_t i = start; i < end; i++) {
        if (i == point)
            out_char(o, '.');
        out_char(o, i >= 0 && i < n ? (char)('0' + d[i]) : '0');
    }
    if (end == point && alternate)
        out_char(o, '.');
    if (use_exponent)
        put_exponent(o, (int)exponent, letter);
}

static int is_negative(double v)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &v, 8);
    return (int)(bits >> 63);
}

int32_t TEXT(float)(host_p host, struct kiln_str *ret, double v, int64_t format)
{
    uint8_t d[FLOAT_DIGITS];
    char buf[40];
    struct text_out o = { buf, 0, sizeof buf };
    int point, n;

    if (v != v)
        return text_of_ascii(host, ret, "nan", 3);
    if (is_negative(v))
        out_char(&o, '-');
    if (v - v != 0) {
        out_char(&o, 'i');
        out_char(&o, 'n');
        out_char(&o, 'f');
    } else {
        n = kiln_rt_float_digits(v, (int)format, 0, d, &point);
        write_float(&o, d, v == 0 ? 1 : n, point, 'r', 0, 1, 0, 'e');
    }
    return text_of_ascii(host, ret, buf, o.n);
}

TEXT_LONG int32_t TEXT(format_float)(host_p host, struct kiln_str *ret, double v, text_p spec)
{
    uint8_t d[FLOAT_DIGITS];
    char small[512], code, letter;
    struct text_out o = { small, 0, sizeof small };
    struct spec s;
    struct kiln_mem *mem = NULL;
    int point, n, upper, negative, dot_zero, percent;
    int64_t precision;
    int32_t rc;

    read_spec(spec, KIND_FLOAT, &s);
    upper = s.type == 'E' || s.type == 'F' || s.type == 'G';
    percent = s.type == '%';
    dot_zero = !s.type;
    code = !s.type ? 'r' : percent ? 'f' : s.type == 'n' ? 'g' : (char)(s.type | 32);
    letter = upper ? 'E' : 'e';
    precision = s.precision;
    if (precision < 0)
        precision = 6;
    else if (code == 'r')
        code = 'g';
    if (code == 'g' && precision == 0)
        precision = 1;
    v = percent ? v * 100 : v;
    negative = is_negative(v) && v == v;
    if (v != v || v - v != 0) {
        const char *name = v != v ? (upper ? "NAN" : "nan") : upper ? "INF" : "inf";
        for (int i = 0; i < 3; i++)
            out_char(&o, name[i]);
        if (percent)
            out_char(&o, '%');
        return finish_float(host, ret, &s, small, o.n, negative);
    }
    if (code == 'r')
        n = kiln_rt_float_digits(v, FLOAT_SHORTEST, 0, d, &point);
    else if (code == 'f')
        n = kiln_rt_float_digits(v, FLOAT_FIXED, precision, d, &point);
    else
        n = kiln_rt_float_digits(v, FLOAT_SIGNIFICANT, code == 'e' && precision < INT64_MAX ? precision + 1 : precision, d, &point);
    if (!n || v == 0) { /* zero, or rounded to it */
        d[0] = 0;
        n = 1;
        point = 1;
        if (s.no_negative_zero)
            negative = 0;
    }
    if (precision + 330 > o.cap) {
        mem = precision > (INT64_MAX >> 4) ? NULL : host->alloc(precision + 400);
        if (!mem)
            return 1;
        o.p = mem->data;
        o.cap = precision + 400;
    }
    write_float(&o, d, n, point, code, precision, dot_zero, s.alternate, letter);
    if (percent)
        out_char(&o, '%');
    rc = finish_float(host, ret, &s, o.p, o.n, negative);
    if (mem)
        mem->release(mem);
    return rc;
}

/* ---- text ---- */

int32_t TEXT(format_str)(host_p host, struct kiln_str *ret, text_p text, text_p spec)
{
    struct spec s;
    int64_t n = text->length, pad, left, at = 0;
    intptr_t width;

    read_spec(spec, KIND_STR, &s);
    if (s.precision >= 0 && n > s.precision)
        n = s.precision;
    pad = s.width > n ? s.width - n : 0;
    if (!pad)
        return text_share(ret, text, 0, n);
    width = text_width_for(s.fill);
    left = s.align == '<' ? 0 : s.align == '^' ? pad / 2 : pad;
    if (pad > (INT64_MAX >> 4) || text_new(host, ret, n + pad, width > text->width ? width : text->width))
        return 1;
    put_fill(ret, &at, s.fill, left);
    text_copy(ret, at, text, 0, n);
    at += n;
    put_fill(ret, &at, s.fill, pad - left);
    return 0;
}

/* ---- what is wrong with a specification, in CPython's words ---- */

/* $: the specification; %: the presentation type; #: the separator; &: the name of the type. */
static const char *const complaints[] = {
    [SPEC_INVALID] = "Invalid format specifier '$' for object of type '&'",
    [SPEC_UNKNOWN] = "Unknown format code '%' for object of type '&'",
    [SPEC_DIGITS] = "Too many decimal digits in format string",
    [SPEC_NO_PRECISION] = "Format specifier missing precision",
    [SPEC_BOTH_SEPARATORS] = "Cannot specify both ',' and '_'.",
    [SPEC_SEPARATOR] = "Cannot specify '#' with '%'.",
    [SPEC_STR_SIGN] = "Sign not allowed in string format specifier",
    [SPEC_STR_SPACE] = "Space not allowed in string format specifier",
    [SPEC_STR_ALTERNATE] = "Alternate form (!) not allowed in string format specifier",
    [SPEC_STR_ALIGN] = "'=' alignment not allowed in string format specifier",
    [SPEC_INT_PRECISION] = "Precision not allowed in integer format specifier",
    [SPEC_CHAR_SIGN] = "Sign not allowed with integer format specifier 'c'",
    [SPEC_CHAR_ALTERNATE] = "Alternate form (!) not allowed with integer format specifier 'c'",
    [SPEC_STR_Z] = "Negative zero coercion (z) not allowed in string format specifier",
    [SPEC_INT_Z] = "Negative zero coercion (z) not allowed in integer format specifier",
};

int32_t TEXT(complaint)(host_p host, struct kiln_str *ret, int64_t error, text_p spec, text_p name);

TEXT_LONG int32_t TEXT(complaint)(host_p host, struct kiln_str *ret, int64_t error, text_p spec, text_p name)
{
    uint32_t type = (uint32_t)(error >> 8) & 0x1FFFFF, all = type;

    for (intptr_t i = 0; i < spec->length; i++)
        all |= text_at(spec, i);
    for (int pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (const char *p = complaints[error & 255]; *p; p++) {
            uint32_t c = *p == '%' ? type : *p == '#' ? (uint32_t)(error >> 40) : *p == '!' ? '#' : (uint8_t)*p;
            text_p other = *p == '$' ? spec : *p == '&' ? name : NULL;
            if (pass && other)
                text_copy(ret, at, other, 0, other->length);
            else if (pass)
                text_put(ret, at, c);
            at += other ? other->length : 1;
        }
        if (!pass && text_new(host, ret, at, text_width_for(all)))
            return 1;
    }
    return 0;
}

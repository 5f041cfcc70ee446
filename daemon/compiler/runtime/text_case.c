/* SPDX-License-Identifier: Apache-2.0
 * text_case.c - upper and lower case, and str.isalpha and its kin. */
#include "text_unicode.h"
#include "unicode_data.inc"

#define N(a) (sizeof(a) / sizeof((a)[0]))
enum { MAP_UPPER, MAP_LOWER, MAP_TITLE, MAP_CAPITALIZE, MAP_SWAP, MAP_FOLD, MAP_ASCII = 16 };
enum {
    TEST_ALPHA, TEST_DECIMAL, TEST_DIGIT, TEST_NUMERIC, TEST_LOWER, TEST_UPPER, TEST_PRINTABLE, TEST_TITLE, TEST_SPACE,
    TEST_ALNUM, TEST_IDENTIFIER, TEST_ASCII, TEST_ASCII_ONLY = 16
};

int32_t TEXT(map)(host_p host, struct kiln_str *ret, text_p s, int64_t which);
int64_t TEXT(test)(host_p host, text_p s, int64_t which);

TEXT_LONG unsigned kiln_rt_unicode_flags(uint32_t c)
{
    uint32_t low = 0, high = N(unicode_runs);

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (unicode_runs[middle] >> 6 <= c)
            low = middle;
        else
            high = middle;
    }
    return unicode_flags[unicode_runs[low] & 63];
}

TEXT_LONG int kiln_rt_unicode_decimal(uint32_t c)
{
    uint32_t low = 0, high = N(unicode_zeros);

    if (c < 128)
        return c >= '0' && c <= '9' ? (int)c - '0' : -1;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (unicode_zeros[middle] <= c)
            low = middle;
        else
            high = middle;
    }
    return c >= unicode_zeros[low] && c - unicode_zeros[low] < 10 ? (int)(c - unicode_zeros[low]) : -1;
}

/* What c becomes, up to three code points. */
TEXT_LONG static int change(const struct unicode_range *r, uint32_t n, const struct unicode_several *s, uint32_t n_several, uint32_t c,
                  uint32_t to[3])
{
    uint32_t low = 0, high = n;

    to[0] = c;
    for (uint32_t i = 0; i < n_several && c >= 0xDF && s[i].from <= c; i++)
        if (s[i].from == c) {
            int k = 0;
            for (; k < 3 && s[i].to[k]; k++)
                to[k] = s[i].to[k];
            return k;
        }
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (r[middle].first <= c)
            low = middle;
        else
            high = middle;
    }
    if (c >= r[low].first && c <= r[low].last && (c - r[low].first) % r[low].stride == 0)
        to[0] = (uint32_t)((int32_t)c + r[low].delta);
    return 1;
}
#define CHANGE(name, c, to) \
    change(unicode_##name, N(unicode_##name), unicode_##name##_several, N(unicode_##name##_several), c, to)

/* Is a capital sigma at i the last letter of its word? */
static int is_final(text_p s, int64_t i)
{
    int64_t k = i - 1;
    unsigned f = 0;

    while (k >= 0 && (f = kiln_rt_unicode_flags(text_at(s, k))) & U_IGNORABLE)
        k--;
    if (k < 0 || !(f & U_BEFORE_SIGMA))
        return 0;
    for (k = i + 1; k < s->length && (f = kiln_rt_unicode_flags(text_at(s, k))) & U_IGNORABLE;)
        k++;
    return k >= s->length || !(f & U_BEFORE_SIGMA);
}

static int lower(text_p s, int64_t i, uint32_t c, uint32_t to[3])
{
    if (c == 0x3A3) {
        to[0] = is_final(s, i) ? 0x3C2 : 0x3C3;
        return 1;
    }
    return CHANGE(lower, c, to);
}

/* Code point i by the rules of `which`; *cased: was the one before it a letter? */
TEXT_LONG static int map_one(text_p s, int64_t i, int64_t which, int *cased, uint32_t to[3])
{
    uint32_t c = text_at(s, i);
    unsigned f;
    int was = *cased;

    if (which & MAP_ASCII || (c < 128 && which <= MAP_LOWER)) {
        int is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z', up, down;
        which &= ~MAP_ASCII;
        up = which == MAP_UPPER || which == MAP_SWAP || (which == MAP_CAPITALIZE && !i) || (which == MAP_TITLE && !was);
        down = which == MAP_SWAP ? 1 : !up;
        to[0] = is_lower && up ? c - 32 : is_upper && down ? c + 32 : c;
        *cased = is_upper || is_lower;
        return 1;
    }
    switch (which) {
    case MAP_UPPER:
        return CHANGE(upper, c, to);
    case MAP_LOWER:
        return lower(s, i, c, to);
    case MAP_TITLE:
        *cased = (kiln_rt_unicode_flags(c) & U_CASED) != 0;
        return was ? lower(s, i, c, to) : CHANGE(title, c, to);
    case MAP_CAPITALIZE:
        return i ? lower(s, i, c, to) : CHANGE(title, c, to);
    case MAP_SWAP:
        f = kiln_rt_unicode_flags(c);
        if (f & U_UPPER)
            return lower(s, i, c, to);
        if (f & U_LOWER)
            return CHANGE(upper, c, to);
        to[0] = c;
        return 1;
    default:
        return CHANGE(fold, c, to);
    }
}

TEXT_LONG int32_t TEXT(map)(host_p host, struct kiln_str *ret, text_p s, int64_t which)
{
    uint32_t to[3], all = 0;
    int64_t n = 0;
    int cased = 0;

    for (intptr_t i = 0; i < s->length; i++) {
        int k = map_one(s, i, which, &cased, to);
        for (int m = 0; m < k; m++)
            all |= to[m];
        n += k;
    }
    if (text_new(host, ret, n, text_width_for(all)))
        return 1;
    n = 0;
    cased = 0;
    for (intptr_t i = 0; i < s->length; i++) {
        int k = map_one(s, i, which, &cased, to);
        for (int m = 0; m < k; m++)
            text_put(ret, n++, to[m]);
    }
    return 0;
}

/* ---- tests ---- */

static unsigned flags_of(uint32_t c, int ascii_only)
{
    return ascii_only && c >= 128 ? 0 : kiln_rt_unicode_flags(c);
}

/* Upper or title case begins words, and nothing else does. */
static int is_title(text_p s, int ascii_only)
{
    int cased = 0, before = 0;

    for (intptr_t i = 0; i < s->length; i++) {
        unsigned f = flags_of(text_at(s, i), ascii_only);
        int begins = (f & (U_UPPER | U_TITLE)) != 0, follows = (f & U_LOWER) != 0;
        if ((begins && before) || (follows && !begins && !before))
            return 0;
        before = begins || follows;
        cased |= before;
    }
    return cased;
}

/* Letters of this case and none of the other. */
static int has_case(text_p s, unsigned wanted, unsigned other, int ascii_only)
{
    int cased = 0;

    for (intptr_t i = 0; i < s->length; i++) {
        unsigned f = flags_of(text_at(s, i), ascii_only);
        if (f & (other | U_TITLE))
            return 0;
        cased |= (f & wanted) != 0;
    }
    return cased;
}

TEXT_LONG int64_t TEXT(test)(host_p host, text_p s, int64_t which)
{
    static const uint16_t wanted[] = { [TEST_ALPHA] = U_ALPHA,     [TEST_DECIMAL] = U_DECIMAL,
                                       [TEST_DIGIT] = U_DIGIT,     [TEST_NUMERIC] = U_NUMERIC,
                                       [TEST_PRINTABLE] = U_PRINTABLE, [TEST_ALNUM] = U_ALPHA | U_DECIMAL | U_DIGIT | U_NUMERIC };
    int ascii_only = (which & TEST_ASCII_ONLY) != 0;

    (void)host;
    which &= ~TEST_ASCII_ONLY;
    if (which == TEST_LOWER || which == TEST_UPPER)
        return has_case(s, which == TEST_LOWER ? U_LOWER : U_UPPER, which == TEST_LOWER ? U_UPPER : U_LOWER, ascii_only);
    if (which == TEST_TITLE)
        return is_title(s, ascii_only);
    if (!s->length)
        return which == TEST_PRINTABLE || which == TEST_ASCII;
    for (intptr_t i = 0; i < s->length; i++) {
        uint32_t c = text_at(s, i);
        int good = which == TEST_ASCII   ? c < 128
                   : which == TEST_SPACE ? (ascii_only ? (c >= 9 && c <= 13) || c == 32 : text_is_space(c))
                   : which == TEST_IDENTIFIER
                       ? (kiln_rt_unicode_flags(c) & (i ? U_CONTINUE : U_START)) != 0
                       : (flags_of(c, ascii_only) & wanted[which]) != 0;
        if (!good)
            return 0;
    }
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0
 * text_repr.c - repr() of str and bytes. */
#include "text_unicode.h"

int32_t TEXT(repr)(host_p host, struct kiln_str *ret, text_p s, int64_t ascii_only);
int32_t TEXT(bytes_repr)(host_p host, struct kiln_str *ret, text_p s);

static int escape(char *to, char kind, uint32_t c, int digits)
{
    to[0] = '\\';
    to[1] = kind;
    for (int i = 0; i < digits; i++)
        to[2 + i] = "0123456789abcdef"[c >> (4 * (digits - 1 - i)) & 15];
    return 2 + digits;
}

/* What stands for c, in ASCII; 0: c itself. */
static int spell(char to[10], uint32_t c, uint32_t quote, int ascii_only, int is_bytes)
{
    if (c == '\\' || c == quote || c == '\n' || c == '\r' || c == '\t')
        return escape(to, c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : (char)c, 0, 0);
    if (c >= 32 && c < 127)
        return 0;
    if (c >= 128 && !ascii_only && !is_bytes && kiln_rt_unicode_flags(c) & U_PRINTABLE)
        return 0;
    return c < 256 ? escape(to, 'x', c, 2) : c < 0x10000 ? escape(to, 'u', c, 4) : escape(to, 'U', c, 8);
}

TEXT_LONG static int32_t spelled(host_p host, struct kiln_str *ret, text_p s, int ascii_only, int is_bytes)
{
    uint32_t quote = '\'', all = 0;
    char to[10];
    int single = 0, twice = 0;

    for (intptr_t i = 0; i < s->length; i++) {
        single |= text_at(s, i) == '\'';
        twice |= text_at(s, i) == '"';
    }
    if (single && !twice)
        quote = '"';
    for (int pass = 0; pass < 2; pass++) {
        int64_t n = 0;
        if (pass && is_bytes)
            text_put(ret, n, 'b');
        n += is_bytes;
        if (pass)
            text_put(ret, n, quote);
        n++;
        for (intptr_t i = 0; i < s->length; i++) {
            uint32_t c = text_at(s, i);
            int k = spell(to, c, quote, ascii_only, is_bytes);
            if (!pass) {
                all |= k ? 0 : c;
            } else if (!k) {
                text_put(ret, n, c);
            }
            for (int m = 0; pass && m < k; m++)
                text_put(ret, n + m, (uint8_t)to[m]);
            n += k ? k : 1;
        }
        if (pass)
            text_put(ret, n, quote);
        else if (text_new(host, ret, n + 1, text_width_for(all)))
            return 1;
    }
    return 0;
}

int32_t TEXT(repr)(host_p host, struct kiln_str *ret, text_p s, int64_t ascii_only)
{
    return spelled(host, ret, s, ascii_only != 0, 0);
}

int32_t TEXT(bytes_repr)(host_p host, struct kiln_str *ret, text_p s)
{
    return spelled(host, ret, s, 1, 1);
}

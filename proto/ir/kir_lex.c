/* SPDX-License-Identifier: Apache-2.0
 * kir_lex.c - tokens of the text form, and errors with line and column. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/ir/kir_reader.h"

bool kir_fail(struct reader *r, const char *fmt, ...)
{
    char msg[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    if (!r->e->code)
        kiln_err_set(r->e, KILN_E_KIR_BAD, 0, "line %u, column %u: %s", r->at.line, r->at.column, msg);
    return false;
}

/* The builder's error, if it has one, at this place. */
bool kir_builder_ok(struct reader *r)
{
    struct kiln_err e;

    if (!kir_builder_error(r->b, &e))
        return true;
    if (!r->e->code)
        kiln_err_set(r->e, (enum kiln_code)e.code, 0, "line %u, column %u: %s", r->at.line, r->at.column,
                     e.msg);
    return false;
}

bool kir_no_memory(struct reader *r)
{
    if (!r->e->code)
        kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    return false;
}

static void skip_space(struct reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == ';') {
            while (r->p < r->end && *r->p != '\n')
                r->p++;
            if (r->p == r->end)
                return;
        }
        if (*r->p == '\n') {
            r->line++;
            r->line_start = r->p + 1;
        } else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') {
            return;
        }
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* After the opening quote. */
static bool read_string(struct reader *r)
{
    const char *start = r->p;
    char *to;

    while (r->p < r->end && *r->p != '"' && *r->p != '\n')
        r->p += *r->p == '\\' && r->end - r->p > 1 ? 2 : 1;
    if (r->p == r->end || *r->p == '\n')
        return kir_fail(r, "a string does not end on its line");
    to = arena_alloc(&r->a, (size_t)(r->p - start) + 1);
    if (!to)
        return kir_no_memory(r);
    r->word = to;
    for (const char *s = start; s < r->p; s++) {
        if (*s != '\\') {
            *to++ = *s;
            continue;
        }
        s++;
        if (*s == 'n') {
            *to++ = '\n';
        } else if (*s == '"' || *s == '\\') {
            *to++ = *s;
        } else if (*s == 'x' && r->p - s > 2 && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
            *to++ = (char)(hex_digit(s[1]) * 16 + hex_digit(s[2]));
            s += 2;
        } else {
            return kir_fail(r, "escapes are \\n, \\\", \\\\ and \\xNN");
        }
    }
    r->len = (uint32_t)(to - r->word);
    r->p++;
    return true;
}

static bool is_delimiter(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ')' || c == '[' || c == ']' ||
           c == '"' || c == ';';
}

bool kir_next(struct reader *r)
{
    char c;

    skip_space(r);
    r->at = (struct place){ r->line, (uint32_t)(r->p - r->line_start) + 1 };
    r->word = r->p;
    r->len = 0;
    if (r->p == r->end) {
        r->token = T_END;
        return true;
    }
    c = *r->p;
    if (strchr("()[]", c) && c) {
        r->token = c == '(' ? T_OPEN : c == ')' ? T_CLOSE : c == '[' ? T_LBRACKET : T_RBRACKET;
        r->p++;
        return true;
    }
    if (c == '"' || (c == 'b' && r->end - r->p > 1 && r->p[1] == '"')) {
        r->token = c == '"' ? T_STRING : T_BYTES;
        r->p += c == '"' ? 1 : 2;
        return read_string(r);
    }
    r->token = c == '#' ? T_LABEL : T_WORD;
    r->p += c == '#';
    r->word = r->p;
    while (r->p < r->end && !is_delimiter(*r->p))
        r->p++;
    r->len = (uint32_t)(r->p - r->word);
    return r->len || kir_fail(r, "a label is '#' and a number");
}

bool kir_is_word(const struct reader *r, const char *word)
{
    return r->token == T_WORD && strlen(word) == r->len && !memcmp(r->word, word, r->len);
}

bool kir_expect(struct reader *r, enum token token, const char *what)
{
    if (r->token != token)
        return kir_fail(r, "expected %s", what);
    return kir_next(r);
}

/* The word as a NUL-terminated string; "" if it is longer than any that we know. */
const char *kir_word_text(const struct reader *r, char *to, size_t cap)
{
    if (r->len >= cap)
        return "";
    memcpy(to, r->word, r->len);
    to[r->len] = '\0';
    return to;
}

/* A number below 2^31, from a word or label; steps over it. */
bool kir_read_number(struct reader *r, uint32_t *ret)
{
    uint64_t v = 0;

    if (r->token != T_WORD && r->token != T_LABEL)
        return kir_fail(r, "expected a number");
    for (uint32_t i = 0; i < r->len; i++) {
        if (r->word[i] < '0' || r->word[i] > '9' || (v = v * 10 + (uint64_t)(r->word[i] - '0')) > INT32_MAX)
            return kir_fail(r, "expected a number");
    }
    *ret = (uint32_t)v;
    return kir_next(r);
}

/* A word or a string, as a name. Steps over it. */
bool kir_read_name(struct reader *r, const char **ret, uint32_t *ret_len)
{
    if (r->token != T_WORD && r->token != T_STRING)
        return kir_fail(r, "expected a name");
    *ret = arena_dup(&r->a, r->word, r->len);
    *ret_len = r->len;
    if (!*ret)
        return kir_no_memory(r);
    if (memchr(*ret, 0, r->len) && r->token == T_STRING)
        return kir_fail(r, "a name holds no NUL");
    return kir_next(r);
}

bool kir_read_float(struct reader *r, double *ret)
{
    char s[64], *end;
    const char *text = kir_word_text(r, s, sizeof s);

    if (r->token != T_WORD || !*text)
        return kir_fail(r, "expected a float");
    if (!strncmp(text, "nan:", 4) && strlen(text) == 20) {
        uint64_t bits = strtoull(text + 4, &end, 16);
        memcpy(ret, &bits, 8);
        if (*end || *ret == *ret) /* only a NaN differs from itself */
            return kir_fail(r, "nan: is followed by the 16 hex digits of a NaN");
        return kir_next(r);
    }
    *ret = strtod(text, &end);
    if (*end || (!strpbrk(text, ".e") && strcmp(text, "inf") && strcmp(text, "-inf")) ||
        strpbrk(text, "xXpP"))
        return kir_fail(r, "'%s' is no float", text);
    return kir_next(r);
}

bool kir_read_hex(struct reader *r, unsigned char **ret, uint32_t *ret_len)
{
    unsigned char *to = arena_alloc(&r->a, r->len / 2 + 1);

    if (!to)
        return kir_no_memory(r);
    if (r->token != T_WORD || r->len % 2 != 1 || *r->word != 'x')
        return kir_fail(r, "expected x and hex digits");
    for (uint32_t i = 0; i < r->len / 2; i++) {
        int high = hex_digit(r->word[1 + 2 * i]), low = hex_digit(r->word[2 + 2 * i]);
        if (high < 0 || low < 0)
            return kir_fail(r, "expected x and hex digits");
        to[i] = (unsigned char)(high * 16 + low);
    }
    *ret = to;
    *ret_len = r->len / 2;
    return kir_next(r);
}

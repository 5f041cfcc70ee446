/* SPDX-License-Identifier: Apache-2.0
 * kir_parse.c - the text form to a module, by way of the builder.
 *
 * Nodes are read with an explicit stack. A frame's operands are gathered, in wire form, on top of one array of
 * values; when a node closes, they are taken off and its number goes on, as an operand of its parent. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/ir/builder.h"
#include "proto/ir/builder_private.h"
#include "proto/ir/kir_private.h"
#include "proto/ir/kir_text.h"

#define MAX_CONST_DEPTH 64u /* parentheses in a constant */

enum token { T_END, T_OPEN, T_CLOSE, T_LBRACKET, T_RBRACKET, T_WORD, T_STRING, T_BYTES, T_LABEL };

struct place {
    uint32_t line, column;
};

struct reader {
    const char *text, *p, *end, *line_start;
    uint32_t line;
    struct arena a;
    struct kir_builder *b;
    struct kiln_err *e;
    /* the current token */
    enum token token;
    const char *word;
    uint32_t len;
    struct place at;
    /* label -> handle + 1 */
    uint32_t *labels;
    size_t n_labels;
    uint32_t n_functions, n_locals, n_env, func;
    uint32_t *vals;
    size_t n_vals, cap_vals;
    struct frame {
        enum kir_op op;
        const char *letters; /* not yet begun */
        size_t base, list;   /* in vals; list: of the count under way */
        bool in_list, brackets, unbracketed;
        char letter;
        bool optional; /* how the operand under way goes into its parent's values */
        struct place at;
    } *frames;
    size_t n_frames, cap_frames;
    struct kir_positions *positions;
};

/* ---- tokens ---------------------------------------------------------------------------------------- */

static bool fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reader *r, const char *fmt, ...)
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
static bool builder_ok(struct reader *r)
{
    struct kiln_err e;

    if (!kir_builder_error(r->b, &e))
        return true;
    if (!r->e->code)
        kiln_err_set(r->e, (enum kiln_code)e.code, 0, "line %u, column %u: %s", r->at.line, r->at.column, e.msg);
    return false;
}

static bool no_memory(struct reader *r)
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
        return fail(r, "a string does not end on its line");
    to = arena_alloc(&r->a, (size_t)(r->p - start) + 1);
    if (!to)
        return no_memory(r);
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
            return fail(r, "escapes are \\n, \\\", \\\\ and \\xNN");
        }
    }
    r->len = (uint32_t)(to - r->word);
    r->p++;
    return true;
}

static bool is_delimiter(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '(' || c == ')' || c == '[' || c == ']' || c == '"' ||
           c == ';';
}

static bool next(struct reader *r)
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
    return r->len || fail(r, "a label is '#' and a number");
}

static bool is_word(const struct reader *r, const char *word)
{
    return r->token == T_WORD && strlen(word) == r->len && !memcmp(r->word, word, r->len);
}

static bool expect(struct reader *r, enum token token, const char *what)
{
    if (r->token != token)
        return fail(r, "expected %s", what);
    return next(r);
}

/* The word as a NUL-terminated string; "" if it is longer than any that we know. */
static const char *word_text(const struct reader *r, char *to, size_t cap)
{
    if (r->len >= cap)
        return "";
    memcpy(to, r->word, r->len);
    to[r->len] = '\0';
    return to;
}

/* A number below 2^31, from a word or label; steps over it. */
static bool read_number(struct reader *r, uint32_t *ret)
{
    uint64_t v = 0;

    if (r->token != T_WORD && r->token != T_LABEL)
        return fail(r, "expected a number");
    for (uint32_t i = 0; i < r->len; i++) {
        if (r->word[i] < '0' || r->word[i] > '9' || (v = v * 10 + (uint64_t)(r->word[i] - '0')) > INT32_MAX)
            return fail(r, "expected a number");
    }
    *ret = (uint32_t)v;
    return next(r);
}

/* A word or a string, as a name. Steps over it. */
static bool read_name(struct reader *r, const char **ret, uint32_t *ret_len)
{
    if (r->token != T_WORD && r->token != T_STRING)
        return fail(r, "expected a name");
    *ret = arena_dup(&r->a, r->word, r->len);
    *ret_len = r->len;
    if (!*ret)
        return no_memory(r);
    if (memchr(*ret, 0, r->len) && r->token == T_STRING)
        return fail(r, "a name holds no NUL");
    return next(r);
}

/* ---- constants ------------------------------------------------------------------------------------- */

static bool read_const(struct reader *r, unsigned depth, uint32_t *ret);

static bool label_const(struct reader *r, uint32_t *ret)
{
    uint32_t label;

    if (!read_number(r, &label))
        return false;
    if (label >= r->n_labels || !r->labels[label])
        return fail(r, "constant #%u is not defined before", label);
    *ret = r->labels[label] - 1;
    return true;
}

static bool read_float(struct reader *r, double *ret)
{
    char s[64], *end;
    const char *text = word_text(r, s, sizeof s);

    if (r->token != T_WORD || !*text)
        return fail(r, "expected a float");
    if (!strncmp(text, "nan:", 4) && strlen(text) == 20) {
        uint64_t bits = strtoull(text + 4, &end, 16);
        memcpy(ret, &bits, 8);
        if (*end || *ret == *ret) /* only a NaN differs from itself */
            return fail(r, "nan: is followed by the 16 hex digits of a NaN");
        return next(r);
    }
    *ret = strtod(text, &end);
    if (*end || (!strpbrk(text, ".e") && strcmp(text, "inf") && strcmp(text, "-inf")) || strpbrk(text, "xXpP"))
        return fail(r, "'%s' is no float", text);
    return next(r);
}

/* A word: None, True, an int, a float. */
static bool word_const(struct reader *r, uint32_t *ret)
{
    const char *digits = r->word + (r->len && *r->word == '-');
    uint32_t n = r->len - (uint32_t)(digits - r->word), i = 0;
    double f;

    while (i < n && digits[i] >= '0' && digits[i] <= '9')
        i++;
    if (n && i == n) {
        char *copy = arena_dup(&r->a, r->word, r->len);
        if (!copy)
            return no_memory(r);
        *ret = kir_b_bigint(r->b, !strcmp(copy, "-0") ? "" : copy);
    } else if (is_word(r, "None")) {
        *ret = kir_b_none(r->b);
    } else if (is_word(r, "...")) {
        *ret = kir_b_ellipsis(r->b);
    } else if (is_word(r, "True") || is_word(r, "False")) {
        *ret = kir_b_bool(r->b, *r->word == 'T');
    } else {
        if (!read_float(r, &f))
            return false;
        *ret = kir_b_float(r->b, f);
        return builder_ok(r);
    }
    return builder_ok(r) && next(r);
}

static bool read_hex(struct reader *r, unsigned char **ret, uint32_t *ret_len)
{
    unsigned char *to = arena_alloc(&r->a, r->len / 2 + 1);

    if (!to)
        return no_memory(r);
    if (r->token != T_WORD || r->len % 2 != 1 || *r->word != 'x')
        return fail(r, "expected x and hex digits");
    for (uint32_t i = 0; i < r->len / 2; i++) {
        int high = hex_digit(r->word[1 + 2 * i]), low = hex_digit(r->word[2 + 2 * i]);
        if (high < 0 || low < 0)
            return fail(r, "expected x and hex digits");
        to[i] = (unsigned char)(high * 16 + low);
    }
    *ret = to;
    *ret_len = r->len / 2;
    return next(r);
}

/* Constants up to the closing parenthesis. */
static bool read_items(struct reader *r, unsigned depth, uint32_t **ret, uint32_t *ret_n)
{
    uint32_t *items = NULL;
    size_t n = 0, cap = 0;

    while (r->token != T_CLOSE) {
        items = arena_grow(&r->a, items, n, &cap, sizeof *items);
        if (!items)
            return no_memory(r);
        if (!read_const(r, depth + 1, &items[n]))
            return false;
        n++;
    }
    *ret = items;
    *ret_n = (uint32_t)n;
    return true;
}

static bool read_dims(struct reader *r, uint32_t **ret, uint32_t *ret_n)
{
    size_t n = 0, cap = 0;

    *ret = NULL;
    if (!expect(r, T_LBRACKET, "'[' and dimensions"))
        return false;
    while (r->token != T_RBRACKET) {
        *ret = arena_grow(&r->a, *ret, n, &cap, sizeof **ret);
        if (!*ret)
            return no_memory(r);
        if (!read_number(r, &(*ret)[n]))
            return false;
        n++;
    }
    *ret_n = (uint32_t)n;
    return next(r);
}

/* After the kind's name of a constant in parentheses. */
static bool read_compound(struct reader *r, uint32_t kind, unsigned depth, uint32_t *ret)
{
    uint32_t *items, n, x, y;
    unsigned char *data;
    const char *text;
    double re, im;

    switch (kind) {
    case KIR_K_COMPLEX:
        if (!read_float(r, &re) || !read_float(r, &im))
            return false;
        *ret = kir_b_complex(r->b, re, im);
        return true;
    case KIR_K_TUPLE:
        if (!read_items(r, depth, &items, &n))
            return false;
        *ret = kir_b_tuple_const(r->b, items, n);
        return true;
    case KIR_K_SCALAR:
        if (!read_name(r, &text, &n) || !read_hex(r, &data, &n))
            return false;
        *ret = kir_b_scalar(r->b, text, data, n);
        return true;
    case KIR_K_TYPE:
        if (!read_name(r, &text, &n))
            return false;
        *ret = kir_b_type(r->b, text);
        return true;
    case KIR_K_EXCEPTION:
        if (!read_name(r, &text, &n))
            return false;
        *ret = kir_b_exception(r->b, text);
        return true;
    case KIR_K_ARRAY:
        if (!read_name(r, &text, &n) || !read_dims(r, &items, &x) || !read_hex(r, &data, &n))
            return false;
        *ret = kir_b_array(r->b, text, items, x, data, n);
        return true;
    case KIR_K_ENUM:
        if (!read_number(r, &x) || !read_number(r, &y))
            return false;
        *ret = kir_b_enum_member(r->b, x, y);
        return true;
    case KIR_K_NAMEDTUPLE:
        if (!read_number(r, &x) || !read_items(r, depth, &items, &n))
            return false;
        *ret = kir_b_namedtuple(r->b, x, items, n);
        return true;
    case KIR_K_USERTYPE:
        if (!read_number(r, &x))
            return false;
        *ret = kir_b_usertype_const(r->b, x);
        return true;
    default:
        return fail(r, "unknown kind of constant");
    }
}

static bool read_const(struct reader *r, unsigned depth, uint32_t *ret)
{
    char word[32];
    uint32_t kind;

    switch (r->token) {
    case T_WORD:
        return word_const(r, ret);
    case T_LABEL:
        return label_const(r, ret);
    case T_STRING:
        *ret = kir_b_str(r->b, r->word, r->len);
        return builder_ok(r) && next(r);
    case T_BYTES:
        *ret = kir_b_bytes(r->b, r->word, r->len);
        return builder_ok(r) && next(r);
    case T_OPEN:
        if (depth > MAX_CONST_DEPTH)
            return fail(r, "a constant is nested more than %u deep: give its parts labels", MAX_CONST_DEPTH);
        if (!next(r))
            return false;
        kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_CONST, word_text(r, word, sizeof word)) : 0;
        return kind ? next(r) && read_compound(r, kind, depth, ret) && builder_ok(r) && expect(r, T_CLOSE, "')'")
                    : fail(r, "unknown kind of constant");
    default:
        return fail(r, "expected a constant");
    }
}

static bool set_label(struct reader *r, uint32_t label, uint32_t handle)
{
    if (label >= (size_t)(r->end - r->text)) /* each label takes bytes of the text */
        return fail(r, "labels are small numbers");
    if (label >= r->n_labels) {
        size_t n = label + 1 > 2 * r->n_labels ? label + 1 : 2 * r->n_labels;
        uint32_t *bigger = arena_new_array(&r->a, n, uint32_t);
        if (!bigger)
            return no_memory(r);
        if (r->n_labels)
            memcpy(bigger, r->labels, r->n_labels * sizeof *bigger);
        r->labels = bigger;
        r->n_labels = n;
    }
    if (r->labels[label])
        return fail(r, "constant #%u is there already", label);
    r->labels[label] = handle + 1;
    return true;
}

/* (const #3 (tuple 1 2)), after the word. */
static bool read_table_const(struct reader *r)
{
    uint32_t label, handle;

    if (r->token != T_LABEL)
        return fail(r, "expected a label such as #0");
    return read_number(r, &label) && read_const(r, 0, &handle) && set_label(r, label, handle) &&
           expect(r, T_CLOSE, "')'");
}

/* (usertype 0 namedtuple Point (x "") (y float64)), after the word. */
static bool read_usertype(struct reader *r, uint32_t number)
{
    const char *name, **names = NULL, **types = NULL;
    uint32_t kind, index, len, *consts = NULL;
    size_t n = 0, cap = 0;
    char word[32];

    if (!read_number(r, &index))
        return false;
    kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_USERTYPE, word_text(r, word, sizeof word)) : 0;
    if (!kind || index != number)
        return fail(r, kind ? "user types are numbered in order" : "unknown kind of user type");
    if (!next(r) || !read_name(r, &name, &len))
        return false;
    while (r->token == T_OPEN) {
        size_t cap_types = cap, cap_consts = cap;
        names = arena_grow(&r->a, names, n, &cap, sizeof *names);
        types = arena_grow(&r->a, types, n, &cap_types, sizeof *types);
        consts = arena_grow(&r->a, consts, n, &cap_consts, sizeof *consts);
        if (!names || !types || !consts)
            return no_memory(r);
        if (!next(r) || !read_name(r, &names[n], &len) ||
            !(kind == KIR_UT_ENUM ? read_const(r, 0, &consts[n]) : read_name(r, &types[n], &len)) ||
            !expect(r, T_CLOSE, "')'"))
            return false;
        n++;
    }
    if (kir_b_usertype(r->b, (enum kir_usertype_kind)kind, name, (uint32_t)n, names, types, consts) != number && builder_ok(r))
        return fail(r, "a user type is there already");
    return builder_ok(r) && expect(r, T_CLOSE, "')'");
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

static bool push(struct reader *r, uint32_t v)
{
    r->vals = arena_grow(&r->a, r->vals, r->n_vals, &r->cap_vals, sizeof *r->vals);
    if (!r->vals)
        return no_memory(r);
    r->vals[r->n_vals++] = v;
    return true;
}

/* A finished operand of the topmost frame. */
static bool give(struct reader *r, uint32_t v)
{
    struct frame *f = &r->frames[r->n_frames - 1];

    if (f->in_list)
        r->vals[f->list]++;
    return push(r, v + f->optional);
}

static uint32_t op_named(const struct reader *r)
{
    char word[32];
    const char *text = word_text(r, word, sizeof word);

    for (unsigned op = 1; op < KIR__OP_END; op++)
        if (r->token == T_WORD && kir_opinfo(op) && !strcmp(kir_opinfo(op)->text, text))
            return op;
    return 0;
}

/* At "(": a node begins. */
static bool open_node(struct reader *r)
{
    struct place at = r->at;
    uint32_t op;

    if (!expect(r, T_OPEN, "a node in parentheses"))
        return false;
    op = op_named(r);
    if (!op)
        return fail(r, "'%.*s' is no node", (int)(r->len < 40 ? r->len : 40), r->word);
    r->frames = arena_grow(&r->a, r->frames, r->n_frames, &r->cap_frames, sizeof *r->frames);
    if (!r->frames)
        return no_memory(r);
    const char *letters = kir_opinfo(op)->operands;
    r->frames[r->n_frames++] = (struct frame){ .op = (enum kir_op)op,
                                               .letters = letters,
                                               .base = r->n_vals,
                                               .unbracketed = kir_text_last_list_only(letters),
                                               .at = at };
    return next(r);
}

/* Handles of functions, locals and slots are made when they are first named. A number is at most as large
 * as the text is long, so that a short text cannot ask for much. */
static bool ensure(struct reader *r, char letter, uint32_t x)
{
    uint32_t *n = letter == 'f' ? &r->n_functions : letter == 'l' ? &r->n_locals : &r->n_env;

    if (x >= (size_t)(r->end - r->text))
        return fail(r, "%u is too large a number for a text of this length", x);
    while (*n <= x) {
        (void)(letter == 'f' ? kir_b_function(r->b) : letter == 'l' ? kir_b_new_local(r->b, r->func) : kir_b_new_env(r->b));
        ++*n;
    }
    return builder_ok(r);
}

static bool read_enum(struct reader *r, enum kir_op op)
{
    char word[32];
    uint32_t x;

    if (r->token != T_WORD)
        return fail(r, "expected an operator or kind");
    x = kir_enum_number(op, word_text(r, word, sizeof word));
    if (op == KIR_FORMAT && r->len == 1 && strchr("0sra", *r->word))
        x = *r->word == '0' ? 0 : (unsigned char)*r->word;
    else if (!x)
        return fail(r, "'%.*s' is no operator or kind of %s", (int)(r->len < 40 ? r->len : 40), r->word, kir_opinfo(op)->text);
    return give(r, x) && next(r);
}

/* One operand by its letter; nodes only begin here. */
static bool read_operand(struct reader *r, char letter)
{
    const char *text;
    uint32_t x, len;

    switch (letter) {
    case 'c':
        return read_const(r, 0, &x) && give(r, x);
    case 's':
        if (r->token == T_LABEL)
            return label_const(r, &x) && give(r, x);
        return read_name(r, &text, &len) && give(r, kir_b_str(r->b, text, len));
    case 'i':
        return read_enum(r, r->frames[r->n_frames - 1].op);
    case 'u':
        return read_number(r, &x) && give(r, x);
    case 'l':
    case 'f':
    case 'v':
        return read_number(r, &x) && ensure(r, letter, x) && give(r, x);
    default:
        return open_node(r);
    }
}

static bool note_position(struct reader *r, const struct frame *f, uint32_t node)
{
    struct kir_positions *p = r->positions;
    size_t cap, n = node;

    while (p->n_functions <= r->func) {
        cap = p->cap_functions;
        p->functions = arena_grow(p->a, p->functions, p->n_functions, &cap, sizeof *p->functions);
        if (!p->functions)
            return no_memory(r);
        p->cap_functions = (uint32_t)cap;
        p->functions[p->n_functions++] = (struct kir_function_positions){ 0 };
    }
    struct kir_function_positions *fp = &p->functions[r->func];
    cap = fp->cap;
    fp->nodes = arena_grow(p->a, fp->nodes, n, &cap, sizeof *fp->nodes);
    if (!fp->nodes)
        return no_memory(r);
    fp->cap = (uint32_t)cap;
    fp->nodes[node] = (struct kir_position){ f->at.line, f->at.column };
    fp->n = node + 1;
    return true;
}

/* At ")": the operands left must be ones that may be absent. */
static bool close_node(struct reader *r)
{
    struct frame *f = &r->frames[r->n_frames - 1];
    uint32_t node;

    for (; *f->letters; f->letters++) {
        bool may_miss = *f->letters == '*' || *f->letters == '?';
        if (!may_miss)
            return fail(r, "%s has more operands", kir_opinfo(f->op)->text);
        f->letters++;
        if (!push(r, 0))
            return false;
    }
    node = kir_b_node(r->b, r->func, f->op, r->vals + f->base, r->n_vals - f->base);
    if (!builder_ok(r) || !note_position(r, f, node))
        return false;
    r->n_vals = f->base;
    r->n_frames--;
    if (!next(r))
        return false;
    return r->n_frames == 0 || give(r, node);
}

static bool begin_operand(struct reader *r, struct frame *f)
{
    char kind = *f->letters == '?' || *f->letters == '*' ? *f->letters++ : 0;

    f->letter = *f->letters++;
    f->optional = false;
    if (kind == '*') {
        f->in_list = true;
        f->brackets = !f->unbracketed;
        f->list = r->n_vals;
        return push(r, 0) && (!f->brackets || expect(r, T_LBRACKET, "'[' and a list"));
    }
    if (kind == '?') {
        if (is_word(r, "_"))
            return push(r, 0) && next(r);
        f->optional = true;
    }
    return read_operand(r, f->letter);
}

/* One step of the topmost frame. */
static bool node_step(struct reader *r)
{
    struct frame *f = &r->frames[r->n_frames - 1];

    if (f->in_list) {
        if (r->token == (f->brackets ? T_RBRACKET : T_CLOSE)) {
            f->in_list = false;
            return f->brackets ? next(r) : close_node(r);
        }
        return read_operand(r, f->letter);
    }
    if (r->token == T_CLOSE)
        return close_node(r);
    if (!*f->letters)
        return fail(r, "%s has no more operands", kir_opinfo(f->op)->text);
    return begin_operand(r, f);
}

/* ---- functions and module -------------------------------------------------------------------------- */

static bool read_params(struct reader *r)
{
    while (r->token == T_OPEN) {
        const char *name;
        char word[32];
        uint32_t len, kind, value = KIR_NIL;
        if (!next(r) || !read_name(r, &name, &len))
            return false;
        kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_PARAM, word_text(r, word, sizeof word)) : 0;
        if (!kind)
            return fail(r, "expected posonly, normal, star, kwonly or kwstar");
        if (!next(r) || (r->token != T_CLOSE && !read_const(r, 0, &value)) || !expect(r, T_CLOSE, "')'"))
            return false;
        kir_b_param(r->b, r->func, name, (enum kir_param_kind)kind, value);
        r->n_locals++;
        if (!builder_ok(r))
            return false;
    }
    return expect(r, T_CLOSE, "')'");
}

static bool read_flags(struct reader *r)
{
    uint32_t flags = 0, bit;
    char word[32];

    for (; r->token == T_WORD; flags |= bit) {
        bit = kir_flag_bit(word_text(r, word, sizeof word));
        if (!bit)
            return fail(r, "'%.*s' is no flag", (int)(r->len < 40 ? r->len : 40), r->word);
        if (!next(r))
            return false;
    }
    kir_b_flags(r->b, r->func, flags);
    return expect(r, T_CLOSE, "')'");
}

static bool read_free(struct reader *r)
{
    uint32_t n;

    if (!read_number(r, &n))
        return false;
    if (n >= (size_t)(r->end - r->text))
        return fail(r, "%u is too large a number for a text of this length", n);
    while (n--)
        kir_b_new_free(r->b, r->func);
    return builder_ok(r) && expect(r, T_CLOSE, "')'");
}

/* (function 0 (params ...) (free n) (flags ...) BLOCK), after the word. */
static bool read_function(struct reader *r, uint32_t number)
{
    uint32_t index;

    if (!read_number(r, &index))
        return false;
    if (index != number)
        return fail(r, "functions are numbered in order: this is %u", number);
    r->func = index;
    r->n_locals = 0;
    if (!ensure(r, 'f', index))
        return false;
    for (;;) {
        const char *after;
        uint32_t line = r->line;
        const char *line_start = r->line_start;
        if (r->token != T_OPEN)
            return fail(r, "expected (params ...), (free n), (flags ...) or the body");
        after = r->p;
        struct place at = r->at;
        if (!next(r))
            return false;
        bool params = is_word(r, "params"), flags = is_word(r, "flags");
        if (params || flags || is_word(r, "free")) { /* `free` is a node too, but never a body */
            if (!next(r) || !(params ? read_params(r) : flags ? read_flags(r) : read_free(r)))
                return false;
            continue;
        }
        r->p = after; /* the body: back to its parenthesis */
        r->line = line;
        r->line_start = line_start;
        r->token = T_OPEN;
        r->at = at;
        break;
    }
    if (!open_node(r))
        return false;
    while (r->n_frames)
        if (!node_step(r))
            return false;
    return expect(r, T_CLOSE, "')'");
}

static bool read_module(struct reader *r)
{
    uint32_t version, n_usertypes = 0, n_functions = 0;

    if (!next(r) || !expect(r, T_OPEN, "(kir ...)"))
        return false;
    if (!is_word(r, "kir"))
        return fail(r, "expected 'kir'");
    if (!next(r) || !read_number(r, &version))
        return false;
    if (version != KIR_VERSION) {
        kiln_err_set(r->e, KILN_E_KIR_VERSION, 0, "the text has KIR version %u, this is version %u", version, KIR_VERSION);
        return false;
    }
    while (r->token == T_OPEN) {
        bool ok;
        if (!next(r))
            return false;
        if (is_word(r, "const"))
            ok = next(r) && read_table_const(r);
        else if (is_word(r, "usertype"))
            ok = next(r) && read_usertype(r, n_usertypes++);
        else if (is_word(r, "function"))
            ok = next(r) && read_function(r, n_functions++);
        else
            ok = fail(r, "expected const, usertype or function");
        if (!ok)
            return false;
    }
    if (!expect(r, T_CLOSE, "')'"))
        return false;
    return r->token == T_END || fail(r, "text follows the module");
}

/* From the text's numbers of functions to the module's. */
static bool renumber(const struct kir_builder *b, struct kir_positions *p)
{
    struct kir_function_positions *functions = arena_new_array(p->a, p->n_functions, struct kir_function_positions);

    if (!functions)
        return false;
    for (uint32_t i = 0; i < p->n_functions; i++) {
        uint32_t number = kir_b_function_number(b, i);
        if (number != KIR_NIL)
            functions[number] = p->functions[i];
    }
    p->functions = functions;
    return true;
}

/* The whole of a finished text; what is wrong with a node is said with the node's place. */
static int finish(struct reader *r, struct arena *a, struct kir_module **ret)
{
    struct kir_place at;
    int rc = kir_builder_finish_at(r->b, a, ret, &at, r->e);

    if (rc && at.function != KIR_NIL) {
        struct kir_position p = r->positions->functions[at.function].nodes[at.node];
        return kiln_err_wrap(r->e, "line %u, column %u", p.line, p.column);
    }
    if (!rc && !renumber(r->b, r->positions))
        return kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    return rc;
}

int kir_parse_positions(struct arena *a, const char *text, size_t len, struct kir_module **ret,
                        struct kir_positions *positions, struct kiln_err *e)
{
    struct reader r = { .text = text, .p = text, .end = text + len, .line_start = text, .line = 1, .e = e };
    int rc;

    e->code = 0;
    *positions = (struct kir_positions){ .a = a };
    r.positions = positions;
    if (len > INT32_MAX)
        return kiln_err_set(e, KILN_E_LIMIT, 0, "a text has less than 2 GB");
    r.b = kir_builder_new();
    if (!r.b)
        return kiln_err_set(e, KILN_E_NOMEM, 0, NULL);
    arena_init(&r.a, 1ull << 32); /* as the builder's */
    rc = read_module(&r) ? finish(&r, a, ret) : -e->code;
    arena_done(&r.a);
    kir_builder_free(r.b);
    return rc;
}

int kir_parse(struct arena *a, const char *text, size_t len, struct kir_module **ret, struct kiln_err *e)
{
    struct kir_positions positions;

    return kir_parse_positions(a, text, len, ret, &positions, e);
}

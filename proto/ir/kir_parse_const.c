/* SPDX-License-Identifier: Apache-2.0
 * kir_parse_const.c - constants and user types of the text form. */
#include "proto/ir/kir_reader.h"

#define MAX_CONST_DEPTH 64u /* parentheses in a constant */

bool kir_label_const(struct reader *r, uint32_t *ret)
{
    uint32_t label;

    if (!kir_read_number(r, &label))
        return false;
    if (label >= r->n_labels || !r->labels[label])
        return kir_fail(r, "constant #%u is not defined before", label);
    *ret = r->labels[label] - 1;
    return true;
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
            return kir_no_memory(r);
        *ret = kir_b_bigint(r->b, !strcmp(copy, "-0") ? "" : copy);
    } else if (kir_is_word(r, "None")) {
        *ret = kir_b_none(r->b);
    } else if (kir_is_word(r, "...")) {
        *ret = kir_b_ellipsis(r->b);
    } else if (kir_is_word(r, "True") || kir_is_word(r, "False")) {
        *ret = kir_b_bool(r->b, *r->word == 'T');
    } else {
        if (!kir_read_float(r, &f))
            return false;
        *ret = kir_b_float(r->b, f);
        return kir_builder_ok(r);
    }
    return kir_builder_ok(r) && kir_next(r);
}

/* Constants up to the closing parenthesis. */
static bool read_items(struct reader *r, unsigned depth, uint32_t **ret, uint32_t *ret_n)
{
    uint32_t *items = NULL;
    size_t n = 0, cap = 0;

    while (r->token != T_CLOSE) {
        items = arena_grow(&r->a, items, n, &cap, sizeof *items);
        if (!items)
            return kir_no_memory(r);
        if (!kir_read_const(r, depth + 1, &items[n]))
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
    if (!kir_expect(r, T_LBRACKET, "'[' and dimensions"))
        return false;
    while (r->token != T_RBRACKET) {
        *ret = arena_grow(&r->a, *ret, n, &cap, sizeof **ret);
        if (!*ret)
            return kir_no_memory(r);
        if (!kir_read_number(r, &(*ret)[n]))
            return false;
        n++;
    }
    *ret_n = (uint32_t)n;
    return kir_next(r);
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
        if (!kir_read_float(r, &re) || !kir_read_float(r, &im))
            return false;
        *ret = kir_b_complex(r->b, re, im);
        return true;
    case KIR_K_TUPLE:
        if (!read_items(r, depth, &items, &n))
            return false;
        *ret = kir_b_tuple_const(r->b, items, n);
        return true;
    case KIR_K_SCALAR:
        if (!kir_read_name(r, &text, &n) || !kir_read_hex(r, &data, &n))
            return false;
        *ret = kir_b_scalar(r->b, text, data, n);
        return true;
    case KIR_K_TYPE:
        if (!kir_read_name(r, &text, &n))
            return false;
        *ret = kir_b_type(r->b, text);
        return true;
    case KIR_K_EXCEPTION:
        if (!kir_read_name(r, &text, &n))
            return false;
        *ret = kir_b_exception(r->b, text);
        return true;
    case KIR_K_ARRAY:
        if (!kir_read_name(r, &text, &n) || !read_dims(r, &items, &x) || !kir_read_hex(r, &data, &n))
            return false;
        *ret = kir_b_array(r->b, text, items, x, data, n);
        return true;
    case KIR_K_ENUM:
        if (!kir_read_number(r, &x) || !kir_read_number(r, &y))
            return false;
        *ret = kir_b_enum_member(r->b, x, y);
        return true;
    case KIR_K_NAMEDTUPLE:
        if (!kir_read_number(r, &x) || !read_items(r, depth, &items, &n))
            return false;
        *ret = kir_b_namedtuple(r->b, x, items, n);
        return true;
    case KIR_K_USERTYPE:
        if (!kir_read_number(r, &x))
            return false;
        *ret = kir_b_usertype_const(r->b, x);
        return true;
    default:
        return kir_fail(r, "unknown kind of constant");
    }
}

bool kir_read_const(struct reader *r, unsigned depth, uint32_t *ret)
{
    char word[32];
    uint32_t kind;

    switch (r->token) {
    case T_WORD:
        return word_const(r, ret);
    case T_LABEL:
        return kir_label_const(r, ret);
    case T_STRING:
        *ret = kir_b_str(r->b, r->word, r->len);
        return kir_builder_ok(r) && kir_next(r);
    case T_BYTES:
        *ret = kir_b_bytes(r->b, r->word, r->len);
        return kir_builder_ok(r) && kir_next(r);
    case T_OPEN:
        if (depth > MAX_CONST_DEPTH)
            return kir_fail(r, "a constant is nested more than %u deep: give its parts labels",
                            MAX_CONST_DEPTH);
        if (!kir_next(r))
            return false;
        kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_CONST, kir_word_text(r, word, sizeof word)) : 0;
        return kind ? kir_next(r) && read_compound(r, kind, depth, ret) && kir_builder_ok(r) &&
                          kir_expect(r, T_CLOSE, "')'")
                    : kir_fail(r, "unknown kind of constant");
    default:
        return kir_fail(r, "expected a constant");
    }
}

static bool set_label(struct reader *r, uint32_t label, uint32_t handle)
{
    if (label >= (size_t)(r->end - r->text)) /* each label takes bytes of the text */
        return kir_fail(r, "labels are small numbers");
    if (label >= r->n_labels) {
        size_t n = label + 1 > 2 * r->n_labels ? label + 1 : 2 * r->n_labels;
        uint32_t *bigger = arena_new_array(&r->a, n, uint32_t);
        if (!bigger)
            return kir_no_memory(r);
        if (r->n_labels)
            memcpy(bigger, r->labels, r->n_labels * sizeof *bigger);
        r->labels = bigger;
        r->n_labels = n;
    }
    if (r->labels[label])
        return kir_fail(r, "constant #%u is there already", label);
    r->labels[label] = handle + 1;
    return true;
}

/* (const #3 (tuple 1 2)), after the word. */
bool kir_read_table_const(struct reader *r)
{
    uint32_t label, handle;

    if (r->token != T_LABEL)
        return kir_fail(r, "expected a label such as #0");
    return kir_read_number(r, &label) && kir_read_const(r, 0, &handle) && set_label(r, label, handle) &&
           kir_expect(r, T_CLOSE, "')'");
}

/* A method's kind and function, after its name. */
static bool read_method(struct reader *r, struct kir_method *to)
{
    char word[32];

    to->kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_METHOD, kir_word_text(r, word, sizeof word)) : 0;
    if (!to->kind)
        return kir_fail(r, "expected the kind of a method");
    return kir_next(r) && kir_read_number(r, &to->function) && kir_ensure(r, 'f', to->function);
}

/* Whether what follows a name is a method's kind: the type of a field has no such name. */
static bool at_method(const struct reader *r, uint32_t kind)
{
    char word[32];

    return kind == KIR_UT_JITCLASS && r->token == T_WORD &&
           kir_enum_number(KIR_NAMES_METHOD, kir_word_text(r, word, sizeof word));
}

/* (usertype 0 namedtuple Point (x "") (y float64)), after the word. A class has methods behind its fields:
 * (area method 3). */
bool kir_read_usertype(struct reader *r, uint32_t number)
{
    const char *name, **names = NULL, **types = NULL;
    uint32_t kind, index, len, *consts = NULL;
    struct kir_method *methods = NULL;
    size_t n = 0, cap = 0, n_methods = 0, cap_methods = 0;
    char word[32];

    if (!kir_read_number(r, &index))
        return false;
    kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_USERTYPE, kir_word_text(r, word, sizeof word)) : 0;
    if (!kind || index != number)
        return kir_fail(r, kind ? "user types are numbered in order" : "unknown kind of user type");
    if (!kir_next(r) || !kir_read_name(r, &name, &len))
        return false;
    while (r->token == T_OPEN) {
        size_t cap_types = cap, cap_consts = cap;
        names = arena_grow(&r->a, names, n, &cap, sizeof *names);
        types = arena_grow(&r->a, types, n, &cap_types, sizeof *types);
        consts = arena_grow(&r->a, consts, n, &cap_consts, sizeof *consts);
        if (!names || !types || !consts)
            return kir_no_memory(r);
        if (!kir_next(r) || !kir_read_name(r, &names[n], &len))
            return false;
        if (at_method(r, kind)) {
            methods = arena_grow(&r->a, methods, n_methods, &cap_methods, sizeof *methods);
            if (!methods)
                return kir_no_memory(r);
            methods[n_methods].name = names[n];
            if (!read_method(r, &methods[n_methods++]) || !kir_expect(r, T_CLOSE, "')'"))
                return false;
            continue;
        }
        if (!(kir_is_enum(kind) ? kir_read_const(r, 0, &consts[n]) : kir_read_name(r, &types[n], &len)) ||
            !kir_expect(r, T_CLOSE, "')'"))
            return false;
        n++;
    }
    if (kir_b_usertype(r->b, (enum kir_usertype_kind)kind, name, (uint32_t)n, names, types, consts) !=
            number &&
        kir_builder_ok(r))
        return kir_fail(r, "a user type is there already");
    if (kind == KIR_UT_JITCLASS)
        kir_b_methods(r->b, number, methods, (uint32_t)n_methods);
    return kir_builder_ok(r) && kir_expect(r, T_CLOSE, "')'");
}

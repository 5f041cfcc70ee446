/* SPDX-License-Identifier: Apache-2.0
 * kir_print.c - a module as text. docs/kir.md is the grammar; kir_parse.c reads it.
 *
 * Trees are printed with an explicit stack, one frame a node that is open. Statements begin a line;
 * indentation stops growing at MAX_INDENT, or a deep tree would be quadratic in size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/ir/kir_private.h"
#include "proto/ir/kir_text.h"

#define MAX_INDENT 80u
#define INLINE_TEXT                                                                                          \
    80u /* bytes of a string that is written where it is used; longer ones once, in the table */

struct printer {
    const struct kir_module *m;
    struct buf *out;
    const struct kir_function *fn;
    struct open {
        const struct kir_node *n;
        const char *letters;
        uint32_t at, left;
        unsigned to_print; /* operands still to begin */
        unsigned indent;
        char letter;
        bool optional, brackets, unbracketed, fresh; /* fresh: right behind a bracket */
    } * stack;
    uint32_t depth, cap;
};

/* ---- constants ------------------------------------------------------------------------------------- */

static bool in_table(const struct kir_const *c)
{
    switch (c->kind) {
    case KIR_K_TUPLE:
    case KIR_K_NAMEDTUPLE:
    case KIR_K_ARRAY:
        return true;
    case KIR_K_STR:
    case KIR_K_BYTES:
    case KIR_K_BIGINT:
    case KIR_K_TYPE:
    case KIR_K_EXCEPTION:
        return c->s.len > INLINE_TEXT;
    default:
        return false;
    }
}

/* In quotes. Bytes that are not printable ASCII are escaped, in a str only control characters are. */
static void print_quoted(struct buf *out, const char *p, uint32_t len, bool bytes)
{
    buf_byte(out, '"');
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_str(out, "\\n");
        else if (c < 0x20 || c == 0x7f || (bytes && c > 0x7f))
            buf_printf(out, "\\x%02x", c);
        else
            buf_byte(out, c);
    }
    buf_byte(out, '"');
}

/* A word if it reads back as one: a dotted identifier. */
static void print_word(struct buf *out, const char *p, uint32_t len)
{
    bool word = len > 0 && !(p[0] >= '0' && p[0] <= '9') && p[0] != '.' && !(len == 1 && *p == '_');

    for (uint32_t i = 0; i < len && word; i++)
        word = kir_text_word_char(p[i]);
    if (word)
        buf_add(out, p, len);
    else
        print_quoted(out, p, len, false);
}

static void print_float(struct buf *out, double f)
{
    uint64_t bits;
    char s[40];

    memcpy(&bits, &f, 8);
    if (isnan(f)) {
        buf_printf(out, "nan:%016llx", (unsigned long long)bits);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back */
        snprintf(s, sizeof s, "%.*g", digits, f);
        if (strtod(s, NULL) == f)
            break;
    }
    buf_str(out, s);
    if (!strpbrk(s, ".en")) /* "1" would be an int; "inf" has an n */
        buf_str(out, ".0");
}

static void print_hex(struct buf *out, const unsigned char *p, uint32_t len)
{
    buf_byte(out, 'x');
    for (uint32_t i = 0; i < len; i++)
        buf_printf(out, "%02x", p[i]);
}

static void print_const_use(struct printer *k, uint32_t c);

static void print_items(struct printer *k, const struct kir_const *c)
{
    for (uint32_t i = 0; i < c->n_items; i++) {
        buf_byte(k->out, ' ');
        print_const_use(k, c->items[i]);
    }
}

static void print_int(struct buf *out, const struct kir_const *c)
{
    if (c->i.is_unsigned)
        buf_printf(out, "%llu", (unsigned long long)c->i.bits);
    else
        buf_printf(out, "%lld", (long long)c->i.bits);
}

static void print_array(struct buf *out, const struct kir_const *c)
{
    buf_str(out, "(array ");
    print_word(out, c->s.p, c->s.len);
    buf_str(out, " [");
    for (uint32_t i = 0; i < c->n_items; i++)
        buf_printf(out, i ? " %u" : "%u", c->items[i]);
    buf_str(out, "] ");
    print_hex(out, c->data, c->data_len);
    buf_byte(out, ')');
}

static void print_const(struct printer *k, const struct kir_const *c)
{
    struct buf *out = k->out;

    switch (c->kind) {
    case KIR_K_NONE:
        buf_str(out, "None");
        break;
    case KIR_K_ELLIPSIS:
        buf_str(out, "...");
        break;
    case KIR_K_BOOL:
        buf_str(out, c->b ? "True" : "False");
        break;
    case KIR_K_INT:
        print_int(out, c);
        break;
    case KIR_K_BIGINT:
        buf_add(out, c->s.p, c->s.len);
        break;
    case KIR_K_FLOAT:
        print_float(out, c->f);
        break;
    case KIR_K_COMPLEX:
        buf_str(out, "(complex ");
        print_float(out, c->c.re);
        buf_byte(out, ' ');
        print_float(out, c->c.im);
        buf_byte(out, ')');
        break;
    case KIR_K_STR:
        print_quoted(out, c->s.p, c->s.len, false);
        break;
    case KIR_K_BYTES:
        buf_byte(out, 'b');
        print_quoted(out, c->s.p, c->s.len, true);
        break;
    case KIR_K_TUPLE:
        buf_str(out, "(tuple");
        print_items(k, c);
        buf_byte(out, ')');
        break;
    case KIR_K_SCALAR:
        buf_str(out, "(scalar ");
        print_word(out, c->s.p, c->s.len);
        buf_byte(out, ' ');
        print_hex(out, c->data, c->data_len);
        buf_byte(out, ')');
        break;
    case KIR_K_TYPE:
    case KIR_K_EXCEPTION:
        buf_printf(out, "(%s ", kir_enum_text(KIR_NAMES_CONST, c->kind));
        print_word(out, c->s.p, c->s.len);
        buf_byte(out, ')');
        break;
    case KIR_K_ARRAY:
        print_array(out, c);
        break;
    case KIR_K_ENUM:
        buf_printf(out, "(enum %u %u)", c->usertype, c->items[0]);
        break;
    case KIR_K_NAMEDTUPLE:
        buf_printf(out, "(namedtuple %u", c->usertype);
        print_items(k, c);
        buf_byte(out, ')');
        break;
    case KIR_K_USERTYPE:
        buf_printf(out, "(usertype %u)", c->usertype);
        break;
    case KIR_K__END:
        break;
    }
}

/* Where a constant is used: its label, or itself if it is small. */
static void print_const_use(struct printer *k, uint32_t c)
{
    if (in_table(&k->m->consts[c]))
        buf_printf(k->out, "#%u", c);
    else
        print_const(k, &k->m->consts[c]);
}

static void print_usertype(struct printer *k, uint32_t i)
{
    const struct kir_usertype *t = &k->m->usertypes[i];

    buf_printf(k->out, "\n  (usertype %u %s ", i, kir_enum_text(KIR_NAMES_USERTYPE, t->kind));
    print_word(k->out, t->name, (uint32_t)strlen(t->name));
    for (uint32_t f = 0; f < t->n_fields; f++) {
        buf_str(k->out, " (");
        print_word(k->out, t->field_names[f], (uint32_t)strlen(t->field_names[f]));
        buf_byte(k->out, ' ');
        if (kir_is_enum(t->kind))
            print_const_use(k, t->field_consts[f]);
        else
            print_word(k->out, t->field_types[f], (uint32_t)strlen(t->field_types[f]));
        buf_byte(k->out, ')');
    }
    for (uint32_t m = 0; m < t->n_methods; m++) {
        buf_str(k->out, " (");
        print_word(k->out, t->methods[m].name, (uint32_t)strlen(t->methods[m].name));
        buf_printf(k->out, " %s %u)", kir_enum_text(KIR_NAMES_METHOD, t->methods[m].kind),
                   t->methods[m].function);
    }
    buf_byte(k->out, ')');
}

/* User types and the constants with a label, each after what it refers to: an enum's values may be in the
 * table, and a named tuple in the table has its user type. */
static void print_tables(struct printer *k)
{
    uint32_t next_usertype = 0;

    for (uint32_t i = 0; i < k->m->n_consts; i++) {
        const struct kir_const *c = &k->m->consts[i];
        bool user = c->kind == KIR_K_ENUM || c->kind == KIR_K_NAMEDTUPLE || c->kind == KIR_K_USERTYPE;
        while (user && next_usertype <= c->usertype)
            print_usertype(k, next_usertype++);
        if (!in_table(c))
            continue;
        buf_printf(k->out, "\n  (const #%u ", i);
        print_const(k, c);
        buf_byte(k->out, ')');
    }
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

/* Operands up to the last one that is not absent or empty: what follows it is left out. */
static unsigned significant_operands(const struct kir_node *n)
{
    unsigned count = 0, last = 0;
    uint32_t at = 0;

    for (const char *s = kir_opinfo(n->op)->operands; *s; s++) {
        char kind = *s == '?' || *s == '*' ? *s++ : 0;
        count++;
        if (!kind || n->args[at])
            last = count;
        at += kind == '*' ? 1 + n->args[at] : 1;
    }
    return last;
}

static bool open_node(struct printer *k, const struct kir_node *n, unsigned indent)
{
    const struct kir_opinfo *info = kir_opinfo(n->op);

    if (k->depth == k->cap) {
        uint32_t cap = k->cap ? k->cap * 2 : 64;
        struct open *bigger = realloc(k->stack, cap * sizeof *bigger);
        if (!bigger)
            return false;
        k->stack = bigger;
        k->cap = cap;
    }
    k->stack[k->depth++] = (struct open){ .n = n,
                                          .letters = info->operands,
                                          .to_print = significant_operands(n),
                                          .indent = indent,
                                          .unbracketed = kir_text_last_list_only(info->operands) };
    buf_printf(k->out, "(%s", info->text);
    return true;
}

static void new_line(struct buf *out, unsigned indent)
{
    buf_printf(out, "\n%*s", (int)(indent < MAX_INDENT ? indent : MAX_INDENT), "");
}

static bool print_node_operand(struct printer *k, struct open *o, uint32_t x)
{
    const struct kir_node *n = &k->fn->nodes[x];
    bool line = strchr("SBHGW", kir_opinfo(n->op)->class) != NULL;
    unsigned indent = line ? o->indent + 2 : o->indent;

    if (line)
        new_line(k->out, indent);
    else if (!o->fresh)
        buf_byte(k->out, ' ');
    o->fresh = false;
    return open_node(k, n, indent);
}

static bool print_operand(struct printer *k, struct open *o, uint32_t x)
{
    struct buf *out = k->out;
    const char *text;

    if (strchr("etbSghw", o->letter))
        return print_node_operand(k, o, x);
    if (!o->fresh)
        buf_byte(out, ' ');
    o->fresh = false;
    switch (o->letter) {
    case 'c':
        print_const_use(k, x);
        break;
    case 's':
        if (in_table(&k->m->consts[x]))
            buf_printf(out, "#%u", x);
        else
            print_word(out, k->m->consts[x].s.p, k->m->consts[x].s.len);
        break;
    case 'i':
        text = kir_enum_text(o->n->op, x);
        if (text)
            buf_str(out, text);
        else if (x)
            buf_byte(out, (unsigned char)x); /* FORMAT's conversion */
        else
            buf_byte(out, '0');
        break;
    default:
        buf_printf(out, "%u", x);
        break;
    }
    return true;
}

/* One step of the topmost open node: an operand, a bracket, or its end. */
static bool print_step(struct printer *k)
{
    struct open *o = &k->stack[k->depth - 1];

    if (o->left) {
        o->left--;
        uint32_t x = o->n->args[o->at++];
        return print_operand(k, o, x);
    }
    if (o->brackets) {
        o->brackets = o->fresh = false;
        buf_byte(k->out, ']');
        return true;
    }
    if (o->to_print == 0) {
        buf_byte(k->out, ')');
        k->depth--;
        return true;
    }
    o->to_print--;
    char kind = *o->letters == '?' || *o->letters == '*' ? *o->letters++ : 0;
    o->letter = *o->letters++;
    uint32_t x = o->n->args[o->at++];
    if (kind == '*') {
        o->left = x;
        o->brackets = o->fresh = !o->unbracketed;
        buf_str(k->out, o->brackets ? " [" : "");
        return true;
    }
    if (kind == '?' && x == 0) {
        buf_str(k->out, " _");
        return true;
    }
    return print_operand(k, o, kind == '?' ? x - 1 : x);
}

static void print_params(struct printer *k)
{
    buf_str(k->out, " (params");
    for (uint32_t i = 0; i < k->fn->n_params; i++) {
        const struct kir_param *p = &k->fn->params[i];
        buf_str(k->out, " (");
        print_word(k->out, p->name, (uint32_t)strlen(p->name));
        buf_printf(k->out, " %s", kir_enum_text(KIR_NAMES_PARAM, p->kind));
        if (p->default_plus_1) {
            buf_byte(k->out, ' ');
            print_const_use(k, p->default_plus_1 - 1);
        }
        buf_byte(k->out, ')');
    }
    buf_byte(k->out, ')');
}

static bool print_function(struct printer *k, uint32_t i)
{
    k->fn = &k->m->functions[i];
    buf_printf(k->out, "\n  (function %u", i);
    print_params(k);
    if (k->fn->n_free)
        buf_printf(k->out, " (free %u)", k->fn->n_free);
    if (k->fn->flags) {
        buf_str(k->out, " (flags");
        for (uint32_t bit = 1; bit; bit <<= 1)
            if (k->fn->flags & bit)
                buf_printf(k->out, " %s", kir_flag_text(bit) ? kir_flag_text(bit) : "?");
        buf_byte(k->out, ')');
    }
    new_line(k->out, 4);
    if (!open_node(k, &k->fn->nodes[k->fn->n_nodes - 1], 4))
        return false;
    while (k->depth && buf_ok(k->out))
        if (!print_step(k))
            return false;
    buf_byte(k->out, ')');
    return true;
}

int kir_print(const struct kir_module *m, struct buf *out, struct kiln_err *e)
{
    struct printer k = { .m = m, .out = out };
    bool memory = true;

    buf_printf(out, "(kir %u", KIR_VERSION);
    print_tables(&k);
    for (uint32_t i = 0; memory && i < m->n_functions; i++)
        memory = print_function(&k, i);
    buf_str(out, ")\n");
    free(k.stack);
    if (!memory)
        return kiln_err_set(e, KILN_E_NOMEM, 0, NULL);
    return buf_ok(out) ? 0 : kiln_err_set(e, KILN_E_LIMIT, 0, "the text of the module is too long");
}

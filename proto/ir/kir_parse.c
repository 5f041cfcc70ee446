/* SPDX-License-Identifier: Apache-2.0
 * kir_parse.c - the text form to a module, by way of the builder: nodes and functions.
 *
 * Nodes are read with an explicit stack. A frame's operands are gathered, in wire form, on top of one array
 * of values; when a node closes, they are taken off and its number goes on, as an operand of its parent. */
#include "proto/ir/kir_reader.h"
#include "proto/ir/kir_text.h"

static bool push(struct reader *r, uint32_t v)
{
    r->vals = arena_grow(&r->a, r->vals, r->n_vals, &r->cap_vals, sizeof *r->vals);
    if (!r->vals)
        return kir_no_memory(r);
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
    const char *text = kir_word_text(r, word, sizeof word);

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

    if (!kir_expect(r, T_OPEN, "a node in parentheses"))
        return false;
    op = op_named(r);
    if (!op)
        return kir_fail(r, "'%.*s' is no node", (int)(r->len < 40 ? r->len : 40), r->word);
    r->frames = arena_grow(&r->a, r->frames, r->n_frames, &r->cap_frames, sizeof *r->frames);
    if (!r->frames)
        return kir_no_memory(r);
    const char *letters = kir_opinfo(op)->operands;
    r->frames[r->n_frames++] = (struct frame){ .op = (enum kir_op)op,
                                               .letters = letters,
                                               .base = r->n_vals,
                                               .unbracketed = kir_text_last_list_only(letters),
                                               .at = at };
    return kir_next(r);
}

/* Handles of functions, locals and slots are made when they are first named. A number is at most as large
 * as the text is long, so that a short text cannot ask for much. */
bool kir_ensure(struct reader *r, char letter, uint32_t x)
{
    uint32_t *n = letter == 'f' ? &r->n_functions : letter == 'l' ? &r->n_locals : &r->n_env;

    if (x >= (size_t)(r->end - r->text))
        return kir_fail(r, "%u is too large a number for a text of this length", x);
    while (*n <= x) {
        (void)(letter == 'f'   ? kir_b_function(r->b)
               : letter == 'l' ? kir_b_new_local(r->b, r->func)
                               : kir_b_new_env(r->b));
        ++*n;
    }
    return kir_builder_ok(r);
}

static bool read_enum(struct reader *r, enum kir_op op)
{
    char word[32];
    uint32_t x;

    if (r->token != T_WORD)
        return kir_fail(r, "expected an operator or kind");
    x = kir_enum_number(op, kir_word_text(r, word, sizeof word));
    if (op == KIR_FORMAT && r->len == 1 && strchr("0sra", *r->word))
        x = *r->word == '0' ? 0 : (unsigned char)*r->word;
    else if (!x)
        return kir_fail(r, "'%.*s' is no operator or kind of %s", (int)(r->len < 40 ? r->len : 40), r->word,
                        kir_opinfo(op)->text);
    return give(r, x) && kir_next(r);
}

/* One operand by its letter; nodes only begin here. */
static bool read_operand(struct reader *r, char letter)
{
    const char *text;
    uint32_t x, len;

    switch (letter) {
    case 'c':
        return kir_read_const(r, 0, &x) && give(r, x);
    case 's':
        if (r->token == T_LABEL)
            return kir_label_const(r, &x) && give(r, x);
        return kir_read_name(r, &text, &len) && give(r, kir_b_str(r->b, text, len));
    case 'i':
        return read_enum(r, r->frames[r->n_frames - 1].op);
    case 'u':
        return kir_read_number(r, &x) && give(r, x);
    case 'l':
    case 'f':
    case 'v':
        return kir_read_number(r, &x) && kir_ensure(r, letter, x) && give(r, x);
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
            return kir_no_memory(r);
        p->cap_functions = (uint32_t)cap;
        p->functions[p->n_functions++] = (struct kir_function_positions){ 0 };
    }
    struct kir_function_positions *fp = &p->functions[r->func];
    cap = fp->cap;
    fp->nodes = arena_grow(p->a, fp->nodes, n, &cap, sizeof *fp->nodes);
    if (!fp->nodes)
        return kir_no_memory(r);
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
            return kir_fail(r, "%s has more operands", kir_opinfo(f->op)->text);
        f->letters++;
        if (!push(r, 0))
            return false;
    }
    node = kir_b_node(r->b, r->func, f->op, r->vals + f->base, r->n_vals - f->base);
    if (!kir_builder_ok(r) || !note_position(r, f, node))
        return false;
    r->n_vals = f->base;
    r->n_frames--;
    if (!kir_next(r))
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
        return push(r, 0) && (!f->brackets || kir_expect(r, T_LBRACKET, "'[' and a list"));
    }
    if (kind == '?') {
        if (kir_is_word(r, "_"))
            return push(r, 0) && kir_next(r);
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
            return f->brackets ? kir_next(r) : close_node(r);
        }
        return read_operand(r, f->letter);
    }
    if (r->token == T_CLOSE)
        return close_node(r);
    if (!*f->letters)
        return kir_fail(r, "%s has no more operands", kir_opinfo(f->op)->text);
    return begin_operand(r, f);
}

/* ---- functions and module -------------------------------------------------------------------------- */

static bool read_params(struct reader *r)
{
    while (r->token == T_OPEN) {
        const char *name;
        char word[32];
        uint32_t len, kind, value = KIR_NIL;
        if (!kir_next(r) || !kir_read_name(r, &name, &len))
            return false;
        kind = r->token == T_WORD ? kir_enum_number(KIR_NAMES_PARAM, kir_word_text(r, word, sizeof word)) : 0;
        if (!kind)
            return kir_fail(r, "expected posonly, normal, star, kwonly or kwstar");
        if (!kir_next(r) || (r->token != T_CLOSE && !kir_read_const(r, 0, &value)) ||
            !kir_expect(r, T_CLOSE, "')'"))
            return false;
        kir_b_param(r->b, r->func, name, (enum kir_param_kind)kind, value);
        r->n_locals++;
        if (!kir_builder_ok(r))
            return false;
    }
    return kir_expect(r, T_CLOSE, "')'");
}

static bool read_flags(struct reader *r)
{
    uint32_t flags = 0, bit;
    char word[32];

    for (; r->token == T_WORD; flags |= bit) {
        bit = kir_flag_bit(kir_word_text(r, word, sizeof word));
        if (!bit)
            return kir_fail(r, "'%.*s' is no flag", (int)(r->len < 40 ? r->len : 40), r->word);
        if (!kir_next(r))
            return false;
    }
    kir_b_flags(r->b, r->func, flags);
    return kir_expect(r, T_CLOSE, "')'");
}

static bool read_free(struct reader *r)
{
    uint32_t n;

    if (!kir_read_number(r, &n))
        return false;
    if (n >= (size_t)(r->end - r->text))
        return kir_fail(r, "%u is too large a number for a text of this length", n);
    while (n--)
        kir_b_new_free(r->b, r->func);
    return kir_builder_ok(r) && kir_expect(r, T_CLOSE, "')'");
}

/* (function 0 (params ...) (free n) (flags ...) BLOCK), after the word. */
static bool read_function(struct reader *r, uint32_t number)
{
    uint32_t index;

    if (!kir_read_number(r, &index))
        return false;
    if (index != number)
        return kir_fail(r, "functions are numbered in order: this is %u", number);
    r->func = index;
    r->n_locals = 0;
    if (!kir_ensure(r, 'f', index))
        return false;
    for (;;) {
        const char *after;
        uint32_t line = r->line;
        const char *line_start = r->line_start;
        if (r->token != T_OPEN)
            return kir_fail(r, "expected (params ...), (free n), (flags ...) or the body");
        after = r->p;
        struct place at = r->at;
        if (!kir_next(r))
            return false;
        bool params = kir_is_word(r, "params"), flags = kir_is_word(r, "flags");
        if (params || flags || kir_is_word(r, "free")) { /* `free` is a node too, but never a body */
            if (!kir_next(r) || !(params ? read_params(r) : flags ? read_flags(r) : read_free(r)))
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
    return kir_expect(r, T_CLOSE, "')'");
}

static bool read_module(struct reader *r)
{
    uint32_t version, n_usertypes = 0, n_functions = 0;

    if (!kir_next(r) || !kir_expect(r, T_OPEN, "(kir ...)"))
        return false;
    if (!kir_is_word(r, "kir"))
        return kir_fail(r, "expected 'kir'");
    if (!kir_next(r) || !kir_read_number(r, &version))
        return false;
    if (version != KIR_VERSION) {
        kiln_err_set(r->e, KILN_E_KIR_VERSION, 0, "the text has KIR version %u, this is version %u", version,
                     KIR_VERSION);
        return false;
    }
    while (r->token == T_OPEN) {
        bool ok;
        if (!kir_next(r))
            return false;
        if (kir_is_word(r, "const"))
            ok = kir_next(r) && kir_read_table_const(r);
        else if (kir_is_word(r, "usertype"))
            ok = kir_next(r) && kir_read_usertype(r, n_usertypes++);
        else if (kir_is_word(r, "function"))
            ok = kir_next(r) && read_function(r, n_functions++);
        else
            ok = kir_fail(r, "expected const, usertype or function");
        if (!ok)
            return false;
    }
    if (!kir_expect(r, T_CLOSE, "')'"))
        return false;
    return r->token == T_END || kir_fail(r, "text follows the module");
}

/* From the text's numbers of functions to the module's. */
static bool renumber(const struct kir_builder *b, struct kir_positions *p)
{
    struct kir_function_positions *functions =
        arena_new_array(p->a, p->n_functions, struct kir_function_positions);

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

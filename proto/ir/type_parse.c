/* SPDX-License-Identifier: Apache-2.0
 * type_parse.c - type texts: our canonical ones and Numba's spellings. docs/signatures.md is the grammar.
 *
 * Recursive descent, bounded by TYPE_MAX_DEPTH. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/ir/type_private.h"

struct alias {
    const char *name;
    enum type_kind kind;
};

/* Other names of scalars. Integers of C without a fixed width are those of LP64 on every target, so that a
 * signature means the same everywhere. */
static const struct alias aliases[] = {
    { "void", TY_NONE },      { "None", TY_NONE },     { "NoneType", TY_NONE },  { "boolean", TY_BOOL },
    { "bool_", TY_BOOL },     { "b1", TY_BOOL },       { "i1", TY_INT8 },        { "i2", TY_INT16 },
    { "i4", TY_INT32 },       { "i8", TY_INT64 },      { "u1", TY_UINT8 },       { "u2", TY_UINT16 },
    { "u4", TY_UINT32 },      { "u8", TY_UINT64 },     { "f2", TY_FLOAT16 },     { "f4", TY_FLOAT32 },
    { "f8", TY_FLOAT64 },     { "c8", TY_COMPLEX64 },  { "c16", TY_COMPLEX128 }, { "char", TY_INT8 },
    { "byte", TY_UINT8 },     { "uchar", TY_UINT8 },   { "short", TY_INT16 },    { "ushort", TY_UINT16 },
    { "intc", TY_INT32 },     { "uintc", TY_UINT32 },  { "int", TY_INT64 },      { "int_", TY_INT64 },
    { "uint", TY_UINT64 },    { "intp", TY_INT64 },    { "uintp", TY_UINT64 },   { "long_", TY_INT64 },
    { "long", TY_INT64 },     { "ulong", TY_UINT64 },  { "longlong", TY_INT64 }, { "ulonglong", TY_UINT64 },
    { "size_t", TY_UINT64 },  { "ssize_t", TY_INT64 }, { "half", TY_FLOAT16 },   { "single", TY_FLOAT32 },
    { "float_", TY_FLOAT32 }, { "float", TY_FLOAT64 }, { "double", TY_FLOAT64 }, { "complex", TY_COMPLEX128 },
    { "string", TY_STR },     { "str", TY_STR },
};
#define N_ALIASES (sizeof aliases / sizeof aliases[0])

static const char *const constructors[] = { "Array",   "Tuple",  "UniTuple",    "NamedTuple", "optional", "CPointer",
                                            "voidptr", "Record", "nestedarray", "Enum",       "IntEnum",  "class",
                                            "list",    "set",    "dict",        "function",   "NPDatetime",  "NPTimedelta" };
#define N_CONSTRUCTORS (sizeof constructors / sizeof constructors[0])

int type_fail(struct type_reader *r, size_t at, const char *fmt, ...)
{
    char msg[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return kiln_err_set(r->e, KILN_E_SIGNATURE, 0, "column %zu: %s", at + 1, msg);
}

void type_skip_space(struct type_reader *r)
{
    while (r->at < r->len && (r->text[r->at] == ' ' || r->text[r->at] == '\t' || r->text[r->at] == '\n'))
        r->at++;
}

bool type_take(struct type_reader *r, char c)
{
    type_skip_space(r);
    if (r->at >= r->len || r->text[r->at] != c)
        return false;
    r->at++;
    return true;
}

bool type_expect(struct type_reader *r, char c)
{
    if (type_take(r, c))
        return true;
    if (r->at >= r->len)
        type_fail(r, r->at, "expected '%c' but the text ends", c);
    else
        type_fail(r, r->at, "expected '%c' before '%.*s'", c, 1, r->text + r->at);
    return false;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A word at the position, "" if there is none. */
void type_read_word(struct type_reader *r, char *word, size_t cap, size_t *ret_at)
{
    size_t n = 0;

    type_skip_space(r);
    *ret_at = r->at;
    while (r->at < r->len && is_name_char(r->text[r->at])) {
        if (n + 1 < cap)
            word[n++] = r->text[r->at];
        r->at++;
    }
    word[n] = '\0';
}

/* Number of single-character changes between two words of at most 31 characters. */
static unsigned distance(const char *x, const char *y)
{
    unsigned row[32], n = (unsigned)strlen(y);

    if (n > 31 || strlen(x) > 31)
        return 99;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 0; x[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < n; j++) {
            unsigned up = row[j + 1], best = diagonal + (x[i] != y[j]);
            if (up + 1 < best)
                best = up + 1;
            if (row[j] + 1 < best)
                best = row[j] + 1;
            row[j + 1] = best;
            diagonal = up;
        }
    }
    return row[n];
}

static void consider(const char *word, const char *name, unsigned *best, const char **ret)
{
    unsigned d = distance(word, name);

    if (d < *best) {
        *best = d;
        *ret = name;
    }
}

/* The known name closest to a word, NULL if none is close. Canonical names win over others. */
static const char *nearest(const char *word)
{
    unsigned best = strlen(word) < 4 ? 2 : 4;
    const char *found = NULL;

    for (int k = 0; k < TY__COUNT; k++)
        if (*type_kind_text(k))
            consider(word, type_kind_text(k), &best, &found);
    for (size_t i = 0; i < N_CONSTRUCTORS; i++)
        consider(word, constructors[i], &best, &found);
    for (size_t i = 0; i < N_ALIASES; i++)
        consider(word, aliases[i].name, &best, &found);
    return found;
}

/* The kind of a scalar's name, -1 if it is none. */
static int scalar_named(const char *word)
{
    for (int k = 0; k < TY__COUNT; k++)
        if (*word && !strcmp(type_kind_text(k), word))
            return k;
    for (size_t i = 0; i < N_ALIASES; i++)
        if (!strcmp(aliases[i].name, word))
            return (int)aliases[i].kind;
    return -1;
}

const struct type *type_made(struct type_reader *r, const struct type *t)
{
    if (!t && type_was_too_large(r->table))
        type_fail(r, r->at, "type is too large");
    else if (!t)
        kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    return t;
}

bool type_read_number(struct type_reader *r, unsigned max, unsigned *ret)
{
    char word[16];
    size_t at;
    unsigned v = 0;

    type_read_word(r, word, sizeof word, &at);
    for (const char *s = word; *s; s++) {
        if (*s == 'd' && !s[1] && s > word) /* Numba prints "2d" */
            break;
        if (*s < '0' || *s > '9' || (v = v * 10 + (unsigned)(*s - '0')) > max) {
            type_fail(r, at, "expected a number up to %u, not '%s'", max, word);
            return false;
        }
    }
    if (!*word) {
        type_fail(r, at, "expected a number up to %u", max);
        return false;
    }
    *ret = v;
    return true;
}

static bool read_layout(struct type_reader *r, char *ret)
{
    char word[8], quote = 0;
    size_t at;

    if (type_take(r, '\''))
        quote = '\'';
    else if (type_take(r, '"'))
        quote = '"';
    type_read_word(r, word, sizeof word, &at);
    if (strlen(word) != 1 || !strchr("CFA", word[0])) {
        type_fail(r, at, "expected the layout 'C', 'F' or 'A', not '%s'", word);
        return false;
    }
    *ret = word[0];
    return !quote || type_expect(r, quote);
}

bool type_read_bool(struct type_reader *r, bool *ret)
{
    char word[8];
    size_t at;

    type_read_word(r, word, sizeof word, &at);
    *ret = !strcmp(word, "True");
    if (*ret || !strcmp(word, "False"))
        return true;
    type_fail(r, at, "expected True or False, not '%s'", word);
    return false;
}

/* A keyword and its '='; the position stays where it was if there is none. */
static bool read_keyword(struct type_reader *r, char *word, size_t cap, size_t *ret_at)
{
    size_t start = r->at;

    type_read_word(r, word, cap, ret_at);
    if (*word && type_take(r, '='))
        return true;
    r->at = start;
    *word = '\0';
    return false;
}

static const struct type *array_of(struct type_reader *r, size_t at, const struct type *elem, unsigned ndim,
                                   char layout, bool readonly, bool aligned)
{
    if (type_numpy(elem) < 0) {
        struct buf b;
        buf_init(&b, 256);
        type_print(&b, elem);
        type_fail(r, at, "arrays hold numbers of a fixed size, not %s", buf_cstr(&b));
        buf_done(&b);
        return NULL;
    }
    return type_made(r, type_array(r->table, elem, ndim, layout, readonly, !aligned));
}

/* Array(elem, ndim, layout, readonly, aligned): the last two, and any, by keyword. */
static const struct type *read_array(struct type_reader *r, size_t at, bool readonly)
{
    static const char *const names[] = { "dtype", "ndim", "layout", "readonly", "aligned" };
    const struct type *elem = NULL;
    unsigned ndim = 0, seen = 0;
    char layout = 'A';
    bool aligned = true;

    for (unsigned k = 0; !type_take(r, ')'); k++) {
        unsigned which = k;
        char word[16];
        size_t word_at;
        if (k && (!type_expect(r, ',') || type_take(r, ')'))) {
            if (r->e->code)
                return NULL;
            break;
        }
        if (read_keyword(r, word, sizeof word, &word_at))
            for (which = 0; which < 5 && strcmp(names[which], word);)
                which++;
        if (which > 4 || (seen & 1u << which)) {
            type_fail(r, r->at, "Array takes dtype, ndim, layout, readonly and aligned, each once");
            return NULL;
        }
        seen |= 1u << which;
        if ((which == 0 && !(elem = type_read(r))) || (which == 1 && !type_read_number(r, TYPE_MAX_NDIM, &ndim)) ||
            (which == 2 && !read_layout(r, &layout)) || (which == 3 && !type_read_bool(r, &readonly)) ||
            (which == 4 && !type_read_bool(r, &aligned)))
            return NULL;
    }
    if ((seen & 7u) != 7u) {
        type_fail(r, at, "Array needs an element type, a number of dimensions and a layout");
        return NULL;
    }
    return array_of(r, at, elem, ndim, layout, readonly, aligned);
}

/* Items up to the closing character; a trailing comma is fine. */
static const struct type *read_items(struct type_reader *r, char close, uint32_t usertype_plus_1)
{
    const struct type **items = NULL;
    const struct type *t = NULL;
    size_t n = 0, cap = 0;
    struct arena scratch;

    arena_init(&scratch, 1u << 20);
    while (!type_take(r, close)) {
        items = n && !type_expect(r, ',') ? NULL : arena_grow(&scratch, items, n, &cap, sizeof *items);
        if (!items || n >= TYPE_MAX_PARTS) {
            if (!r->e->code && n >= TYPE_MAX_PARTS)
                type_fail(r, r->at, "type is too large");
            else if (!r->e->code)
                kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
            goto out;
        }
        if (n && type_take(r, close))
            break;
        if (!(items[n] = type_read(r)))
            goto out;
        n++;
    }
    t = type_made(r, type_tuple(r->table, items, (uint32_t)n, usertype_plus_1));
out:
    arena_done(&scratch);
    return t;
}

/* Tuple((a, b)), Tuple([a, b]) and Tuple(a, b). */
static const struct type *read_tuple(struct type_reader *r, uint32_t usertype_plus_1)
{
    const struct type *t;
    bool round = type_take(r, '('), square = !round && type_take(r, '[');

    t = read_items(r, square ? ']' : ')', usertype_plus_1);
    if (!t || (!round && !square))
        return t;
    type_take(r, ',');
    return type_expect(r, ')') ? t : NULL;
}

/* UniTuple(a, 3), and "UniTuple(a x 3)" as Numba prints it. */
static const struct type *read_unituple(struct type_reader *r)
{
    const struct type **items, *elem = type_read(r), *t = NULL;
    struct arena scratch;
    unsigned n;

    if (!elem)
        return NULL;
    type_skip_space(r);
    if (!type_take(r, 'x') && !type_expect(r, ','))
        return NULL;
    if (!type_read_number(r, TYPE_MAX_PARTS, &n) || !type_expect(r, ')'))
        return NULL;
    arena_init(&scratch, 1u << 20);
    items = arena_new_array(&scratch, n, const struct type *);
    for (unsigned i = 0; items && i < n; i++)
        items[i] = elem;
    if (items)
        t = type_made(r, type_tuple(r->table, items, n, 0));
    else
        kiln_err_set(r->e, KILN_E_NOMEM, 0, NULL);
    arena_done(&scratch);
    return t;
}

static const struct type *read_named_tuple(struct type_reader *r)
{
    unsigned n;

    if (!type_read_number(r, 1u << 20, &n) || !type_expect(r, ',') || !type_expect(r, '('))
        return NULL;
    const struct type *t = read_items(r, ')', n + 1);
    return t && type_expect(r, ')') ? t : NULL;
}

/* Enum(2), IntEnum(2): a user type of the module. function(2): a function of it. */
static const struct type *read_numbered(struct type_reader *r, enum type_kind kind)
{
    unsigned n;

    if (!type_read_number(r, 1u << 20, &n) || !type_expect(r, ')'))
        return NULL;
    return type_made(r, kind == TY_FUNCTION ? type_function(r->table, false, n, NULL, 0)
                                            : type_user(r->table, kind, n + 1));
}

static const struct type *read_wrapped(struct type_reader *r, enum type_kind kind)
{
    const struct type *elem = type_read(r);

    if (!elem || !type_expect(r, ')'))
        return NULL;
    return type_made(r, kind == TY_OPTIONAL && (elem->kind == TY_OPTIONAL || elem->kind == TY_NONE)
                       ? elem
                       : type_of(r->table, kind, elem));
}

static const struct type *read_container(struct type_reader *r, enum type_kind kind, bool typed)
{
    const struct type *a = type_read(r), *b = NULL;

    if (!a || (kind == TY_DICT && (!type_expect(r, ',') || !(b = type_read(r)))) || !type_expect(r, ')'))
        return NULL;
    return type_made(r, type_container(r->table, kind, a, b, typed, 0));
}

static const struct {
    const char *name;
    enum type_kind kind;
    bool typed;
} containers[] = { { "list", TY_LIST, false },    { "List", TY_LIST, false },    { "set", TY_SET, false },
                   { "Set", TY_SET, false },      { "dict", TY_DICT, false },    { "ListType", TY_LIST, true },
                   { "SetType", TY_SET, true },   { "DictType", TY_DICT, true } };
static const struct alias numbered[] = { { "Enum", TY_ENUM }, { "IntEnum", TY_INTENUM }, { "function", TY_FUNCTION },
                                        { "object", TY_OBJECT } };

/* NPDatetime('ns'), after the parenthesis; Numba prints datetime64[ns]. */
static const struct type *read_time(struct type_reader *r, bool datetime, char close)
{
    char unit[8], quote = 0;
    size_t at;

    if (close == ')')
        quote = type_take(r, '"') ? '"' : '\'';
    if (quote == '\'' && !type_expect(r, quote))
        return NULL;
    type_read_word(r, unit, sizeof unit, &at);
    const struct type *t = type_time(r->table, datetime, unit);
    if (!t)
        type_fail(r, at, "'%s' is no unit of time", unit);
    return t && (!quote || type_expect(r, quote)) && type_expect(r, close) ? type_made(r, t) : NULL;
}

/* What stands before "[...]". */
static const struct type *read_primary(struct type_reader *r)
{
    char word[32];
    size_t at;
    bool readonly = false;
    int kind;

    type_read_word(r, word, sizeof word, &at);
    if (!strcmp(word, "reflected")) /* "reflected list(int64)", as Numba prints it */
        type_read_word(r, word, sizeof word, &at);
    if (!strcmp(word, "readonly")) { /* "readonly array(float64, 1d, C)", as Numba prints it */
        readonly = true;
        type_read_word(r, word, sizeof word, &at);
    }
    while (r->at < r->len && r->text[r->at] == '.' &&
           (!strcmp(word, "types") || !strcmp(word, "numba") || !strcmp(word, "nb") || !strcmp(word, "np") ||
            !strcmp(word, "numpy") || !strcmp(word, "kilnjit"))) {
        r->at++;
        type_read_word(r, word, sizeof word, &at);
    }
    if (!*word) {
        if (r->at >= r->len)
            type_fail(r, at, "expected a type but the text ends");
        else
            type_fail(r, at, "expected a type before '%.*s'", 1, r->text + r->at);
        return NULL;
    }
    if ((kind = scalar_named(word)) >= 0)
        return type_made(r, type_scalar(r->table, (enum type_kind)kind));
    if (!strcmp(word, "voidptr"))
        return type_made(r, type_of(r->table, TY_POINTER, type_scalar(r->table, TY_NONE)));
    size_t before = r->at;
    bool call = type_take(r, '(');
    if (call && (!strcmp(word, "Array") || !strcmp(word, "array")))
        return read_array(r, at, readonly);
    if (call && !strcmp(word, "Tuple"))
        return read_tuple(r, 0);
    if (call && !strcmp(word, "UniTuple"))
        return read_unituple(r);
    if (call && !strcmp(word, "NamedTuple"))
        return read_named_tuple(r);
    if (call && (!strcmp(word, "optional") || !strcmp(word, "Optional") || !strcmp(word, "OptionalType")))
        return read_wrapped(r, TY_OPTIONAL);
    if (call && (!strcmp(word, "NPDatetime") || !strcmp(word, "NPTimedelta")))
        return read_time(r, word[2] == 'D', ')');
    if (!call && (!strcmp(word, "datetime64") || !strcmp(word, "timedelta64")) && type_take(r, '['))
        return read_time(r, word[0] == 'd', ']');
    if (call && !strcmp(word, "CPointer"))
        return read_wrapped(r, TY_POINTER);
    for (size_t i = 0; call && i < sizeof containers / sizeof containers[0]; i++)
        if (!strcmp(word, containers[i].name))
            return read_container(r, containers[i].kind, containers[i].typed);
    if (call && (!strcmp(word, "class") || !strcmp(word, "dtype")))
        return read_wrapped(r, TY_TYPEVALUE);
    if (call && !strcmp(word, "Record"))
        return type_read_record(r, at);
    if (call && !strcmp(word, "nestedarray"))
        return type_read_nested(r);
    for (size_t i = 0; call && i < sizeof numbered / sizeof numbered[0]; i++)
        if (!strcmp(word, numbered[i].name))
            return read_numbered(r, numbered[i].kind);
    r->at = before;
    const char *near = nearest(word);
    if (near)
        type_fail(r, at, "unknown type '%s'; did you mean '%s'?", word, near);
    else
        type_fail(r, at, "unknown type '%s'", word);
    return NULL;
}

/* "[:]", "[::1, :]", ...: after the bracket. */
static const struct type *read_dimensions(struct type_reader *r, size_t at, const struct type *elem)
{
    unsigned ndim = 0, n_unit = 0, first = 0, last = 0;

    do {
        if (!type_expect(r, ':'))
            return NULL;
        ndim++;
        if (type_take(r, ':')) {
            char word[8];
            size_t word_at;
            type_read_word(r, word, sizeof word, &word_at);
            if (strcmp(word, "1")) {
                type_fail(r, word_at,
                          "a step in an array type is '::1', which marks the contiguous dimension");
                return NULL;
            }
            n_unit++;
            first = n_unit == 1 ? ndim : first;
            last = ndim;
        }
        if (ndim > TYPE_MAX_NDIM) {
            type_fail(r, r->at, "at most %u dimensions", TYPE_MAX_NDIM);
            return NULL;
        }
    } while (type_take(r, ','));
    if (!type_expect(r, ']'))
        return NULL;
    if (n_unit > 1 || (n_unit && last != ndim && first != 1)) {
        type_fail(r, at, "'::1' marks one dimension: the last (C order) or the first (Fortran order)");
        return NULL;
    }
    return array_of(r, at, elem, ndim, n_unit == 0 ? 'A' : last == ndim ? 'C' : 'F', false, true);
}

const struct type *type_read(struct type_reader *r)
{
    const struct type *t;
    size_t at;

    if (++r->depth > TYPE_MAX_DEPTH) {
        type_fail(r, r->at, "type is nested more than %d deep", TYPE_MAX_DEPTH);
        return NULL;
    }
    type_skip_space(r);
    at = r->at;
    t = read_primary(r);
    if (t && type_take(r, '['))
        t = read_dimensions(r, at, t);
    r->depth--;
    return t;
}

int type_parse(struct type_table *table, const char *text, size_t len, const struct type **ret_type,
               struct kiln_err *e)
{
    struct type_reader r = { .table = table, .text = text, .len = len, .e = e };
    const struct type *t;

    e->code = 0;
    t = type_read(&r);
    if (!t)
        return -e->code;
    type_skip_space(&r);
    if (r.at < len)
        return type_fail(&r, r.at, "unexpected '%.*s' after the type", 1, text + r.at);
    *ret_type = t;
    return 0;
}

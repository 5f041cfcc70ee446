/* SPDX-License-Identifier: Apache-2.0
 * rules_math.c - typing rules of math, cmath and NumPy's functions on numbers. */
#include "daemon/compiler/infer/rules.h"

static const struct type *python_float(struct walk *w)
{
    return numba(w) ? scalar(w, TY_FLOAT64) : w->p->pyfloat;
}

static const struct type *python_int(struct walk *w)
{
    return numba(w) ? scalar(w, TY_INT64) : w->p->pyint;
}

static const struct type *python_complex(struct walk *w)
{
    return numba(w) ? scalar(w, TY_COMPLEX128) : w->p->pycomplex;
}

static bool real(struct walk *w, struct call *c, const struct arg *a)
{
    if (!rule_number(w, c, a))
        return false;
    if (!type_is_complex(a->type))
        return true;
    rule_wrong(w, c, a, "a real number");
    return false;
}

/* What a function of math computes in: a Python float; float32 stays in Numba's rules. */
static const struct type *math_type(struct walk *w, const struct type *a)
{
    return numba(w) && a->kind == TY_FLOAT32 ? a : python_float(w);
}

static const struct type *math(struct walk *w, struct call *c, const struct library_row *row,
                               const char *names, uint32_t n)
{
    const struct type *t = NULL;
    struct params p;

    if (!rule_params(w, c, names, n, &p))
        return w->p->bottom;
    for (uint32_t i = 0; i < n; i++) {
        const struct type *m;
        if (!real(w, c, &p.at[i]))
            return w->p->bottom;
        m = math_type(w, p.at[i].type);
        t = !t || type_bits(m) > type_bits(t) ? m : t;
    }
    for (uint32_t i = 0; i < n; i++)
        p.at[i].type = t;
    if (w->p->options.checked)
        w->w->raises = true; /* ValueError outside of the domain */
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_MATH1(struct walk *w, struct call *c, const struct library_row *row)
{
    return math(w, c, row, "x", 1);
}

const struct type *rule_MATH2(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;

    if (row->id == LIB_M_HYPOT && c->n_args != 2)
        return call_prelude(w, c, "kiln.hypot_of", &t) ? t : w->p->bottom;
    return math(w, c, row, "x y", 2);
}

const struct type *rule_LOG(struct walk *w, struct call *c, const struct library_row *row)
{
    return math(w, c, row, c->n_args > 1 ? "x base" : "x", c->n_args > 1 ? 2 : 1);
}

/* One real argument, computed as a float; another type comes out. */
static const struct type *from_float(struct walk *w, struct call *c, const struct library_row *row,
                                     const struct type *out)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !real(w, c, &p.at[0]))
        return w->p->bottom;
    if (!type_is_float(p.at[0].type))
        p.at[0].type = python_float(w);
    return rule_take(w, c, row, &p) ? out : w->p->bottom;
}

const struct type *rule_INT1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !real(w, c, &p.at[0]))
        return w->p->bottom;
    w->w->raises |= type_is_float(p.at[0].type); /* of nan and inf */
    return rule_take(w, c, row, &p) ? python_int(w) : w->p->bottom;
}

const struct type *rule_PRED1(struct walk *w, struct call *c, const struct library_row *row)
{
    return from_float(w, c, row, w->p->boolean);
}

static const struct type *two_ints(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if ((row->id == LIB_M_GCD || row->id == LIB_M_LCM) && c->n_args != 2)
        return call_prelude(w, c, row->id == LIB_M_GCD ? "kiln.gcd_of" : "kiln.lcm_of", &t) ? t
                                                                                            : w->p->bottom;
    if (!rule_params(w, c, "a b", 2, &p))
        return w->p->bottom;
    for (unsigned i = 0; i < 2; i++)
        if (!type_is_integer(p.at[i].type) && p.at[i].type->kind != TY_BOOL)
            return rule_wrong(w, c, &p.at[i], "integers");
    t = promote(w->p, p.at[0].type, p.at[1].type);
    if (!type_is_integer(t))
        return mistake(w, c->node, "convert one of them", "%s of int64 and uint64 has no integer type",
                       c->name);
    p.at[0].type = p.at[1].type = t;
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_GCD(struct walk *w, struct call *c, const struct library_row *row)
{
    return two_ints(w, c, row);
}

const struct type *rule_LDEXP(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "x i", 2, &p) || !real(w, c, &p.at[0]))
        return w->p->bottom;
    if (!type_is_integer(p.at[1].type) && p.at[1].type->kind != TY_BOOL)
        return rule_wrong(w, c, &p.at[1], "an integer exponent");
    t = row->id == LIB_M_LDEXP        ? math_type(w, p.at[0].type)
        : type_is_float(p.at[0].type) ? strong(w->p, p.at[0].type)
                                      : scalar(w, TY_FLOAT64);
    p.at[0].type = t;
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

static const struct type *pair(struct walk *w, struct call *c, const struct library_row *row,
                               const struct type *first, const struct type *second)
{
    const struct type *t = type_tuple(w->p->types, (const struct type *const[]){ first, second }, 2, 0), *r;

    if (!t)
        return fail_memory(w->p);
    r = from_float(w, c, row, t);
    return r;
}

const struct type *rule_FREXP(struct walk *w, struct call *c, const struct library_row *row)
{
    return pair(w, c, row, python_float(w), python_int(w));
}

const struct type *rule_MODF(struct walk *w, struct call *c, const struct library_row *row)
{
    return pair(w, c, row, python_float(w), python_float(w));
}

const struct type *rule_ISQRT(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "n", 1, &p))
        return w->p->bottom;
    if (!type_is_integer(p.at[0].type) && p.at[0].type->kind != TY_BOOL)
        return rule_wrong(w, c, &p.at[0], "an integer");
    w->w->raises = true;
    return rule_take(w, c, row, &p) ? python_int(w) : w->p->bottom;
}

/* ---- cmath ---- */

static const struct type *complex_of(struct walk *w, const struct type *t)
{
    return numba(w) && (t->kind == TY_COMPLEX64 || t->kind == TY_FLOAT32) ? scalar(w, TY_COMPLEX64)
                                                                          : python_complex(w);
}

const struct type *rule_CMATH1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;
    const struct type *t;

    if (row->id == LIB_C_LOG && c->n_args == 2)
        return call_prelude(w, c, "kiln.complex_log", &t) ? t : w->p->bottom;
    if (!rule_params(w, c, "z", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    p.at[0].type = complex_of(w, p.at[0].type);
    w->w->raises |= !numba(w); /* outside of the domain */
    return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
}

const struct type *rule_CPHASE(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "z", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    t = row->id == LIB_C_PHASE                                                   ? complex_of(w, p.at[0].type)
        : p.at[0].type->kind == TY_COMPLEX64 || p.at[0].type->kind == TY_FLOAT32 ? scalar(w, TY_COMPLEX64)
                                                                                 : scalar(w, TY_COMPLEX128);
    p.at[0].type = t;
    return rule_take(w, c, row, &p) ? part_type(w->p, t) : w->p->bottom;
}

const struct type *rule_CPOLAR(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *part, *t;
    struct params p;

    if (!rule_params(w, c, "z", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    p.at[0].type = complex_of(w, p.at[0].type);
    part = part_type(w->p, p.at[0].type);
    t = type_tuple(w->p->types, (const struct type *const[]){ part, part }, 2, 0);
    if (!t)
        return fail_memory(w->p);
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_CRECT(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = python_complex(w);
    struct params p;

    if (!rule_params(w, c, "r phi", 2, &p) || !real(w, c, &p.at[0]) || !real(w, c, &p.at[1]))
        return w->p->bottom;
    p.at[0].type = p.at[1].type = part_type(w->p, t);
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_CPRED1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    if (!type_is_float(p.at[0].type) && !type_is_complex(p.at[0].type) && row->id != LIB_N_LOGICAL_NOT)
        p.at[0].type = python_float(w);
    return rule_take(w, c, row, &p) ? w->p->boolean : w->p->bottom;
}

/* ---- NumPy on numbers: results are NumPy's, never weak ---- */

/* The float or complex type that a ufunc of floats computes in. */
static const struct type *float_type(struct walk *w, const struct type *t)
{
    t = strong(w->p, t);
    return type_is_float(t) || type_is_complex(t) ? t : scalar(w, TY_FLOAT64);
}

const struct type *rule_FLOAT1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    p.at[0].type = float_type(w, p.at[0].type);
    return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
}

const struct type *rule_FLOAT2(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "x1 x2", 2, &p) || !real(w, c, &p.at[0]) || !real(w, c, &p.at[1]))
        return w->p->bottom;
    t = float_type(w, promote(w->p, p.at[0].type, p.at[1].type));
    p.at[0].type = p.at[1].type = t;
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_REAL1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !real(w, c, &p.at[0]))
        return w->p->bottom;
    p.at[0].type = float_type(w, p.at[0].type);
    return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
}

const struct type *rule_SAME1(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x", 1, &p) || !rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    if (row->id != LIB_A_CONJ)
        p.at[0].type = strong(w->p, p.at[0].type);
    if (row->id == LIB_N_INVERT && !type_is_integer(p.at[0].type) && p.at[0].type->kind != TY_BOOL)
        return rule_wrong(w, c, &p.at[0], "an integer");
    w->w->raises |= row->id == LIB_N_RECIPROCAL;
    return rule_take(w, c, row, &p) ? p.at[0].type : w->p->bottom;
}

const struct type *rule_SAME2(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "x1 x2", 2, &p) || !rule_number(w, c, &p.at[0]) || !rule_number(w, c, &p.at[1]))
        return w->p->bottom;
    if (p.at[0].type->kind == TY_BOOL && p.at[1].type->kind == TY_BOOL)
        t = w->p->boolean;
    else
        t = strong(w->p, promote(w->p, p.at[0].type, p.at[1].type));
    p.at[0].type = p.at[1].type = t;
    w->w->raises |= row->id == LIB_N_FMOD;
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_LOGICAL(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "x1 x2", 2, &p) || !rule_number(w, c, &p.at[0]) || !rule_number(w, c, &p.at[1]))
        return w->p->bottom;
    p.at[0].type = p.at[1].type = w->p->boolean;
    return rule_take(w, c, row, &p) ? w->p->boolean : w->p->bottom;
}

/* numpy.real(x) of a number; of an array it is the attribute's view. */
const struct type *rule_PART(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "val", 1, &p))
        return w->p->bottom;
    if (p.at[0].type->kind == TY_ARRAY)
        return rule_ATTR(w, c, row);
    if (!rule_number(w, c, &p.at[0]))
        return w->p->bottom;
    return rule_take(w, c, row, &p) ? part_type(w->p, strong(w->p, p.at[0].type)) : w->p->bottom;
}

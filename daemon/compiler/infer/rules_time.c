/* SPDX-License-Identifier: Apache-2.0
 * rules_time.c - types of datetime64 and timedelta64: which units come out. The arithmetic is in
 * prelude/times.py. */
#include "daemon/compiler/infer/rules.h"

enum { UNIT_YEAR, UNIT_MONTH, UNIT_WEEK };

/* Has one of the coarser unit so many of the finer that NumPy refuses them together (2^56)? */
static bool too_far(int low, int high)
{
    static const double steps[] = { 12, 30, 7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000 };
    double factor = 1;

    for (int i = low; i < high; i++)
        factor *= i == UNIT_WEEK && low <= UNIT_MONTH ? 1 : steps[i];
    return factor >= 72057594037927936.0;
}

/* The time that a value, an element or a type is; NULL: none. */
static const struct type *time_of(const struct type *t)
{
    if (t->kind == TY_ARRAY || t->kind == TY_TYPEVALUE)
        t = t->elem;
    return type_is_time(t) ? t : NULL;
}

const struct type *rule_TIME_UNIT(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t = c->n_args == 1 ? time_of(c->args[0].type) : NULL;

    (void)row;
    return know_int(w, c->f, t ? type_unit(t) : -1);
}

const struct type *rule_TIME_TICKS(struct walk *w, struct call *c, const struct library_row *row)
{
    struct params p;

    if (!rule_params(w, c, "time", 1, &p))
        return w->p->bottom;
    if (!type_is_time(p.at[0].type))
        return rule_wrong(w, c, &p.at[0], "a datetime64 or timedelta64");
    return rule_take(w, c, row, &p) ? scalar(w, TY_INT64) : w->p->bottom;
}

const struct type *rule_TIME_AS(struct walk *w, struct call *c, const struct library_row *row)
{
    const struct type *t;
    struct params p;

    if (!rule_params(w, c, "count like", 2, &p))
        return w->p->bottom;
    t = time_of(p.at[1].type);
    if (!t)
        return rule_wrong(w, c, &p.at[1], "a datetime64 or timedelta64");
    if (!type_is_integer(p.at[0].type))
        return rule_wrong(w, c, &p.at[0], "an integer");
    p.at[0].type = scalar(w, TY_INT64);
    return rule_take(w, c, row, &p) ? t : w->p->bottom;
}

const struct type *rule_TIME_COMMON(struct walk *w, struct call *c, const struct library_row *row)
{
    bool delta = row->id == LIB_TIME_DELTA;
    const struct type *a, *b, *t;
    struct params p;

    if (!rule_params(w, c, delta ? "a" : "a b", delta ? 1 : 2, &p))
        return w->p->bottom;
    a = time_of(p.at[0].type);
    b = delta ? a : time_of(p.at[1].type);
    if (!a || !b)
        return rule_wrong(w, c, &p.at[a ? 1 : 0], "a datetime64 or timedelta64");
    int x = type_unit(a), y = type_unit(b), low = x < y ? x : y, high = x < y ? y : x;
    bool datetime = !delta && (a->kind == TY_DATETIME || b->kind == TY_DATETIME);
    if (low <= UNIT_MONTH && high >= UNIT_WEEK && high != TYPE_UNIT_NONE) { /* months have no fixed length */
        const struct type *months = x <= UNIT_MONTH ? a : b;
        if (months->kind == TY_TIMEDELTA)
            return mistake(
                w, c->node, "convert one of them",
                "timedelta64 of [%s] and [%s] have no common unit: years and months have no fixed length",
                type_units[low], type_units[high]);
    }
    if (high != TYPE_UNIT_NONE && too_far(low, high))
        return mistake(w, c->node, "convert one of them",
                       "times of [%s] and [%s] are too far apart for 64 bits", type_units[low],
                       type_units[high]);
    t = type_time(w->p->types, datetime, type_units[high == TYPE_UNIT_NONE ? low : high]);
    t = t ? type_of(w->p->types, TY_TYPEVALUE, t) : NULL;
    return !t ? fail_memory(w->p) : rule_take(w, c, row, &p) ? t : w->p->bottom;
}

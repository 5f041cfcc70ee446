/* SPDX-License-Identifier: Apache-2.0
 * rules.h - typing rules of library.def: one function a name in its column `rule`. */
#ifndef KILN_COMPILER_INFER_RULES_H
#define KILN_COMPILER_INFER_RULES_H

#include "daemon/compiler/infer/pass.h"

struct library_row;
typedef const struct type *(*library_rule)(struct walk *w, struct call *c, const struct library_row *row);

struct library_row {
    enum intrinsic id;
    const char *name, *how;
    library_rule rule;
};

/* Each rule types the call c of row: fills c->f and returns the result's type, or reports a mistake. */
/* clang-format off */
#define RULES(X)                                                                                                      \
    X(RANGE) X(LEN) X(ABS) X(MINMAX) X(POW) X(DIVMOD) X(ROUND) X(CAST) X(COMPLEX) X(TUPLE) X(ITER) X(ISINSTANCE)      \
    X(SLICE) X(MATH1) X(MATH2) X(LOG) X(INT1) X(PRED1) X(GCD) X(LDEXP) X(FREXP) X(MODF) X(ISQRT) X(CMATH1) X(CPHASE)  \
    X(CPOLAR) X(CRECT) X(CPRED1) X(FLOAT1) X(FLOAT2) X(REAL1) X(SAME1) X(SAME2) X(PART) X(OPERATOR) X(LOGICAL)        \
    X(CREATE) X(FULL) X(LIKE) X(ATTR) X(COPY) X(FILL) X(LISTOP) X(STATIC_ERROR) X(LAYOUT) X(DTYPE_OF) X(CALLABLE)     \
    X(CONTAINER) X(EMPTY) X(OBJMODE) X(TEXTOP)                                                                        \
    X(OBJECT) X(OBJECT_HASH) X(LIMITS) X(TIME_UNIT) X(TIME_TICKS) X(TIME_AS) X(TIME_COMMON) X(DEPTH) X(STRIDED) X(INDEX_AXIS)
/* clang-format on */
#define X(NAME) const struct type *rule_##NAME(struct walk *w, struct call *c, const struct library_row *row);
RULES(X)
#undef X

/* Convert the one argument to `to`: np.float32(x), int(x). */
const struct type *rule_cast_to(struct walk *w, struct call *c, const struct library_row *row,
                                const struct type *to);

/* ---- what rules share (rules.c) ---- */

#define RULE_MAX_PARAMS 6
/* Arguments by parameter; type NULL where absent. */
struct params {
    struct arg at[RULE_MAX_PARAMS];
    uint32_t n;
};
/* Bind c's arguments to the parameters named in `names` ("shape dtype"; the first `least` are needed). */
bool rule_params(struct walk *w, struct call *c, const char *names, uint32_t least, struct params *ret);
/* Say that the intrinsic does the call with these arguments; absent ones at the end are left off. */
bool rule_take(struct walk *w, struct call *c, const struct library_row *row, const struct params *p);
/* A number? Reports if it is not. */
bool rule_number(struct walk *w, struct call *c, const struct arg *a);
const struct type *rule_wrong(struct walk *w, struct call *c, const struct arg *a, const char *wanted);

#endif

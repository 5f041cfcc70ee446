/* SPDX-License-Identifier: Apache-2.0
 * packer.h - packing, inside: what plan.c and containers.c share. */
#ifndef KILN_EXT_PACKER_H
#define KILN_EXT_PACKER_H

#include "client/python/ext/marshal.h"

struct packer {
    const struct step *step;
    struct kiln_mem *mem; /* next free header */
    bool keep, keep_text, keep_long;
    unsigned nested;              /* inside so many containers: values are checked, and held by them */
    struct reflected *reflected; /* containers met so far */
};

/* One value at its place; recursion is bounded by TUPLE_DEPTH. 0, 1 or -1 as plan_pack. */
int pack_one(struct packer *k, PyObject *o, unsigned char *at);
/* Whether o can go by this step at all: items of containers have no fingerprint of their own. */
bool pack_fits(const struct step *s, PyObject *o);

#endif

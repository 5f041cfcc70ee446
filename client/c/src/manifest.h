/* SPDX-License-Identifier: Apache-2.0
 * manifest.h - what an artifact says about itself (docs/manifest.md): a msgpack map, beside it or in it. */
#ifndef KILN_CLIENT_MANIFEST_H
#define KILN_CLIENT_MANIFEST_H

#include <kiln/kiln.h>

#include "proto/base/arena.h"

#define MANIFEST_MEMORY (4u << 20) /* decoded; a manifest is some hundred bytes */

/* Decode; a NULL or empty one leaves *ret without content. Unknown fields are skipped. */
int manifest_decode(struct arena *a, const void *bytes, size_t len, struct kiln_manifest *ret,
                    struct kiln_error *e);
/* The manifest inside an ELF file, or *ret NULL. Nothing of the file is believed. */
void manifest_find(const void *elf, size_t len, const void **ret, size_t *ret_len);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * json.c - JSON on stdout. */
#include <stdlib.h>

#include "client/cli/cli.h"

int json_out(json_t *value)
{
    int failed =
        !value || json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) < 0 || putchar('\n') == EOF;

    json_decref(value);
    return failed ? kiln_code_exit(KILN_E_IO) : 0;
}

json_t *row_json(const struct kiln_row *r)
{
    char key[HEX_KEY];

    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:I, s:I, s:I, s:I}", "key",
                     hex(r->key, KILN_KEY_BYTES, key), "entry", r->entry, "signature", r->signature, "target",
                     r->target, "emit", r->emit, "bytes", (json_int_t)r->bytes, "compile_ms",
                     (double)r->compile_us / 1e3, "created", (json_int_t)r->created, "last_used",
                     (json_int_t)r->last_used, "hits", (json_int_t)r->hits, "owner", (json_int_t)r->owner);
}

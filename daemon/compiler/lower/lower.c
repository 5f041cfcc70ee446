/* SPDX-License-Identifier: Apache-2.0
 * lower.c - the driver. */
#include "daemon/compiler/lower/lower.h"

int lower_run(struct arena *a, const struct program *p, const struct lower_target *t,
              const struct lower_request *r, LLVMContextRef ctx, LLVMModuleRef *ret, struct diagnostics *d,
              struct kiln_err *e)
{
    (void)a, (void)p, (void)t, (void)r, (void)ctx, (void)d;
    *ret = NULL;
    return kiln_err_set(e, KILN_E_INTERNAL, 0, NULL);
}

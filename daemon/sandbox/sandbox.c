/* SPDX-License-Identifier: Apache-2.0
 * sandbox.c - the order: limits first, then the walls. */
#include "daemon/sandbox/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

int sandbox_enter(const struct sandbox_limits *l, struct sandbox_report *ret, struct kiln_err *e)
{
    memset(ret, 0, sizeof *ret);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_DUMPABLE, 0) != 0)
        return kiln_err_set(e, KILN_E_IO, errno, "prctl: %s", strerror(errno));
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)l; /* the sanitizers' own memory and system calls don't fit */
#else
    ret->limits = sandbox_rlimits(l);
    ret->landlock = sandbox_landlock();
    ret->seccomp = sandbox_seccomp();
#endif
    return 0;
}

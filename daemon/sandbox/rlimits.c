/* SPDX-License-Identifier: Apache-2.0
 * rlimits.c - hard limits on memory, files and dumps. */
#include <sys/resource.h>

#include "daemon/sandbox/sandbox.h"

static bool set(__rlimit_resource_t what, rlim_t value)
{
    struct rlimit r = { value, value };

    return setrlimit(what, &r) == 0;
}

bool sandbox_rlimits(const struct sandbox_limits *l)
{
    bool ok = true;

    /* RLIMIT_DATA counts heap and private mappings, which is what a compile grows; the address space also holds
     * libLLVM's code, hundreds of megabytes that cost nothing */
    if (l->memory_bytes)
        ok &= set(RLIMIT_DATA, (rlim_t)l->memory_bytes);
    ok &= set(RLIMIT_CORE, 0);   /* a dump would hold somebody's IR */
    ok &= set(RLIMIT_NOFILE, 64); /* memory files of one link, and the socket */
    ok &= set(RLIMIT_NPROC, 0) || true; /* root is exempt; seccomp forbids it anyway */
    return ok;
}

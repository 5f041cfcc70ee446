/* SPDX-License-Identifier: Apache-2.0
 * seccomp.c - the system calls that a compile needs; all others fail with EPERM. A refused call is an error
 * to LLVM like any other, so nothing is killed for trying. Memory can't be made executable. */
#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>

#include "daemon/sandbox/sandbox.h"

static const int allowed[] = {
    /* the conversation, and memory files */
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(sendto), SCMP_SYS(poll), SCMP_SYS(ppoll),
    SCMP_SYS(memfd_create), SCMP_SYS(ftruncate), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(dup), SCMP_SYS(dup2),
    SCMP_SYS(dup3), SCMP_SYS(fcntl), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(fstatfs),
    /* opening: Landlock leaves only memory files */
    SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(access), SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(getcwd), SCMP_SYS(unlink),
    /* memory */
    SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
    /* itself */
    SCMP_SYS(futex), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrusage), SCMP_SYS(getrandom),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_yield), SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(prlimit64),
    SCMP_SYS(getrlimit), SCMP_SYS(restart_syscall), SCMP_SYS(rseq), SCMP_SYS(set_robust_list),
};

bool sandbox_seccomp(void)
{
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool ok = f != NULL;

    for (size_t i = 0; ok && i < sizeof allowed / sizeof allowed[0]; i++) {
        int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, allowed[i], 0);
        ok = r == 0 || r == -EDOM; /* a call that this architecture lacks */
    }
    ok = ok && seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
    ok = ok && seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
    ok = ok && seccomp_load(f) == 0;
    if (f)
        seccomp_release(f);
    return ok;
}

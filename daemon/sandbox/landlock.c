/* SPDX-License-Identifier: Apache-2.0
 * landlock.c - a rule set without rules: every access to the file system is refused. Memory files, which the
 * linker opens through /proc/self/fd, are on no mounted file system and stay reachable. */
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/sandbox/sandbox.h"

bool sandbox_landlock(void)
{
    struct landlock_ruleset_attr attr = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                             LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                             LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                             LANDLOCK_ACCESS_FS_MAKE_SYM,
    };
    int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    bool ok;

    if (fd < 0)
        return false;
    ok = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
    close(fd);
    return ok;
}

/* SPDX-License-Identifier: Apache-2.0
 * fault_vfs.h - a SQLite VFS over the system's in which the n-th operation fails. */
#ifndef KILN_TESTS_FAULT_VFS_H
#define KILN_TESTS_FAULT_VFS_H

#include <stdbool.h>

/* Make it the default. Before SQLite's first use of a file. */
void fault_vfs_install(void);
/* Let operation n (open, read, write, sync, truncate, size, lock, shared memory) fail with SQLITE_IOERR, or a write
 * with SQLITE_FULL; once, or it and all that follow. */
void fault_vfs_arm(long n, bool full, bool for_good);
bool fault_vfs_disarm(void);

#endif

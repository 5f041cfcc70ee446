/* SPDX-License-Identifier: Apache-2.0
 * fault_alloc.h - the n-th allocation of the project's own code fails; every one is counted.
 *
 * The program is linked with --wrap, so that only calls from our objects come here, not those inside the C
 * library, SQLite or cmocka. fault_sqlite_install does the same for SQLite by its own hook. */
#ifndef KILN_TESTS_FAULT_ALLOC_H
#define KILN_TESTS_FAULT_ALLOC_H

#include <stdbool.h>

/* Let allocation n (from 0, of any thread) fail, once. */
void fault_alloc_arm(long n);
/* Stop; whether the failure happened. */
bool fault_alloc_disarm(void);
/* Blocks that are allocated and not freed. */
long fault_alloc_live(void);

/* The same for SQLite's allocations. Before SQLite's first use. */
void fault_sqlite_install(void);
void fault_sqlite_arm(long n);
bool fault_sqlite_disarm(void);

#endif

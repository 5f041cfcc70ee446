/* SPDX-License-Identifier: Apache-2.0
 * fault_alloc.c - wrappers that count down. */
#include "tests/fault/fault_alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At or below zero before the decrement: not armed, or fired already. */
struct countdown {
    atomic_long left;
    atomic_bool fired;
};
static struct countdown ours;
static atomic_long live;

static void arm(struct countdown *c, long n)
{
    atomic_store(&c->fired, false);
    atomic_store(&c->left, n + 1);
}

static bool disarm(struct countdown *c)
{
    atomic_store(&c->left, 0);
    return atomic_load(&c->fired);
}

static bool fails(struct countdown *c)
{
    if (atomic_load(&c->left) <= 0 || atomic_fetch_sub(&c->left, 1) != 1)
        return false;
    atomic_store(&c->fired, true);
    return true;
}

void fault_alloc_arm(long n)
{
    arm(&ours, n);
}

bool fault_alloc_disarm(void)
{
    return disarm(&ours);
}

long fault_alloc_live(void)
{
    return atomic_load(&live);
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&live, 1);
    return p;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_realpath(const char *path, char *out);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_realpath(const char *path, char *out);
int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
void __wrap_free(void *p);

void *__wrap_malloc(size_t size)
{
    return fails(&ours) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(&ours) ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    void *q;

    if (fails(&ours))
        return NULL;
    q = __real_realloc(p, size);
    return p ? q : counted(q);
}

char *__wrap_strdup(const char *s)
{
    return fails(&ours) ? NULL : counted(__real_strdup(s));
}

char *__wrap_realpath(const char *path, char *out)
{
    return fails(&ours) ? NULL : out ? __real_realpath(path, out) : counted(__real_realpath(path, out));
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
    va_list ap;
    int n;

    if (fails(&ours))
        return -1;
    va_start(ap, format);
    n = vasprintf(ret, format, ap);
    va_end(ap);
    if (n >= 0)
        counted(*ret);
    return n;
}

void __wrap_free(void *p)
{
    if (p)
        atomic_fetch_sub(&live, 1);
    __real_free(p);
}

#ifdef FAULT_SQLITE
#include <sqlite3.h>

static struct countdown sqlites;
static sqlite3_mem_methods real;

static void *sqlite_malloc(int n)
{
    return fails(&sqlites) ? NULL : real.xMalloc(n);
}

static void *sqlite_realloc(void *p, int n)
{
    return fails(&sqlites) ? NULL : real.xRealloc(p, n);
}

void fault_sqlite_install(void)
{
    sqlite3_mem_methods mine;

    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    mine = real;
    mine.xMalloc = sqlite_malloc;
    mine.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &mine);
}

void fault_sqlite_arm(long n)
{
    arm(&sqlites, n);
}

bool fault_sqlite_disarm(void)
{
    return disarm(&sqlites);
}
#endif

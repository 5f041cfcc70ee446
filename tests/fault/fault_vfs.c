/* SPDX-License-Identifier: Apache-2.0
 * fault_vfs.c - each method counts down, then does what the real one does. */
#include "tests/fault/fault_vfs.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this struct */
};

static sqlite3_vfs *system_vfs, mine;
static atomic_long left;
static atomic_bool fired, disk_full, forever;

void fault_vfs_arm(long n, bool full, bool for_good)
{
    atomic_store(&fired, false);
    atomic_store(&disk_full, full);
    atomic_store(&forever, for_good);
    atomic_store(&left, n + 1);
}

bool fault_vfs_disarm(void)
{
    atomic_store(&left, 0);
    atomic_store(&forever, false);
    return atomic_load(&fired);
}

static bool fails(void)
{
    long before = atomic_load(&left);

    if (atomic_load(&fired) && atomic_load(&forever))
        return true;
    if (before <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return false;
    atomic_store(&fired, true);
    return true;
}

static sqlite3_file *real(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static int f_close(sqlite3_file *f)
{
    return real(f)->pMethods->xClose(real(f));
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return fails() ? SQLITE_IOERR_READ : real(f)->pMethods->xRead(real(f), p, n, at);
}
static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    if (fails())
        return atomic_load(&disk_full) ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    return real(f)->pMethods->xWrite(real(f), p, n, at);
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 n)
{
    return fails() ? SQLITE_IOERR_TRUNCATE : real(f)->pMethods->xTruncate(real(f), n);
}
static int f_sync(sqlite3_file *f, int flags)
{
    return fails() ? SQLITE_IOERR_FSYNC : real(f)->pMethods->xSync(real(f), flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *n)
{
    return fails() ? SQLITE_IOERR_FSTAT : real(f)->pMethods->xFileSize(real(f), n);
}
static int f_lock(sqlite3_file *f, int level)
{
    return fails() ? SQLITE_IOERR_LOCK : real(f)->pMethods->xLock(real(f), level);
}
static int f_unlock(sqlite3_file *f, int level)
{
    return real(f)->pMethods->xUnlock(real(f), level);
}
static int f_reserved(sqlite3_file *f, int *ret)
{
    return real(f)->pMethods->xCheckReservedLock(real(f), ret);
}
static int f_control(sqlite3_file *f, int op, void *arg)
{
    return real(f)->pMethods->xFileControl(real(f), op, arg);
}
static int f_sector(sqlite3_file *f)
{
    return real(f)->pMethods->xSectorSize(real(f));
}
static int f_device(sqlite3_file *f)
{
    return real(f)->pMethods->xDeviceCharacteristics(real(f));
}
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    return fails() ? SQLITE_IOERR_SHMMAP : real(f)->pMethods->xShmMap(real(f), page, size, extend, ret);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return real(f)->pMethods->xShmLock(real(f), at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f)
{
    real(f)->pMethods->xShmBarrier(real(f));
}
static int f_shm_unmap(sqlite3_file *f, int remove)
{
    return real(f)->pMethods->xShmUnmap(real(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, .xClose = f_close, .xRead = f_read, .xWrite = f_write, .xTruncate = f_truncate, .xSync = f_sync,
    .xFileSize = f_size, .xLock = f_lock, .xUnlock = f_unlock, .xCheckReservedLock = f_reserved,
    .xFileControl = f_control, .xSectorSize = f_sector, .xDeviceCharacteristics = f_device, .xShmMap = f_shm_map,
    .xShmLock = f_shm_lock, .xShmBarrier = f_shm_barrier, .xShmUnmap = f_shm_unmap,
};

static int v_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct file *file = (struct file *)f;
    int r;

    (void)v;
    f->pMethods = NULL;
    if (fails())
        return SQLITE_CANTOPEN;
    file->real = (sqlite3_file *)(file + 1);
    r = system_vfs->xOpen(system_vfs, name, file->real, flags, out);
    if (file->real->pMethods)
        f->pMethods = &methods;
    return r;
}

void fault_vfs_install(void)
{
    system_vfs = sqlite3_vfs_find(NULL);
    mine = *system_vfs;
    mine.zName = "fault";
    mine.szOsFile = (int)sizeof(struct file) + system_vfs->szOsFile;
    mine.xOpen = v_open;
    mine.pNext = NULL;
    sqlite3_vfs_register(&mine, 1);
}

/* SPDX-License-Identifier: Apache-2.0
 * load.c - map an artifact's code into the process.
 *
 * dlopen knows a library by its name first, and by its file second. So the name "/proc/<pid>/fd/N" must mean
 * the same file for as long as the library is mapped: each mapping keeps its descriptor until dlclose,
 * artifacts of one key share one mapping, and the key is compared after every load.
 * (By /proc/self/fd/N a debugger would look among its own descriptors, and a child of a fork among the
 * child's.) Past a share of the descriptor limit, and where memfds cannot be executed, a private file is
 * used: it is deleted once mapped and has a name that never comes back. */
#include <kiln/kiln.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/c/src/artifact.h"
#include "client/c/src/client.h"
#include "client/c/src/cpu.h"

/* One dlopen. Lifetime: as long as libraries use it. */
struct mapping {
    struct mapping *next; /* in its bucket */
    unsigned char key[KILN_KEY_BYTES];
    int refs;               /* under `lock` */
    struct shared_fd *file; /* NULL: from a private file */
    void *handle;
    kiln_entry_fn entry;
};

struct kiln_library {
    _Atomic int64_t refs;
    struct mapping *map;
};

/* Equal keys are equal content, so a key is loaded once in the process. */
#define BUCKETS 1024
static struct {
    pthread_mutex_t lock;
    struct mapping *buckets[BUCKETS];
    unsigned with_fd; /* mappings that hold a descriptor */
} loaded = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A fork while another thread loads must not leave the child with a lock that nobody opens. */
static void lock_loaded(void)
{
    pthread_mutex_lock(&loaded.lock);
}
static void unlock_loaded(void)
{
    pthread_mutex_unlock(&loaded.lock);
}
static void register_fork(void)
{
    pthread_atfork(lock_loaded, unlock_loaded, unlock_loaded);
}
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static struct mapping **bucket(const unsigned char *key)
{
    unsigned h;
    memcpy(&h, key, sizeof h);
    return &loaded.buckets[h % BUCKETS];
}

/* A quarter of the descriptors is for code, the rest is the program's own. */
static bool descriptors_left(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l))
        return false;
    return l.rlim_cur == RLIM_INFINITY || loaded.with_fd < l.rlim_cur / 4;
}

static int write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* 1: the handle is right. 0: it holds other code (closed again). -1: no handle; reason filled. */
static int open_checked(const char *path, const unsigned char *key, void **ret, char *reason, size_t size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *text = dlerror();
        snprintf(reason, size, "%s", text ? text : "dlopen failed");
        return -1;
    }
    const void *inside = dlsym(handle, KILN_SYM_KEY);
    if (!inside) {
        dlclose(handle);
        snprintf(reason, size, "the artifact has no symbol " KILN_SYM_KEY);
        return -1;
    }
    if (memcmp(inside, key, KILN_KEY_BYTES)) {
        dlclose(handle);
        snprintf(reason, size, "the artifact holds another key than the one asked for");
        return 0;
    }
    *ret = handle;
    return 1;
}

/* By descriptor; takes the caller's reference over, *ret_file is the one that must stay open. A name that
 * some other library still has (one that dlclose doesn't unmap) gives the wrong key: then other numbers are
 * tried. */
static int open_descriptor(struct shared_fd *file, const unsigned char *key, void **ret,
                           struct shared_fd **ret_file, char *reason, size_t size)
{
    struct shared_fd *tried[4] = { file };
    int n = 1, rc;
    for (;;) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), tried[n - 1]->fd);
        rc = open_checked(path, key, ret, reason, size);
        if (rc == 1)
            *ret_file = tried[--n];
        if (rc || n == 4)
            break;
        int copy =
            fcntl(file->fd, F_DUPFD_CLOEXEC, 3); /* those that failed stay open, so it is a new number */
        if (copy < 0 || !(tried[n] = shared_fd_new(copy)))
            break;
        n++;
    }
    while (n > 0)
        shared_fd_unref(tried[--n]);
    return rc == 1 ? 0 : -1;
}

static int make_memfd(const void *bytes, size_t len)
{
    int fd = memfd_create("kiln", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (write_all(fd, bytes, len) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int open_private_file(struct kiln_artifact *a, void **ret, char *reason, size_t size)
{
    const void *bytes;
    size_t len;
    if (kiln_artifact_bytes(a, &bytes, &len, NULL)) {
        snprintf(reason, size, "the artifact's bytes cannot be read");
        return -1;
    }
    const char *dirs[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm", "/var/tmp" };
    for (unsigned i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        char path[PATH_MAX];
        if (!dirs[i] || dirs[i][0] != '/' || strlen(dirs[i]) > sizeof path - 32)
            continue;
        snprintf(path, sizeof path, "%s/kiln-XXXXXX", dirs[i]);
        int fd = mkostemp(path, O_CLOEXEC); /* mode 0600 */
        if (fd < 0) {
            snprintf(reason, size, "%s: %s", dirs[i], strerror(errno));
            continue;
        }
        int rc = write_all(fd, bytes, len);
        if (rc)
            snprintf(reason, size, "%s: %s", dirs[i], strerror(errno));
        close(fd);
        rc = rc ? -1 : open_checked(path, a->key, ret, reason, size);
        unlink(path);
        if (rc == 1)
            return 0;
    }
    return -1;
}

/* The artifact's own descriptor, or one made of its bytes. NULL: there is none to be had. */
static struct shared_fd *descriptor_of(struct kiln_artifact *a)
{
    struct shared_fd *file = artifact_file(a);
    const void *bytes;
    size_t len;
    if (file || kiln_artifact_bytes(a, &bytes, &len, NULL))
        return file;
    int fd = make_memfd(bytes, len);
    return fd < 0 ? NULL : shared_fd_new(fd);
}

static int open_any(struct kiln_artifact *a, struct mapping *m, struct kiln_error *e)
{
    char reason[300] = "";
    struct shared_fd *file = descriptors_left() ? descriptor_of(a) : NULL;
    if (file && open_descriptor(file, a->key, &m->handle, &m->file, reason, sizeof reason) == 0)
        return 0;
    if (open_private_file(a, &m->handle, reason, sizeof reason) == 0) {
        if (!descriptors_left())
            artifact_drop_file(a);
        return 0;
    }
    return client_error(e, KILN_E_LOAD, 0, "cannot load the artifact: %s", reason);
}

/* Requires: the lock is held. */
static int find_or_open(struct kiln_artifact *a, struct mapping **ret, struct kiln_error *e)
{
    struct mapping **head = bucket(a->key);
    for (struct mapping *m = *head; m; m = m->next)
        if (!memcmp(m->key, a->key, KILN_KEY_BYTES)) {
            m->refs++;
            *ret = m;
            return 0;
        }
    struct mapping *m = calloc(1, sizeof *m);
    if (!m)
        return client_error(e, KILN_E_NOMEM, 0, "no memory to load an artifact");
    int rc = open_any(a, m, e);
    if (rc) {
        free(m);
        return rc;
    }
    memcpy(m->key, a->key, KILN_KEY_BYTES);
    m->refs = 1;
    m->entry = (kiln_entry_fn)(uintptr_t)dlsym(m->handle, KILN_SYM_ENTRY);
    kiln_bind_fn bind = (kiln_bind_fn)(uintptr_t)dlsym(m->handle, KILN_SYM_BIND);
    if (bind)
        bind(kiln_host());
    loaded.with_fd += m->file != NULL;
    m->next = *head;
    *head = m;
    *ret = m;
    return 0;
}

/* Requires: the lock is held. */
static void drop(struct mapping *m)
{
    if (--m->refs)
        return;
    struct mapping **at = bucket(m->key);
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    dlclose(m->handle);
    loaded.with_fd -= m->file != NULL;
    shared_fd_unref(m->file); /* only now may its number mean something else */
    free(m);
}

int kiln_load(struct kiln_artifact *a, struct kiln_library **ret, struct kiln_error *e)
{
    *ret = NULL;
    const struct kiln_manifest *manifest;
    int rc = kiln_artifact_manifest(a, &manifest, e);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < manifest->n_isa; i++)
        if (!kiln_cpu_has(manifest->isa[i]))
            return client_error(e, KILN_E_ISA, 0,
                                "the artifact needs the CPU feature %s, which this machine lacks",
                                manifest->isa[i]);
    struct kiln_library *lib = calloc(1, sizeof *lib);
    if (!lib)
        return client_error(e, KILN_E_NOMEM, 0, "no memory to load an artifact");
    lib->refs = 1;
    pthread_once(&fork_once, register_fork);
    pthread_mutex_lock(&loaded.lock);
    rc = find_or_open(a, &lib->map, e);
    pthread_mutex_unlock(&loaded.lock);
    if (rc) {
        free(lib);
        return rc;
    }
    host_count_library(1);
    *ret = lib;
    return 0;
}

kiln_entry_fn kiln_library_entry(const struct kiln_library *lib)
{
    return lib->map->entry;
}

const unsigned char *library_key(const struct kiln_library *lib)
{
    return lib->map->key;
}

void *kiln_library_symbol(const struct kiln_library *lib, const char *name, struct kiln_error *e)
{
    void *p = dlsym(lib->map->handle, name);
    /* dlsym looks into the libraries below (libm) too: only what the artifact itself holds counts. */
    Dl_info mine, its;
    if (p && dladdr(p, &its) && dladdr(dlsym(lib->map->handle, KILN_SYM_KEY), &mine) &&
        its.dli_fbase != mine.dli_fbase)
        p = NULL;
    if (!p)
        client_error(e, KILN_E_NOTFOUND, 0, "the artifact has no symbol %s", name);
    return p;
}

struct kiln_library *kiln_library_ref(struct kiln_library *lib)
{
    atomic_fetch_add_explicit(&lib->refs, 1, memory_order_relaxed);
    return lib;
}

void kiln_library_free(struct kiln_library *lib)
{
    if (!lib || atomic_fetch_sub_explicit(&lib->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&loaded.lock);
    drop(lib->map);
    pthread_mutex_unlock(&loaded.lock);
    free(lib);
    host_count_library(-1);
}

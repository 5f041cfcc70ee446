/* SPDX-License-Identifier: Apache-2.0
 * dir.c - a directory that the store can trust: on a local disk, ours, locked. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cache/private.h"

/* SQLite's write-ahead log needs memory shared between connections and locks that hold: neither is promised
 * where a server at the other end of a network keeps the file. FUSE is here for sshfs, s3fs and their kin. */
static const struct {
    uint32_t magic;
    const char *name;
} network[] = {
    { 0x00006969, "NFS" },    { 0x0000517B, "SMB" },    { 0xFF534D42, "CIFS" },   { 0xFE534D42, "SMB2" },
    { 0x5346414F, "AFS" },    { 0x6B414653, "AFS" },    { 0x73757245, "Coda" },   { 0x00C36400, "Ceph" },
    { 0x0BD00BD3, "Lustre" }, { 0x47504653, "GPFS" },   { 0x19830326, "BeeGFS" }, { 0xAAD7AAEA, "PanFS" },
    { 0x7461636F, "OCFS2" },  { 0x01161970, "GFS2" },   { 0x20030528, "OrangeFS" }, { 0x65735546, "FUSE" },
    { 0x0000564C, "NCP" },
};

const char *dir_network_name(uint64_t magic)
{
    for (size_t i = 0; i < sizeof network / sizeof network[0]; i++)
        if (network[i].magic == (uint32_t)magic)
            return network[i].name;
    return NULL;
}

/* mkdir -p, for this user alone. */
static int make_dirs(const char *dir, struct kiln_err *e)
{
    char path[PATH_MAX];
    size_t n = strlen(dir);

    if (n == 0 || n >= sizeof path)
        return kiln_err_set(e, KILN_E_IO, ENAMETOOLONG, "cache directory name is too long");
    memcpy(path, dir, n + 1);
    for (char *p = path + 1;; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST && (c == '\0' || errno != EROFS))
            return kiln_err_set(e, KILN_E_IO, errno, "cache directory '%s' cannot be made: %s", dir, strerror(errno));
        if (c == '\0')
            return 0;
        *p = c;
    }
}

static int check_owner(const char *dir, struct kiln_err *e)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "cache directory '%s': %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return kiln_err_set(e, KILN_E_IO, ENOTDIR, "cache directory '%s' is not a directory", dir);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return kiln_err_set(e, KILN_E_DENIED, 0, "cache directory '%s' belongs to user %u", dir, (unsigned)st.st_uid);
    if (st.st_mode & S_IWOTH)
        return kiln_err_set(e, KILN_E_DENIED, 0, "cache directory '%s' can be written by everybody", dir);
    return 0;
}

static int check_local(const char *dir, struct kiln_err *e)
{
    struct statfs fs;

    if (statfs(dir, &fs) < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "cache directory '%s': %s", dir, strerror(errno));
    if (dir_network_name((uint64_t)fs.f_type))
        return kiln_err_set(e, KILN_E_UNSUPPORTED, 0, "cache directory '%s' is on a network file system (%s)", dir,
                            dir_network_name((uint64_t)fs.f_type));
    return 0;
}

static int lock_dir(const char *dir, int *ret_lock, struct kiln_err *e)
{
    char path[PATH_MAX], pid[24] = "";
    ssize_t n;
    int fd;

    if (snprintf(path, sizeof path, "%s/lock", dir) >= (int)sizeof path)
        return kiln_err_set(e, KILN_E_IO, ENAMETOOLONG, "cache directory name is too long");
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return kiln_err_set(e, KILN_E_IO, errno, "cache directory '%s' is not writable: %s", dir, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int saved = errno;
        n = read(fd, pid, sizeof pid - 1);
        pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
        close(fd);
        if (saved == EWOULDBLOCK)
            return kiln_err_set(e, KILN_E_EXISTS, 0, "cache directory '%s' is used by another daemon (pid %s)", dir,
                                *pid ? pid : "unknown");
        return kiln_err_set(e, KILN_E_IO, saved, "cache directory '%s' cannot be locked: %s", dir, strerror(saved));
    }
    n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) < 0 || pwrite(fd, pid, (size_t)n, 0) != n) {
        int saved = errno;
        close(fd);
        return kiln_err_set(e, KILN_E_IO, saved, "cache directory '%s': writing fails: %s", dir, strerror(saved));
    }
    *ret_lock = fd;
    return 0;
}

int dir_prepare(const char *dir, char **ret_path, int *ret_lock, struct kiln_err *e)
{
    char *path;
    int r = make_dirs(dir, e);

    if (r < 0)
        return r;
    path = realpath(dir, NULL); /* SQLite is told to follow no link */
    if (!path)
        return kiln_err_set(e, errno == ENOMEM ? KILN_E_NOMEM : KILN_E_IO, errno, "cache directory '%s': %s", dir,
                            strerror(errno));
    if ((r = check_owner(path, e)) < 0 || (r = check_local(path, e)) < 0 || (r = lock_dir(path, ret_lock, e)) < 0) {
        free(path);
        return r;
    }
    *ret_path = path;
    return 0;
}

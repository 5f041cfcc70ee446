/* SPDX-License-Identifier: Apache-2.0
 * Loading: key check, one mapping a key, descriptor numbers that come back, files instead of descriptors, and
 * ten thousand rounds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <kiln/kiln.h>
#include <sys/mman.h>

#include "client/c/src/artifact.h"

#define CYCLES 10000
#define OBJECTS 4

/* Objects whose entry returns its number, made once by the C compiler. */
static struct {
    unsigned char key[KILN_KEY_BYTES];
    unsigned char *bytes;
    size_t len;
} objects[OBJECTS];

static const char source[] =
    "#include <kiln/abi.h>\n"
    "const unsigned char kiln_key[32] = { NUMBER, 42 };\n"
    "static const struct kiln_host *host;\n"
    "void kiln_bind(const struct kiln_host *h) { host = h; }\n"
    "int32_t kiln_entry(void *ret, const void *args, const void *env, struct kiln_exc *exc)\n"
    "{ (void)args, (void)env, (void)exc; *(int64_t *)ret = host ? NUMBER : -1; return 0; }\n"
    "int plain(int x) { return x + NUMBER; }\n";

static void make_object(const char *dir, int i)
{
    char path[256], command[1024];
    snprintf(path, sizeof path, "%s/o.c", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(source, 1, sizeof source - 1, f), sizeof source - 1);
    fclose(f);
    snprintf(command, sizeof command, "%s -DNUMBER=%d -shared -fPIC -I%s -o %s/o.so %s/o.c", KILN_TEST_CC,
             i + 1, KILN_TEST_INCLUDE, dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/o.so", dir);
    f = fopen(path, "rb");
    assert_non_null(f);
    static unsigned char buffer[1 << 18];
    objects[i].len = fread(buffer, 1, sizeof buffer, f);
    fclose(f);
    objects[i].bytes = malloc(objects[i].len);
    memcpy(objects[i].bytes, buffer, objects[i].len);
    objects[i].key[0] = (unsigned char)(i + 1);
    objects[i].key[1] = 42;
    unlink(path);
    snprintf(path, sizeof path, "%s/o.c", dir);
    unlink(path);
}

static int make_all(void **state)
{
    (void)state;
    char dir[] = "/tmp/kiln-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < OBJECTS; i++)
        make_object(dir, i);
    rmdir(dir);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    for (int i = 0; i < OBJECTS; i++)
        free(objects[i].bytes);
    return 0;
}

static struct kiln_artifact *artifact(int i)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    assert_int_equal(kiln_artifact_make(objects[i].key, objects[i].bytes, objects[i].len, NULL, 0, &a, &e),
                     0);
    return a;
}

static struct kiln_library *load(int i)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a = artifact(i);
    struct kiln_library *lib = NULL;
    if (kiln_load(a, &lib, &e))
        fail_msg("%s", e.message);
    kiln_artifact_free(a);
    return lib;
}

static int64_t call(struct kiln_library *lib)
{
    int64_t n = 0;
    struct kiln_exc exc;
    assert_int_equal(kiln_library_entry(lib)(&n, NULL, NULL, &exc), KILN_DONE);
    return n;
}

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void loads_binds_and_finds(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_library *lib = load(0);
    assert_int_equal(call(lib), 1);
    int (*plain)(int) = (int (*)(int))(uintptr_t)kiln_library_symbol(lib, "plain", &e);
    assert_non_null(plain);
    assert_int_equal(plain(10), 11);
    assert_null(kiln_library_symbol(lib, "nothing", &e));
    assert_int_equal(e.code, KILN_E_NOTFOUND);
    assert_null(kiln_library_symbol(lib, "malloc", &e)); /* of libc, not of the artifact */
    kiln_error_clear(&e);
    kiln_library_free(kiln_library_ref(lib));
    assert_int_equal(call(lib), 1);
    kiln_library_free(lib);
}

static void another_key_is_refused(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    struct kiln_library *lib;
    unsigned char key[KILN_KEY_BYTES] = { 99 };
    assert_int_equal(kiln_artifact_make(key, objects[0].bytes, objects[0].len, NULL, 0, &a, &e), 0);
    assert_int_equal(kiln_load(a, &lib, &e), -KILN_E_LOAD);
    assert_null(lib);
    assert_non_null(strstr(e.message, "key"));
    kiln_artifact_free(a);
    assert_int_equal(kiln_artifact_make(key, "no ELF", 6, NULL, 0, &a, &e), 0);
    assert_int_equal(kiln_load(a, &lib, &e), -KILN_E_LOAD);
    kiln_artifact_free(a);
    kiln_error_clear(&e);
}

static void missing_features_are_refused(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    struct kiln_library *lib;
    static const unsigned char manifest[] = "\x81\xa3isa\x91\xa9no-such-x";
    assert_int_equal(kiln_artifact_make(objects[0].key, objects[0].bytes, objects[0].len, manifest,
                                        sizeof manifest - 1, &a, &e),
                     0);
    assert_int_equal(kiln_load(a, &lib, &e), -KILN_E_ISA);
    assert_non_null(strstr(e.message, "no-such-x"));
    kiln_artifact_free(a);
    assert_int_equal(kiln_artifact_make(objects[0].key, objects[0].bytes, objects[0].len, "\xc1", 1, &a, &e),
                     0);
    assert_true(kiln_load(a, &lib, &e) < 0); /* a broken manifest */
    kiln_artifact_free(a);
    kiln_error_clear(&e);
}

/* The trap: a library is closed, its descriptor's number is used by another artifact, which is then loaded.
 */
static void numbers_come_back(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < OBJECTS; i++) {
            struct kiln_library *lib = load(i);
            assert_int_equal(call(lib), i + 1);
            kiln_library_free(lib);
        }
}

/* Two descriptors of one content: the second one must outlive the first. */
static void one_content_twice(void **state)
{
    (void)state;
    struct kiln_library *first = load(0), *second = load(0);
    assert_ptr_equal(kiln_library_entry(first), kiln_library_entry(second));
    kiln_library_free(first);
    struct kiln_library *other = load(1), *third = load(2);
    assert_int_equal(call(second), 1);
    assert_int_equal(call(other), 2);
    assert_int_equal(call(third), 3);
    kiln_library_free(second);
    kiln_library_free(other);
    kiln_library_free(third);
}

static void ten_thousand_rounds(void **state)
{
    (void)state;
    struct kiln_counts before, after;
    struct kiln_library *kept = load(OBJECTS - 1);
    kiln_counts(&before);
    int fds = count_fds();
    struct kiln_artifact *a[OBJECTS];
    for (int i = 0; i < OBJECTS; i++)
        a[i] = artifact(i);
    for (int n = 0; n < CYCLES; n++) {
        struct kiln_library *lib;
        int i = n % OBJECTS;
        assert_int_equal(kiln_load(a[i], &lib, NULL), 0);
        assert_int_equal(call(lib), i + 1);
        kiln_library_free(lib);
    }
    for (int i = 0; i < OBJECTS; i++)
        kiln_artifact_free(a[i]);
    kiln_counts(&after);
    assert_int_equal(after.libraries_live, before.libraries_live);
    assert_int_equal(after.loads_total, before.loads_total + CYCLES);
    assert_int_equal(count_fds(), fds);
    assert_int_equal(call(kept), OBJECTS);
    kiln_library_free(kept);
}

static void without_descriptors_files_do(void **state)
{
    (void)state;
    struct rlimit all, few;
    getrlimit(RLIMIT_NOFILE, &all);
    few = all;
    few.rlim_cur = 15; /* a quarter is for code: the fourth library comes from a file */
    struct kiln_library *libs[OBJECTS];
    int before = count_fds();
    setrlimit(RLIMIT_NOFILE, &few);
    libs[0] = load(0);
    libs[1] = load(1);
    libs[2] = load(2);
    libs[3] = load(3);
    assert_int_equal(count_fds(), before + 3);
    for (int i = 0; i < OBJECTS; i++) {
        assert_int_equal(call(libs[i]), i + 1);
        kiln_library_free(libs[i]);
    }
    setrlimit(RLIMIT_NOFILE, &all);
    assert_int_equal(count_fds(), before);
}

static struct kiln_artifact *by_descriptor(int i)
{
    struct kiln_artifact *a;
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_int_equal(write(fd, objects[i].bytes, objects[i].len), objects[i].len);
    assert_int_equal(artifact_new(objects[i].key, fd, NULL, 0, NULL, 0, &a, NULL), 0);
    return a;
}

static void code_shares_its_artifacts_descriptor(void **state)
{
    (void)state;
    struct kiln_library *lib, *again;
    int fds = count_fds();
    struct kiln_artifact *a = by_descriptor(0), *b = by_descriptor(0);
    assert_int_equal(kiln_load(a, &lib, NULL), 0);
    assert_int_equal(count_fds(), fds + 2);
    kiln_artifact_free(a); /* the number stays taken: the code's name is made of it */
    assert_int_equal(count_fds(), fds + 2);
    assert_int_equal(kiln_load(b, &again, NULL), 0);
    kiln_library_free(lib);
    kiln_artifact_free(b);
    assert_int_equal(count_fds(), fds + 1);
    assert_int_equal(call(again), 1);
    kiln_library_free(again);
    assert_int_equal(count_fds(), fds);
}

static void scarce_descriptors_are_given_back(void **state)
{
    (void)state;
    struct rlimit all, few;
    getrlimit(RLIMIT_NOFILE, &all);
    few = all;
    few.rlim_cur = 15;
    struct kiln_artifact *a[OBJECTS];
    struct kiln_library *libs[OBJECTS];
    int fds = count_fds();
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < OBJECTS; i++) {
        a[i] = by_descriptor(i);
        assert_int_equal(kiln_load(a[i], &libs[i], NULL), 0);
    }
    assert_int_equal(count_fds(), fds + 3);
    const void *bytes;
    size_t len;
    assert_int_equal(kiln_artifact_bytes(a[OBJECTS - 1], &bytes, &len, NULL), 0);
    assert_memory_equal(bytes, objects[OBJECTS - 1].bytes, len);
    setrlimit(RLIMIT_NOFILE, &all);
    for (int i = 0; i < OBJECTS; i++) {
        assert_int_equal(call(libs[i]), i + 1);
        kiln_library_free(libs[i]);
        kiln_artifact_free(a[i]);
    }
    assert_int_equal(count_fds(), fds);
}

static void a_child_can_load(void **state)
{
    (void)state;
    struct kiln_library *lib = load(0);
    pid_t child = fork();
    if (child == 0) {
        int ok = call(lib) == 1;
        kiln_library_free(lib);
        for (int i = 0; i < OBJECTS; i++) {
            struct kiln_artifact *a;
            struct kiln_library *mine;
            ok = ok &&
                 !kiln_artifact_make(objects[i].key, objects[i].bytes, objects[i].len, NULL, 0, &a, NULL) &&
                 !kiln_load(a, &mine, NULL);
            int64_t n = 0;
            struct kiln_exc exc;
            ok = ok && kiln_library_entry(mine)(&n, NULL, NULL, &exc) == 0 && n == i + 1;
        }
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(call(lib), 1);
    kiln_library_free(lib);
}

static void bytes_and_manifest(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_artifact *a;
    const struct kiln_manifest *m;
    static const unsigned char text[] = "\x84\xa5"
                                        "entry\xa1"
                                        "f\xa6params\x92\xa5pyint\xa4"
                                        "bool\xa3new\x93\x01\x02\x80\xa3"
                                        "abi\x01";
    assert_int_equal(
        kiln_artifact_make(objects[0].key, objects[0].bytes, objects[0].len, text, sizeof text - 1, &a, &e),
        0);
    if (kiln_artifact_manifest(a, &m, &e))
        fail_msg("%s", e.message);
    assert_string_equal(m->entry, "f");
    assert_int_equal(m->n_params, 2);
    assert_string_equal(m->params[1], "bool");
    assert_string_equal(m->ret, "");
    assert_int_equal(m->abi, 1);
    const void *bytes;
    size_t len;
    assert_int_equal(kiln_artifact_bytes(a, &bytes, &len, &e), 0);
    assert_int_equal(len, objects[0].len);
    assert_memory_equal(bytes, objects[0].bytes, len);
    kiln_artifact_free(a);
}

static void targets(void **state)
{
    (void)state;
    assert_non_null(kiln_target_default());
    assert_string_equal(kiln_target_resolve(NULL), kiln_target_default());
    assert_string_equal(kiln_target_resolve("aarch64"), "aarch64");
    assert_string_not_equal(kiln_target_resolve("native"), "native");
    assert_false(kiln_cpu_has("no-such-feature"));
#if defined(__x86_64__)
    assert_true(kiln_cpu_has("sse2"));
    assert_int_equal(kiln_cpu_has("avx2"), __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(kiln_cpu_has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
    assert_int_equal(kiln_cpu_has("fma"), __builtin_cpu_supports("fma") != 0);
    assert_true(kiln_cpu_has(kiln_target_default()));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_binds_and_finds),
        cmocka_unit_test(another_key_is_refused),
        cmocka_unit_test(missing_features_are_refused),
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(one_content_twice),
        cmocka_unit_test(ten_thousand_rounds),
        cmocka_unit_test(without_descriptors_files_do),
        cmocka_unit_test(code_shares_its_artifacts_descriptor),
        cmocka_unit_test(scarce_descriptors_are_given_back),
        cmocka_unit_test(a_child_can_load),
        cmocka_unit_test(bytes_and_manifest),
        cmocka_unit_test(targets),
    };
    return cmocka_run_group_tests(tests, make_all, free_all);
}

/* SPDX-License-Identifier: Apache-2.0
 * Connections and requests against a fake daemon: order, threads, forks, losses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include <kiln/kiln.h>

#include "tests/unit/fake_server.h"

static struct fake server;
static char dir[] = "/tmp/kiln-test-XXXXXX";
static char path[64];

static int start(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/s", dir);
    return fake_start(&server, path);
}
static int stop(void **state)
{
    (void)state;
    fake_stop(&server);
    return 0;
}

static struct kiln_connection *connect_to(const struct kiln_options *more)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = { 0 };
    struct kiln_connection *c;
    if (more)
        o = *more;
    o.socket = path;
    o.no_start = true;
    if (kiln_connect(&o, &c, &e))
        fail_msg("%s", e.message);
    return c;
}

static struct kiln_compile request(const char *signature)
{
    return (struct kiln_compile){
        .kind = KILN_KIR, .body = signature, .body_len = strlen(signature), .signature = signature
    };
}

/* One compile; the answer must be for this signature. */
static int compile(struct kiln_connection *c, const char *signature, struct kiln_error *e)
{
    struct kiln_compile r = request(signature);
    struct kiln_artifact *a;
    int rc = kiln_compile(c, &r, &a, e);
    if (rc)
        return rc;
    struct kiln_artifact_info info;
    unsigned char digest[KILN_DIGEST_BYTES];
    kiln_artifact_info(a, &info);
    kiln_digest(signature, strlen(signature), digest);
    bool right = info.manifest_len == strlen(signature) &&
                 !memcmp(info.manifest, signature, info.manifest_len) &&
                 !memcmp(info.key, digest, sizeof digest) && info.size == 4;
    const void *bytes;
    size_t len;
    right = right && !kiln_artifact_bytes(a, &bytes, &len, e) && len == 4 && !memcmp(bytes, "code", 4);
    kiln_artifact_free(a);
    return right ? 0 : 1;
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

static void greets(void **state)
{
    (void)state;
    struct kiln_connection *c = connect_to(NULL);
    struct kiln_server s;
    assert_int_equal(kiln_server_info(c, &s, NULL), 0);
    assert_string_equal(s.socket, path);
    assert_string_equal(s.version, "fake");
    assert_int_equal(s.protocol, 1);
    kiln_disconnect(c);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_options o = { .socket = path, .no_start = true };
    struct kiln_connection *c;
    server.version = 9;
    assert_int_equal(kiln_connect(&o, &c, &e), -KILN_E_VERSION);
    assert_null(c);
    kiln_error_clear(&e);
    server.version = 1;
}

static void descriptors_and_bytes(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    int fds = count_fds();
    assert_int_equal(compile(c, "by descriptor", &e), 0);
    assert_int_equal(compile(c, "inline", &e), 0);
    assert_int_equal(server.bodies, 0);
    assert_int_equal(count_fds(), fds);
    kiln_disconnect(c);
}

static void the_body_follows_on_request(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    assert_int_equal(compile(c, "miss", &e), 0);
    assert_int_equal(server.compiles, 2);
    assert_int_equal(server.bodies, 1);
    struct kiln_compile r = request("miss");
    struct kiln_artifact *a;
    r.send_body = true;
    assert_int_equal(kiln_compile(c, &r, &a, &e), 0);
    kiln_artifact_free(a);
    assert_int_equal(server.compiles, 3);
    unsigned char digest[KILN_DIGEST_BYTES] = { 1 };
    r = (struct kiln_compile){ .signature = "miss", .digest = digest };
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_NEED_BODY);
    assert_null(a);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

static void errors_come_whole(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    for (int i = 0; i < 2; i++) { /* the second one frees what the first one held */
        assert_int_equal(compile(c, "error", &e), -KILN_E_TYPE);
        assert_int_equal(e.code, KILN_E_TYPE);
        assert_string_equal(e.message, "two mistakes");
        assert_string_equal(e.hint, "a hint");
        assert_int_equal(e.function, 0);
        assert_int_equal(e.node, 5);
        assert_int_equal(e.n_diagnostics, 2);
        assert_string_equal(e.diagnostics[0].message, "first");
        assert_string_equal(e.diagnostics[0].hint, "");
        assert_int_equal(e.diagnostics[0].n_notes, 1);
        assert_string_equal(e.diagnostics[0].notes[0].message, "x was int64 here");
        assert_int_equal(e.diagnostics[0].notes[0].node, 7);
        assert_string_equal(e.diagnostics[1].hint, "write this");
        assert_int_equal(e.diagnostics[1].node, -1);
    }
    assert_int_equal(compile(c, "error", NULL), -KILN_E_TYPE);
    kiln_error_clear(&e);
    assert_null(e.diagnostics);
    kiln_disconnect(c);
}

static void answers_in_any_order(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    struct kiln_compile r = request("pair");
    struct kiln_pending *first, *second;
    struct kiln_artifact *a;
    assert_int_equal(kiln_submit_compile(c, &r, &first, &e), 0);
    assert_int_equal(kiln_wait(first, 0, &e), 1);
    assert_int_equal(kiln_wait(first, 20, &e), 1);
    assert_int_equal(kiln_take_artifact(first, &a, &e), -KILN_E_INVALID);
    assert_int_equal(kiln_submit_compile(c, &r, &second, &e), 0);
    assert_int_equal(kiln_wait(first, -1, &e), 0);
    assert_int_equal(kiln_wait(second, 0, &e), 0); /* came before, read by the first one's wait */
    assert_int_equal(kiln_take_artifact(first, &a, &e), 0);
    kiln_artifact_free(a);
    assert_int_equal(kiln_take_artifact(first, &a, &e), -KILN_E_INVALID); /* once */
    kiln_pending_free(first);
    kiln_pending_free(second);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

static void cancel_tells_the_server(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    struct kiln_compile r = request("hang");
    struct kiln_pending *p, *q;
    assert_int_equal(kiln_submit_compile(c, &r, &p, &e), 0);
    assert_int_equal(kiln_submit_compile(c, &r, &q, &e), 0);
    kiln_cancel(p);
    assert_int_equal(kiln_wait(p, -1, &e), -KILN_E_CANCELLED);
    kiln_pending_free(p);
    kiln_pending_free(q); /* cancels */
    assert_int_equal(compile(c, "after", &e), 0);
    assert_int_equal(server.cancels, 2);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

static void a_lost_request_is_sent_again_once(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    assert_int_equal(compile(c, "drop", &e), 0);
    assert_int_equal(server.connections, 2);
    assert_int_equal(compile(c, "always-drop", &e), -KILN_E_CLOSED);
    assert_int_equal(server.compiles, 4);
    assert_int_equal(compile(c, "after", &e), 0);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

static void a_restarted_daemon_is_found(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    assert_int_equal(compile(c, "before", &e), 0);
    fake_stop(&server);
    assert_int_equal(fake_start(&server, path), 0);
    /* The old connection still stands: this fake's threads live on. Its loss: */
    assert_int_equal(compile(c, "drop", &e), 0);
    assert_int_equal(compile(c, "after", &e), 0);
    kiln_disconnect(c);
}

static void a_missing_descriptor_is_an_error(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    assert_int_equal(compile(c, "nofd", &e), -KILN_E_WIRE_FRAME);
    assert_int_equal(compile(c, "after", &e), 0);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

static int answer(void *user, uint64_t overload, const char *const *types, uint32_t n, void **body,
                  size_t *len, char message[256])
{
    (void)message;
    assert_string_equal(user, "mine");
    assert_int_equal(overload, 3);
    assert_int_equal(n, 1);
    assert_string_equal(types[0], "int64");
    *body = strdup("overload");
    *len = 8;
    return 0;
}

static void questions_are_answered(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    char mine[] = "mine";
    struct kiln_options o = { .resolve = answer, .resolve_user = mine };
    struct kiln_connection *c = connect_to(&o);
    struct kiln_compile r = request("resolve");
    struct kiln_artifact *a;
    struct kiln_artifact_info info;
    assert_int_equal(kiln_compile(c, &r, &a, &e), 0);
    kiln_artifact_info(a, &info);
    assert_int_equal(info.manifest_len, 8);
    assert_memory_equal(info.manifest, "overload", 8);
    assert_int_equal(server.resolved, 1);
    kiln_artifact_free(a);
    kiln_disconnect(c);
}

static void counters(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    struct kiln_counters *s;
    compile(c, "one", &e);
    assert_int_equal(kiln_stats(c, &s, &e), 0);
    assert_int_equal(s->n, 1);
    assert_string_equal(s->items[0].name, "compiles");
    assert_int_equal(s->items[0].value, 1);
    kiln_result_free(s);
    struct kiln_state *st;
    assert_int_equal(kiln_status(c, &st, NULL), -KILN_E_UNSUPPORTED);
    assert_null(st);
    kiln_disconnect(c);
}

#define THREADS 8
#define REQUESTS 100
static struct kiln_connection *shared;

static void *many(void *arg)
{
    intptr_t bad = 0;
    for (int i = 0; i < REQUESTS; i++) {
        char text[64];
        snprintf(text, sizeof text, "thread %d request %d", (int)(intptr_t)arg, i);
        bad += compile(shared, i % 10 == 3 ? "miss" : text, NULL) != 0;
    }
    return (void *)bad;
}

static void many_threads_share_one_connection(void **state)
{
    (void)state;
    pthread_t ids[THREADS];
    shared = connect_to(NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, many, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(ids[i], &bad);
        assert_null(bad);
    }
    assert_int_equal(server.connections, 1);
    kiln_disconnect(shared);
}

static void *drop_in_between(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        server.drops = 0;
        compile(shared, "drop", NULL);
    }
    return NULL;
}

static void losses_hit_nobody(void **state)
{
    (void)state;
    pthread_t ids[3], dropper;
    shared = connect_to(NULL);
    for (intptr_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, many, (void *)i), 0);
    assert_int_equal(pthread_create(&dropper, NULL, drop_in_between, NULL), 0);
    intptr_t bad = 0;
    for (int i = 0; i < 3; i++) {
        void *one;
        pthread_join(ids[i], &one);
        bad += (intptr_t)one;
    }
    pthread_join(dropper, NULL);
    /* A request may meet two losses in a row, which is an error to it; hardly any of 300 does. */
    assert_true(bad <= 10);
    assert_true(server.connections > 1);
    assert_int_equal(compile(shared, "after", NULL), 0);
    kiln_disconnect(shared);
}

static void a_child_connects_anew(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    assert_int_equal(compile(c, "parent", &e), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(compile(c, "child", NULL) ? 1 : 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(compile(c, "parent again", &e), 0);
    assert_int_equal(server.connections, 2);
    kiln_disconnect(c);
}

static void bad_requests(void **state)
{
    (void)state;
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = connect_to(NULL);
    struct kiln_compile r = { .kind = KILN_KIR };
    struct kiln_artifact *a;
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    r.signature = "()";
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    r = request("x");
    r.emit = (enum kiln_emit)17;
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    const char *const env[] = { "float64[::1]", NULL };
    struct kiln_hit hit;
    r = request("x");
    r.n_env = 2;
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    r.env = env;
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    assert_int_equal(kiln_lookup(c, &r, 1, &hit, &e), -KILN_E_INVALID);
    r = request("x");
    r.body_len = 0;
    assert_int_equal(kiln_compile(c, &r, &a, &e), -KILN_E_INVALID);
    assert_int_equal(kiln_lookup(c, &r, 5000, &hit, &e), -KILN_E_LIMIT);
    kiln_error_clear(&e);
    kiln_disconnect(c);
}

#define T(f) cmocka_unit_test_setup_teardown(f, start, stop)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(greets),
        T(another_version_is_refused),
        T(descriptors_and_bytes),
        T(the_body_follows_on_request),
        T(errors_come_whole),
        T(answers_in_any_order),
        T(cancel_tells_the_server),
        T(a_lost_request_is_sent_again_once),
        T(a_restarted_daemon_is_found),
        T(a_missing_descriptor_is_an_error),
        T(questions_are_answered),
        T(counters),
        T(many_threads_share_one_connection),
        T(losses_hit_nobody),
        T(a_child_connects_anew),
        T(bad_requests),
    };
    if (!mkdtemp(dir))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(dir);
    return failed;
}

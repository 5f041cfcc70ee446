/* SPDX-License-Identifier: Apache-2.0
 * What a line looks like, and that a user's string can't make a second one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/log.h"

static int pipe_ends[2], saved;

static void capture(void)
{
    assert_int_equal(pipe(pipe_ends), 0);
    saved = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
}

static const char *captured(void)
{
    static char text[8192];
    ssize_t n;

    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipe_ends[1]);
    n = read(pipe_ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    close(pipe_ends[0]);
    return text;
}

static void an_event_is_one_line(void **state)
{
    (void)state;
    capture();
    log_event(LOG_INFO, "compile done", log_u("request", 12), log_s("key", "ab12"), log_s("name", ""));
    assert_string_equal(captured(), "<6>compile done request=12 key=ab12 name=\"\"\n");
    capture();
    log_event(LOG_WARNING, "bare");
    assert_string_equal(captured(), "<4>bare\n");
}

static void strings_are_escaped(void **state)
{
    (void)state;
    capture();
    log_event(LOG_ERROR, "x", log_s("a", "two words"), log_s("b", "line\nbreak\r\t\x1b[31m\x7f"), log_s("c", "q\"\\"),
              log_s("d", "k=v"), log_s("e", "caf\xc3\xa9"), log_s("f", "\xc2\x9b" "31m"));
    assert_string_equal(captured(), "<3>x a=\"two words\" b=line\\x0abreak\\x0d\\x09\\x1b[31m\\x7f c=\"q\\\"\\\\\" "
                                    "d=\"k=v\" e=caf\xc3\xa9 f=\\xc2\\x9b31m\n");
}

static void long_strings_are_cut(void **state)
{
    char text[5000];
    const char *line;

    (void)state;
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    capture();
    log_event(LOG_INFO, "x", log_s("a", text), log_u("n", 1));
    line = captured();
    assert_true(strlen(line) < 230);
    assert_non_null(strstr(line, "aaa... n=1\n"));
}

static void levels_filter(void **state)
{
    enum log_level level;

    (void)state;
    capture();
    log_event(LOG_DEBUG, "not yet");
    log_set_level(LOG_DEBUG);
    log_event(LOG_DEBUG, "now");
    log_set_level(LOG_ERROR);
    log_event(LOG_WARNING, "no more");
    log_set_level(LOG_INFO);
    assert_string_equal(captured(), "<7>now\n");
    assert_true(log_parse_level("warning", &level) && level == LOG_WARNING);
    assert_true(log_parse_level("debug", &level) && level == LOG_DEBUG);
    assert_false(log_parse_level("loud", &level));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_one_line),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(long_strings_are_cut),
        cmocka_unit_test(levels_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0
 * log.h - one line an event, for programs only (libraries return errors).
 *
 *   <6>compile done request=12 key=ab12.. us=8123
 *
 * The prefix is journald's level. Values are escaped and cut to LIM_LOG_VALUE, so that a user's string
 * can't forge a line. Thread-safe: each event is one write to standard error. */
#ifndef KILN_BASE_LOG_H
#define KILN_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_NOTICE = 5, LOG_INFO = 6, LOG_DEBUG = 7 };

/* Events above this level are dropped; LOG_INFO at first. */
void log_set_level(enum log_level level);
/* "error", "warning", "notice", "info", "debug"; false for another word. */
bool log_parse_level(const char *word, enum log_level *ret);

/* The event's words, then key/value pairs: made by log_s and log_u.
 *   log_event(LOG_INFO, "worker started", log_u("pid", pid), log_s("state", "idle"));
 */
struct log_field {
    const char *key; /* NULL: the end */
    const char *text; /* NULL: a number */
    uint64_t number;
};
void log_event_fields(enum log_level level, const char *event, const struct log_field *fields);

#define log_s(k, v) ((struct log_field){ (k), (v), 0 })
#define log_u(k, v) ((struct log_field){ (k), (const char *)0, (uint64_t)(v) })
#define log_event(level, event, ...)                                                                                  \
    log_event_fields((level), (event), (const struct log_field[]){ __VA_ARGS__ __VA_OPT__(, ) { 0, 0, 0 } })

#endif

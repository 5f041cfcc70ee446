/* SPDX-License-Identifier: Apache-2.0
 * log.c - formatting into one buffer, so that lines of threads don't mix. */
#include "proto/base/log.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/buf.h"
#include "proto/base/limits.h"

static enum log_level highest = LOG_INFO;

void log_set_level(enum log_level level)
{
    highest = level;
}

bool log_parse_level(const char *word, enum log_level *ret)
{
    static const struct {
        const char *word;
        enum log_level level;
    } words[] = { { "error", LOG_ERROR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
                  { "info", LOG_INFO },   { "debug", LOG_DEBUG } };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i].word) == 0) {
            *ret = words[i].level;
            return true;
        }
    return false;
}

/* U+0080 to U+009F, which terminals take for commands as they do the codes below U+0020. */
static bool is_c1(const char *s)
{
    return (unsigned char)s[0] == 0xC2 && (unsigned char)s[1] >= 0x80 && (unsigned char)s[1] <= 0x9F;
}

static void value(struct buf *line, const char *s)
{
    size_t n = strlen(s), most = (size_t)LIM_LOG_VALUE;
    bool quote = n == 0 || strpbrk(s, " =\"\\") != NULL;

    if (quote)
        buf_byte(line, '"');
    for (size_t i = 0; i < n && i < most; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            buf_printf(line, "\\%c", c);
        else if (c < 0x20 || c == 0x7F || is_c1(s + i))
            buf_printf(line, "\\x%02x", c);
        else if (i > 0 && is_c1(s + i - 1))
            buf_printf(line, "\\x%02x", c);
        else
            buf_byte(line, c);
    }
    if (n > most)
        buf_str(line, "...");
    if (quote)
        buf_byte(line, '"');
}

void log_event_fields(enum log_level level, const char *event, const struct log_field *fields)
{
    struct buf line;

    if (level > highest)
        return;
    buf_init(&line, 1 << 16);
    buf_printf(&line, "<%d>%s", (int)level, event);
    for (; fields->key; fields++) {
        buf_printf(&line, " %s=", fields->key);
        if (fields->text)
            value(&line, fields->text);
        else
            buf_printf(&line, "%llu", (unsigned long long)fields->number);
    }
    buf_byte(&line, '\n');
    if (buf_ok(&line)) {
        ssize_t n = write(STDERR_FILENO, line.data, line.len);
        (void)n; /* nowhere to report a log that can't be written */
    }
    buf_done(&line);
}

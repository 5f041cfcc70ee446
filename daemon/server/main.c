/* SPDX-License-Identifier: Apache-2.0
 * main.c - kilnd: settings, then life.c. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/server/server.h"

/* The exit status of a start that failed. The loser of a race between two starts ends well: the winner serves. Not
 * so a daemon with a socket of its own and another daemon's cache directory. */
static int not_started(const struct server *s, const struct kiln_err *e)
{
    bool lost = e->code == KILN_E_EXISTS && !s->started;

    log_event(lost ? LOG_NOTICE : LOG_ERROR, "not started", log_s("error", e->msg));
    return lost ? 0 : kiln_err_exit(e->code);
}

static int run(struct server *s, int argc, char **argv)
{
    struct kiln_err e = KILN_ERR_INIT;
    enum settings_action action;

    if (settings_read(argc, argv, &s->settings, &action, &e) < 0) {
        fprintf(stderr, "kilnd: %s\n", e.msg);
        return kiln_err_exit(e.code);
    }
    if (action == SETTINGS_LEAVE)
        return 0;
    log_set_level((enum log_level)s->settings.log_level);
    if (life_run(s, &e) < 0)
        return not_started(s, &e);
    return s->exit_status;
}

int main(int argc, char **argv)
{
    struct server *s = calloc(1, sizeof *s);
    int status;

    if (!s)
        return kiln_err_exit(KILN_E_NOMEM);
    status = run(s, argc, argv);
    free(s->workers);
    free(s);
    return status;
}

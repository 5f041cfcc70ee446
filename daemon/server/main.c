/* SPDX-License-Identifier: Apache-2.0
 * main.c - kilnd: settings, then life.c. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/server/server.h"

int main(int argc, char **argv)
{
    struct server *s = calloc(1, sizeof *s);
    struct kiln_err e = KILN_ERR_INIT;
    enum settings_action action;
    int status;

    if (!s)
        return kiln_err_exit(KILN_E_NOMEM);
    if (settings_read(argc, argv, &s->settings, &action, &e) < 0) {
        fprintf(stderr, "kilnd: %s\n", e.msg);
        return kiln_err_exit(e.code);
    }
    if (action == SETTINGS_LEAVE)
        return 0;
    log_set_level((enum log_level)s->settings.log_level);
    if (life_run(s, &e) < 0) {
        /* the loser of a race between two starts: the winner serves, all is well. Not so with a socket of its own and
         * another daemon's cache directory */
        bool lost = e.code == KILN_E_EXISTS && s->listen_fd < 0;
        log_event(lost ? LOG_NOTICE : LOG_ERROR, "not started", log_s("error", e.msg));
        return lost ? 0 : kiln_err_exit(e.code);
    }
    status = s->exit_status;
    free(s->workers);
    free(s);
    return status;
}

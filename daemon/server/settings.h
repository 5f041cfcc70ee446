/* SPDX-License-Identifier: Apache-2.0
 * settings.h - settings.def, read from the environment, a configuration file and the command line, the later
 * winning over the earlier. */
#ifndef KILN_SERVER_SETTINGS_H
#define KILN_SERVER_SETTINGS_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/limits.h"
#include "proto/base/log.h"

#define SETTING_TEXT 512
typedef char setting_TEXT[SETTING_TEXT];
typedef uint64_t setting_NUMBER, setting_BYTES, setting_LEVEL;

struct settings {
#define X(name, kind, default_, argument, help) setting_##kind name;
#include "daemon/server/settings.def"
#undef X
};

enum settings_action { SETTINGS_RUN, SETTINGS_LEAVE /* --help or --version was answered */ };

/* Fill from defaults, environment, --config FILE and flags. KILN_E_CONFIG names the flag, or file and line. */
int settings_read(int argc, char **argv, struct settings *ret, enum settings_action *ret_action, struct kiln_err *e);

#endif

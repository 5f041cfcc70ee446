# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=store.sql -DOUT=store_sql.h -P embed.cmake: the schema as a C string.
file(READ "${IN}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUT}" "/* Made from cache/schema/store.sql. */\nstatic const char schema_sql[] =\n    \"${text}\";\n")

/* SPDX-License-Identifier: Apache-2.0
 * compile.c - kiln compile: a file of LLVM IR or KIR through the daemon. */
#include <stdlib.h>
#include <string.h>

#include "client/cli/input.h"

static const struct {
    const char *name;
    enum kiln_emit emit;
    const char *suffix;
} forms[] = {
    { "so", KILN_SO, ".so" },
    { "obj", KILN_OBJ, ".o" },
    { "asm", KILN_ASM, ".s" },
    { "llvm", KILN_LLVM_IR, ".unopt.ll" },
    { "llvm-opt", KILN_LLVM_OPT, ".opt.ll" },
    { "typed", KILN_TYPED, ".typed" },
};
#define N_FORMS (sizeof forms / sizeof forms[0])

/* The fast-math flags by name, as KIR's function flags (enums.def). */
static const struct {
    const char *name;
    uint32_t flag;
} flags[] = {
#define KIR_FLAG(NAME, bit, text) { text, bit },
#include "proto/ir/enums.def"
#undef KIR_FLAG
    { "fast", 0x7F00 },
};

#define MAX_ENV 255 /* as parameters */

struct wanted {
    struct kiln_compile request;
    const char *env[MAX_ENV];
    const char *path, *out, *suffix;
};

static int parse_flags(struct cli *cli, char *list, uint32_t *ret)
{
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        size_t i = 0;
        while (i < sizeof flags / sizeof flags[0] && strcmp(flags[i].name, name) != 0)
            i++;
        if (i == sizeof flags / sizeof flags[0])
            return cli_usage(
                cli,
                "unknown flag '%s' (fast, nnan, ninf, nsz, arcp, contract, afn, reassoc, boundscheck, "
                "error_model_numpy)",
                name);
        *ret |= flags[i].flag;
    }
    return 0;
}

static int parse(struct cli *cli, struct wanted *w)
{
    enum {
        OPT_SIG = 256,
        OPT_TARGET,
        OPT_EMIT,
        OPT_SYMBOL,
        OPT_FASTMATH,
        OPT_FLAGS,
        OPT_SEMANTICS,
        OPT_CHECKED,
        OPT_DEBUG,
        OPT_NO_CONTRACT,
        OPT_PRIVATE,
        OPT_DEADLINE,
        OPT_ENTRY,
           OPT_ENV };
    static const struct option longs[] = { { "entry", required_argument, NULL, OPT_ENTRY },
        { "env", required_argument, NULL, OPT_ENV },
                                           { "sig", required_argument, NULL, OPT_SIG },
                                           { "target", required_argument, NULL, OPT_TARGET },
                                           { "emit", required_argument, NULL, OPT_EMIT },
                                           { "symbol", required_argument, NULL, OPT_SYMBOL },
                                           { "fastmath", no_argument, NULL, OPT_FASTMATH },
                                           { "flags", required_argument, NULL, OPT_FLAGS },
                                           { "semantics", required_argument, NULL, OPT_SEMANTICS },
                                           { "checked", no_argument, NULL, OPT_CHECKED },
                                           { "debug", no_argument, NULL, OPT_DEBUG },
                                           { "no-contract", no_argument, NULL, OPT_NO_CONTRACT },
                                           { "private", no_argument, NULL, OPT_PRIVATE },
                                           { "deadline", required_argument, NULL, OPT_DEADLINE },
                                           { "output", required_argument, NULL, 'o' },
                                           { NULL, 0, NULL, 0 } };
    struct kiln_compile *r = &w->request;
    size_t form = 0;
    uint64_t seconds;
    int c, status;

    while ((c = cli_option(cli, "o:", longs)) != -1) {
        switch (c) {
        case OPT_ENTRY:
            r->entry = optarg;
            break;
        case OPT_SIG:
            r->signature = optarg;
            break;
        case OPT_TARGET:
            r->target = optarg;
            break;
        case OPT_SYMBOL:
            r->symbol = optarg;
            break;
        case OPT_FASTMATH:
            r->flags |= 0x7F00;
            break;
        case OPT_CHECKED:
            r->checked = true;
            break;
        case OPT_DEBUG:
            r->debug = true;
            break;
        case OPT_NO_CONTRACT:
            r->no_contract = true;
            break;
        case OPT_PRIVATE:
            r->is_private = true;
            break;
        case 'o':
            w->out = optarg;
            break;
        case OPT_ENV:
            if (r->n_env == MAX_ENV)
                return cli_usage(cli, "at most %d captured arrays", MAX_ENV);
            w->env[r->n_env++] = optarg;
            break;
        case OPT_FLAGS:
            status = parse_flags(cli, optarg, &r->flags);
            if (status)
                return status;
            break;
        case OPT_SEMANTICS:
            r->numba = strcmp(optarg, "numba") == 0;
            if (!r->numba && strcmp(optarg, "python") != 0)
                return cli_usage(cli, "--semantics is python or numba, not '%s'", optarg);
            break;
        case OPT_DEADLINE:
            if (!cli_duration(optarg, &seconds) || !seconds || seconds > UINT32_MAX / 1000)
                return cli_usage(cli, "--deadline needs a time such as 30s, not '%s'", optarg);
            r->deadline_ms = (uint32_t)(seconds * 1000);
            break;
        case OPT_EMIT:
            for (form = 0; form < N_FORMS && strcmp(forms[form].name, optarg) != 0; form++)
                ;
            if (form == N_FORMS)
                return cli_usage(cli, "--emit is so, obj, asm, llvm, llvm-opt or typed, not '%s'", optarg);
            break;
        default:
            return kiln_code_exit(KILN_E_INVALID);
        }
    }
    if (optind + 1 != cli->argc)
        return cli_usage(cli, "needs one file");
    if (!r->signature)
        return cli_usage(cli, "needs --sig, for example --sig 'float64(float64, int64)'");
    r->env = w->env;
    w->path = cli->argv[optind];
    r->emit = forms[form].emit;
    w->suffix = forms[form].suffix;
    return 0;
}

/* FILE.ll with emit so: FILE.so beside the current directory's other files. Heap; NULL when out of memory. */
static char *default_output(const struct wanted *w)
{
    const char *base = strrchr(w->path, '/'), *dot;
    size_t n;
    char *s;

    base = base ? base + 1 : w->path;
    if (strcmp(base, "-") == 0)
        base = "out";
    dot = strrchr(base, '.');
    n = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    s = malloc(n + strlen(w->suffix) + 1);
    if (s) {
        memcpy(s, base, n);
        strcpy(s + n, w->suffix);
    }
    return s;
}

static int report(const struct cli *cli, const char *path, struct kiln_artifact *a)
{
    struct kiln_artifact_info info;
    char key[HEX_KEY];
    text size, cost;

    kiln_artifact_info(a, &info);
    hex(info.key, KILN_KEY_BYTES, key);
    if (cli->json)
        return json_out(json_pack("{s:s, s:s, s:I, s:s, s:f}", "file", path, "key", key, "bytes",
                                  (json_int_t)info.size, "source", info.source, "compile_ms",
                                  (double)info.compile_us / 1e3));
    printf("%s: %s, %s (%s), key %.12s\n", path, human_bytes(info.size, size),
           human_time_us(info.compile_us, cost), info.source, key);
    return 0;
}

int cmd_compile(struct cli *cli)
{
    struct wanted w = { 0 };
    struct input in = { 0 };
    struct kiln_artifact *a = NULL;
    char *chosen = NULL;
    const void *bytes;
    size_t len;
    int status;

    status = parse(cli, &w);
    if (!status)
        status = input_read(cli, w.path, &in);
    if (status)
        goto out;
    if (in.kind == KILN_LLVM && !w.request.entry) {
        status = cli_usage(cli, "LLVM IR needs --entry: the name of the function");
        goto out;
    }
    cli->source = in.has_source ? &in.source : NULL;
    w.request.kind = in.kind;
    w.request.body = in.body;
    w.request.body_len = in.len;
    w.request.target = kiln_target_resolve(w.request.target);
    status = cli_connect(cli, true);
    if (status)
        goto out;
    if (kiln_compile(cli->connection, &w.request, &a, &cli->error) < 0 ||
        kiln_artifact_bytes(a, &bytes, &len, &cli->error) < 0) {
        status = cli_fail(cli, w.path);
        goto out;
    }
    if (!w.out)
        w.out = chosen = default_output(&w);
    status = w.out ? write_file(cli, w.out, bytes, len, w.request.emit == KILN_SO ? 0755 : 0644)
                   : kiln_code_exit(KILN_E_NOMEM);
    if (!status && strcmp(w.out, "-") != 0)
        status = report(cli, w.out, a);
out:
    kiln_artifact_free(a);
    cli->source = NULL;
    input_done(&in);
    free(chosen);
    return status;
}

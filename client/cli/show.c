/* SPDX-License-Identifier: Apache-2.0
 * show.c - kiln show: the row, the manifest, the options and, for its owner, the IR of one entry. */
#include <string.h>

#include "client/cli/cli.h"
#include "proto/base/arena.h"
#include "proto/ir/kir.h"

#define IR_ARENA (512u << 20) /* decoding a module takes a multiple of its bytes; a frame is 64 MiB at most  \
                               */

/* Text of the payload: KIR in its text form, textual LLVM IR as it is; false for bitcode. */
static bool ir_text(const struct kiln_detail *d, struct buf *out)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct kir_module *m;
    struct arena a;
    bool ok = false;

    arena_init(&a, IR_ARENA);
    if (kir_decode(&a, d->ir, d->ir_len, &m, &e) == 0) {
        ok = kir_print(m, out, &e) == 0 && buf_ok(out);
    } else if (d->ir_len && memchr(d->ir, 0, d->ir_len) == NULL) {
        buf_add(out, d->ir, d->ir_len);
        ok = buf_ok(out);
    }
    arena_done(&a);
    return ok;
}

static json_t *detail_json(const struct kiln_detail *d, struct buf *ir, bool has_ir)
{
    char digest[2 * KILN_DIGEST_BYTES + 1];
    json_t *o = row_json(&d->row), *manifest = msgpack_json(d->manifest, d->manifest_len), *shown;

    json_object_set_new(o, "manifest", manifest ? manifest : json_null());
    json_object_set_new(o, "options", json_string(d->options));
    if (d->ir_digest)
        json_object_set_new(o, "ir_digest", json_string(hex(d->ir_digest, KILN_DIGEST_BYTES, digest)));
    if (d->toolchain)
        json_object_set_new(o, "toolchain", json_string(hex(d->toolchain, KILN_DIGEST_BYTES, digest)));
    shown = has_ir ? json_string(buf_cstr(ir)) : NULL; /* NULL too if LLVM's text is not UTF-8 */
    json_object_set_new(o, "ir", shown ? shown : json_null());
    return o;
}

static void line(const char *name, const char *value)
{
    printf("%-10s %s\n", name, value);
}

static void print_detail(const struct cli *cli, const struct kiln_detail *d, struct buf *ir, bool has_ir)
{
    const char *bold = cli->colour ? "\033[1m" : "", *plain = cli->colour ? "\033[0m" : "";
    char digits[HEX_KEY];
    json_t *manifest;
    text cell;

    line("key", hex(d->row.key, KILN_KEY_BYTES, digits));
    line("entry", *d->row.entry ? d->row.entry : "-");
    line("signature", d->row.signature);
    line("target", d->row.target);
    line("form", d->row.emit);
    line("options", *d->options ? d->options : "-");
    line("size", human_bytes(d->row.bytes, cell));
    line("compiled", human_time_us(d->row.compile_us, cell));
    line("created", human_age(d->row.created, cell));
    line("used", human_age(d->row.last_used, cell));
    printf("%-10s %llu\n", "hits", (unsigned long long)d->row.hits);
    line("owner", human_user(d->row.owner, cell));
    if (d->ir_digest)
        line("ir digest", hex(d->ir_digest, KILN_DIGEST_BYTES, digits));
    if (d->toolchain)
        line("toolchain", hex(d->toolchain, KILN_DIGEST_BYTES, digits));
    manifest = msgpack_json(d->manifest, d->manifest_len);
    if (manifest) {
        printf("\n%smanifest%s\n", bold, plain);
        fflush(stdout);
        json_out(manifest);
    }
    if (has_ir)
        printf("\n%sIR%s\n%s", bold, plain, buf_cstr(ir));
    else if (!d->ir_len)
        printf("\nThe IR is shown to the entry's owner and to administrators.\n");
}

int cmd_show(struct cli *cli)
{
    unsigned char key[KILN_KEY_BYTES];
    struct kiln_detail *detail;
    struct buf ir;
    bool has_ir;
    size_t n;
    int status = 0;

    if (cli->argc != 2)
        return cli_usage(cli, "needs one key");
    n = cli_key(cli->argv[1], key);
    if (!n)
        return cli_usage(cli, "'%s' is no key: at least 8 hexadecimal digits, an even number", cli->argv[1]);
    status = cli_connect(cli, false);
    if (status)
        return status;
    if (kiln_show(cli->connection, key, n, &detail, &cli->error) < 0)
        return cli_fail(cli, NULL);
    buf_init(&ir, IR_ARENA);
    has_ir = detail->ir_len && ir_text(detail, &ir);
    if (cli->json)
        status = json_out(detail_json(detail, &ir, has_ir));
    else
        print_detail(cli, detail, &ir, has_ir);
    buf_done(&ir);
    kiln_result_free(detail);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * input.c - telling payloads apart by their first bytes. */
#include "client/cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/buf.h"
#include "proto/ir/kir.h"

#define INPUT_MAX (64u << 20) /* what a frame holds */
#define PARSE_ARENA (1u << 30)

static int read_all(struct cli *cli, const char *path, struct buf *out)
{
    bool from_stdin = strcmp(path, "-") == 0;
    FILE *f = from_stdin ? stdin : fopen(path, "rb");
    unsigned char block[65536];
    size_t n = 0;

    if (!f) {
        fprintf(stderr, "kiln %s: %s: %s\n", cli->argv[0], path, strerror(errno));
        return kiln_code_exit(KILN_E_IO);
    }
    while (buf_ok(out) && (n = fread(block, 1, sizeof block, f)) > 0)
        buf_add(out, block, n);
    if (ferror(f) || !buf_ok(out)) {
        fprintf(stderr, "kiln %s: %s: %s\n", cli->argv[0], path,
                buf_ok(out) ? strerror(errno) : "larger than 64 MiB, which is the most that a request holds");
        if (!from_stdin)
            fclose(f);
        return kiln_code_exit(buf_ok(out) ? KILN_E_IO : KILN_E_LIMIT);
    }
    if (!from_stdin)
        fclose(f);
    return 0;
}

static bool ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), k = strlen(suffix);

    return n >= k && strcmp(s + n - k, suffix) == 0;
}

static bool is_bitcode(const struct buf *b)
{
    return b->len >= 4 &&
           (memcmp(b->data, "BC\xC0\xDE", 4) == 0 || memcmp(b->data, "\xDE\xC0\x17\x0B", 4) == 0);
}

/* A KIR module is a msgpack array that begins with the string "KIR". */
static bool is_binary_kir(const struct buf *b)
{
    return b->len >= 5 && memcmp(b->data + 1, "\xA3KIR", 4) == 0;
}

/* KIR's text form to bytes; the text and where its nodes stand are kept for diagnostics. */
static int assemble(struct cli *cli, const char *path, struct buf *b, struct input *in)
{
    struct kiln_err e = KILN_ERR_INIT;
    struct kir_module *m;
    struct buf out;
    int r;

    arena_init(&in->arena, PARSE_ARENA);
    buf_init(&out, INPUT_MAX);
    in->source.path = path;
    in->source.text = arena_dup(&in->arena, b->data, b->len);
    r = in->source.text ? 0 : kiln_err_set(&e, KILN_E_NOMEM, 0, NULL);
    if (r == 0)
        r = kir_parse_positions(&in->arena, in->source.text, b->len, &m, &in->source.positions, &e);
    if (r == 0)
        r = kir_encode(m, &out, &e);
    in->has_source = r == 0;
    if (r < 0) {
        fprintf(stderr, "kiln %s: %s: %s\n", cli->argv[0], path, e.msg);
        buf_done(&out);
        return kiln_code_exit(e.code);
    }
    buf_done(b);
    *b = out;
    return 0;
}

int input_read(struct cli *cli, const char *path, struct input *ret)
{
    struct buf b;
    int status;

    buf_init(&b, INPUT_MAX);
    status = read_all(cli, path, &b);
    if (status)
        goto out;
    if (b.len == 0) {
        fprintf(stderr, "kiln %s: %s is empty\n", cli->argv[0], path);
        status = kiln_code_exit(KILN_E_INVALID);
        goto out;
    }
    ret->kind = KILN_LLVM;
    if (is_binary_kir(&b)) {
        ret->kind = KILN_KIR;
    } else if (ends_with(path, ".kir") && !is_bitcode(&b)) {
        ret->kind = KILN_KIR;
        status = assemble(cli, path, &b, ret);
    }
    if (status)
        goto out;
    ret->body = buf_take(&b, &ret->len);
    if (!ret->body)
        status = kiln_code_exit(KILN_E_NOMEM);
out:
    buf_done(&b);
    return status;
}

void input_done(struct input *in)
{
    free(in->body);
    arena_done(&in->arena);
}

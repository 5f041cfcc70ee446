/* SPDX-License-Identifier: Apache-2.0
 * bench_llvm.c - what LLVM alone takes for the same IR: bench_llvm TARGET FILE.ll ...
 * Prints `FILE microseconds` for default<O3> and emitting an object. Each file is compiled once, in the order given, after
 * the first as a warm-up: what a worker's LLVM has behind it when a new function comes. Callers take the best of several runs. */
#include <stdio.h>
#include <time.h>

#include <llvm-c/IRReader.h>

#include "daemon/compiler/target/emit.h"

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* One round; negative when the file can't be compiled. */
static double round_of(const struct target *t, const char *path)
{
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMMemoryBufferRef file;
    LLVMModuleRef m;
    struct kiln_err e = KILN_ERR_INIT;
    struct buf out;
    char *message = NULL;
    double begin, took = -1;

    buf_init(&out, 1 << 26);
    if (!LLVMCreateMemoryBufferWithContentsOfFile(path, &file, &message) && !LLVMParseIRInContext(ctx, file, &m, &message)) {
        begin = now_us();
        if (emit_optimize(m, t, &e) == 0 && emit_code(m, t, false, &out, &e) == 0)
            took = now_us() - begin;
        LLVMDisposeModule(m);
    }
    buf_done(&out);
    LLVMContextDispose(ctx);
    return took;
}

int main(int argc, char **argv)
{
    struct targets targets = { NULL };
    struct kiln_err e = KILN_ERR_INIT;
    const struct target *t;

    targets_init();
    if (argc < 3 || target_find(&targets, argv[1], &t, &e) < 0) {
        fprintf(stderr, "usage: bench_llvm TARGET FILE.ll ... %s\n", e.msg);
        return 64;
    }
    round_of(t, argv[2]);
    for (int i = 2; i < argc; i++)
        printf("%s %.0f\n", argv[i], round_of(t, argv[i]));
    targets_done(&targets);
    return 0;
}

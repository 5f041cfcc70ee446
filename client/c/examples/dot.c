/* SPDX-License-Identifier: Apache-2.0
 * dot.c - a function built as KIR in C, compiled by the daemon, called on two arrays:
 *
 *   def dot(a, b):
 *       s = 0.0
 *       for i in range(len(a)):
 *           s += a[i] * b[i]
 *       return s
 *
 *   cc dot.c $(pkg-config --cflags --libs kiln) -o dot && ./dot                                            */
#include <stdio.h>
#include <stdlib.h>

#include <kiln/ir.h>
#include <kiln/kiln.h>

static void build(struct kiln_ir *ir)
{
    uint32_t f = kiln_ir_function(ir);
    uint32_t a = kiln_ir_param(ir, f, "a", KILN_IR_NIL);
    uint32_t b = kiln_ir_param(ir, f, "b", KILN_IR_NIL);
    uint32_t s = kiln_ir_new_local(ir, f);
    uint32_t i = kiln_ir_new_local(ir, f);
    uint32_t body[3];

    /* s = 0.0 */
    uint32_t zero = kiln_ir_const(ir, f, kiln_ir_float(ir, 0.0));
    body[0] = kiln_ir_assign(ir, f, zero, kiln_ir_local(ir, f, s));

    /* for i in range(len(a)): operands first, in the order of ops.def: target, iterable, body */
    uint32_t target = kiln_ir_local(ir, f, i);
    uint32_t range = kiln_ir_lib(ir, f, "builtins.range");
    uint32_t len = kiln_ir_lib(ir, f, "builtins.len");
    uint32_t of = kiln_ir_local(ir, f, a);
    uint32_t length = kiln_ir_call(ir, f, len, &of, 1);
    uint32_t iterable = kiln_ir_call(ir, f, range, &length, 1);

    /* s += a[i] * b[i] */
    uint32_t sum = kiln_ir_local(ir, f, s);
    uint32_t left = kiln_ir_local(ir, f, a);
    uint32_t left_index = kiln_ir_local(ir, f, i);
    left = kiln_ir_subscript(ir, f, left, left_index);
    uint32_t right = kiln_ir_local(ir, f, b);
    uint32_t right_index = kiln_ir_local(ir, f, i);
    right = kiln_ir_subscript(ir, f, right, right_index);
    uint32_t add = kiln_ir_augassign(ir, f, "+", sum, kiln_ir_binary(ir, f, "*", left, right));
    uint32_t loop = kiln_ir_block(ir, f, &add, 1);
    body[1] = kiln_ir_for(ir, f, target, iterable, loop, KILN_IR_NIL);

    /* return s */
    body[2] = kiln_ir_return(ir, f, kiln_ir_local(ir, f, s));
    kiln_ir_block(ir, f, body, 3);
}

/* One-dimensional array arguments, as <kiln/abi.h> lays them out. */
struct vector {
    struct kiln_mem *owner;
    double *data;
    intptr_t shape[1], strides[1];
};

static int fail(struct kiln_error *e)
{
    fprintf(stderr, "dot: %s: %s\n", kiln_code_name(e->code), e->message);
    for (uint32_t i = 0; i < e->n_diagnostics; i++)
        fprintf(stderr, "dot: function %d, node %d: %s\n", e->diagnostics[i].function, e->diagnostics[i].node,
                e->diagnostics[i].message);
    kiln_error_clear(e);
    return 1;
}

int main(void)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = NULL;
    struct kiln_artifact *artifact = NULL;
    struct kiln_library *lib = NULL;
    struct kiln_ir *ir = kiln_ir_new();
    void *body = NULL;
    size_t len;
    int status = 1;

    if (!ir)
        return 1;
    build(ir);
    if (kiln_ir_finish(ir, &body, &len, &e) || kiln_connect(NULL, &c, &e)) {
        fail(&e);
        goto out;
    }
    struct kiln_compile request = {
        .kind = KILN_KIR,
        .body = body,
        .body_len = len,
        .signature = "(float64[::1], float64[::1])",
        .entry = "dot",
    };
    if (kiln_compile(c, &request, &artifact, &e) || kiln_load(artifact, &lib, &e)) {
        fail(&e);
        goto out;
    }
    double x[] = { 1, 2, 3, 4 }, y[] = { 10, 20, 30, 40 }, result = 0;
    struct {
        struct vector a, b;
    } args = {
        { NULL, x, { 4 }, { sizeof *x } },
        { NULL, y, { 4 }, { sizeof *y } },
    };
    struct kiln_exc exc;
    if (kiln_library_entry(lib)(&result, &args, NULL, &exc) == KILN_DONE) {
        struct kiln_artifact_info info;
        kiln_artifact_info(artifact, &info);
        printf("dot = %g (%s, %llu bytes of code)\n", result, info.source, (unsigned long long)info.size);
        status = result == 300 ? 0 : 1;
    }
out:
    kiln_library_free(lib);
    kiln_artifact_free(artifact);
    kiln_disconnect(c);
    free(body);
    kiln_ir_free(ir);
    return status;
}

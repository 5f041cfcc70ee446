/* SPDX-License-Identifier: Apache-2.0
 * llvm.c - textual LLVM IR (or bitcode) from a file, compiled by the daemon; its function is called directly.
 *
 *   cc llvm.c $(pkg-config --cflags --libs kiln) -o llvm && ./llvm hypotenuse.ll                          */
#include <stdio.h>
#include <stdlib.h>

#include <kiln/kiln.h>

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    static char text[1 << 16];
    *ret_len = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        fclose(f);
    return *ret_len ? text : NULL;
}

int main(int argc, char **argv)
{
    struct kiln_error e = KILN_ERROR_INIT;
    struct kiln_connection *c = NULL;
    struct kiln_artifact *artifact = NULL;
    struct kiln_library *lib = NULL;
    int status = 1;
    size_t len;
    char *text = argc > 1 ? read_file(argv[1], &len) : NULL;
    if (!text) {
        fprintf(stderr, "usage: llvm FILE.ll\n");
        return 2;
    }
    struct kiln_compile request = {
        .kind = KILN_LLVM,
        .body = text,
        .body_len = len,
        .entry = "hypotenuse",
        .symbol = "hypotenuse",
        .signature = "float64(float64, float64)",
    };
    if (kiln_connect(NULL, &c, &e) || kiln_compile(c, &request, &artifact, &e) ||
        kiln_load(artifact, &lib, &e)) {
        fprintf(stderr, "llvm: %s: %s\n", kiln_code_name(e.code), e.message);
        goto out;
    }
    double (*hypotenuse)(double, double) =
        (double (*)(double, double))kiln_library_symbol(lib, "hypotenuse", &e);
    if (!hypotenuse) {
        fprintf(stderr, "llvm: %s\n", e.message);
        goto out;
    }
    printf("hypotenuse(3, 4) = %g\n", hypotenuse(3, 4));
    status = hypotenuse(3, 4) == 5 ? 0 : 1;
out:
    kiln_error_clear(&e);
    kiln_library_free(lib);
    kiln_artifact_free(artifact);
    kiln_disconnect(c);
    return status;
}

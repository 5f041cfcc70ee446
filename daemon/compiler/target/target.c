/* SPDX-License-Identifier: Apache-2.0
 * target.c - parsing targets and keeping their machines. */
#include "daemon/compiler/target/target.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>

static const struct row {
    const char *name, *triple, *cpu, *features;
    unsigned pointer_bytes;
    enum lower_abi abi;
    enum target_stub stub;
} rows[] = {
#define X(NAME, name, triple, cpu, features, pointer_bytes, abi, stub)                                       \
    { name, triple, cpu, features, pointer_bytes, LOWER_ABI_##abi, STUB_##stub },
#include "daemon/compiler/target/targets.def"
#undef X
};
#define N_ROWS (sizeof rows / sizeof rows[0])

void targets_init(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeARMTargetInfo();
    LLVMInitializeARMTarget();
    LLVMInitializeARMTargetMC();
    LLVMInitializeARMAsmPrinter();
}

void targets_done(struct targets *t)
{
    while (t->first) {
        struct target *x = t->first;
        t->first = x->next;
        LLVMDisposeTargetMachine(x->machine);
        LLVMDisposeMessage(x->layout);
        free(x);
    }
}

const char *target_arch_of(const char *triple)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        size_t n = strcspn(rows[i].triple, "-");
        if (strncmp(triple, rows[i].triple, n) == 0 && (triple[n] == '-' || triple[n] == '\0'))
            return rows[i].name;
    }
    return NULL;
}

/* The longest name that the text begins with: "x86-64-v3-fma" is not a feature v3 of x86-64. */
static const struct row *find_row(const char *text, size_t *ret_len)
{
    const struct row *best = NULL;

    for (size_t i = 0; i < N_ROWS; i++) {
        size_t n = strlen(rows[i].name);
        if (strncmp(text, rows[i].name, n) != 0 || (text[n] && text[n] != '+' && text[n] != '-') ||
            (best && n < *ret_len))
            continue;
        best = &rows[i];
        *ret_len = n;
    }
    return best;
}

static int unknown(const char *text, struct kiln_err *e)
{
    char names[200] = "";

    for (size_t i = 0; i < N_ROWS; i++) {
        strcat(names, i ? ", " : "");
        strcat(names, rows[i].name);
    }
    return kiln_err_set(e, KILN_E_TARGET, 0, "there is no target '%.60s' (there are: %s)", text, names);
}

static const struct feature {
    const char *name;
    enum target_stub arch;
} known[] = {
#define X86(name, level, leaf, subleaf, reg, bit) { name, STUB_X86_64 },
#define AARCH64(name, bit) { name, STUB_AARCH64 },
#define ARMV7HF(name, bit) { name, STUB_ARMV7HF },
#include "proto/abi/isa.def"
};

static bool is_known(const char *name, size_t len, enum target_stub arch)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].arch == arch && strlen(known[i].name) == len && memcmp(known[i].name, name, len) == 0)
            return true;
    return false;
}

/* One "+name" or "-name" of a target's text. */
struct item {
    const char *p;
    size_t len; /* with its sign */
};

/* By name; the signs of one name side by side. */
static int by_name(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int r = memcmp(x->p + 1, y->p + 1, n - 1);

    return r ? r : x->len != y->len ? (x->len > y->len) - (x->len < y->len) : *x->p - *y->p;
}

static int split(const char *p, const struct row *row, struct item *items, size_t *n, struct kiln_err *e)
{
    for (*n = 0; *p; p += items[(*n)++].len) {
        size_t len = 1 + strcspn(p + 1, "+-");
        if (*n == TARGET_FEATURES)
            return kiln_err_set(e, KILN_E_TARGET, 0, "a target has at most %d features", TARGET_FEATURES);
        if (row->stub == STUB_ARMV7HF && strncmp(p + 1, "hwdiv-arm", 9) == 0) /* the one name with a hyphen */
            len = 10;
        if (!is_known(p + 1, len - 1, row->stub))
            return kiln_err_set(e, KILN_E_TARGET, 0, "%s has no feature '%.*s' (docs/targets.md lists them)",
                                row->name, (int)(len - 1 < 40 ? len - 1 : 40), p + 1);
        items[*n] = (struct item){ p, len };
    }
    return 0;
}

/* Features in canonical order, once each: to->text for people and keys, to->features for LLVM. */
static int features(const char *text, struct target *to, const struct row *row, struct kiln_err *e)
{
    struct item items[TARGET_FEATURES];
    size_t n;
    int r = split(text, row, items, &n, e);

    if (r < 0)
        return r;
    qsort(items, n, sizeof *items, by_name);
    strcpy(to->features, row->features);
    for (size_t i = 0; i < n; i++) {
        const struct item *x = &items[i], *before = i ? x - 1 : NULL;
        if (before && before->len == x->len && memcmp(before->p + 1, x->p + 1, x->len - 1) == 0) {
            if (*before->p != *x->p)
                return kiln_err_set(e, KILN_E_TARGET, 0, "the target both adds and removes '%.*s'",
                                    (int)x->len - 1, x->p + 1);
            continue;
        }
        strncat(to->text, x->p, x->len);
        strcat(to->features, *to->features ? "," : "");
        strncat(to->features, x->p, x->len);
    }
    return 0;
}

static int machine(struct target *x, struct kiln_err *e)
{
    LLVMTargetRef llvm;
    LLVMTargetDataRef data;
    char *message = NULL;
    int r;

    if (LLVMGetTargetFromTriple(x->triple, &llvm, &message)) {
        r = kiln_err_set(e, KILN_E_TARGET, 0, "%s: %s", x->text, message);
        LLVMDisposeMessage(message);
        return r;
    }
    x->machine = LLVMCreateTargetMachine(llvm, x->triple, x->cpu, x->features, LLVMCodeGenLevelAggressive,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    if (!x->machine)
        return kiln_err_set(e, KILN_E_TARGET, 0, "%s: LLVM makes no target machine", x->text);
    data = LLVMCreateTargetDataLayout(x->machine);
    x->layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return 0;
}

int target_find(struct targets *t, const char *text, const struct target **ret, struct kiln_err *e)
{
    size_t n = 0;
    const struct row *row;
    struct target *x;
    int r;

    if (!text || !*text)
        text = TARGET_BASELINE;
    if (strlen(text) >= TARGET_TEXT / 2)
        return kiln_err_set(e, KILN_E_TARGET, 0, "the target's text is longer than %d bytes",
                            TARGET_TEXT / 2);
    for (x = t->first; x; x = x->next)
        if (strcmp(x->text, text) == 0) {
            *ret = x;
            return 0;
        }
    row = find_row(text, &n);
    if (!row)
        return unknown(text, e);
    x = calloc(1, sizeof *x);
    if (!x)
        return kiln_err_set(e, KILN_E_NOMEM, 0, "target");
    x->name = row->name;
    x->triple = row->triple;
    x->cpu = row->cpu;
    x->stub = row->stub;
    strcpy(x->text, row->name);
    r = features(text + n, x, row, e);
    if (r == 0)
        for (struct target *y = t->first; y; y = y->next)
            if (strcmp(x->text, y->text) == 0) { /* the same, spelled otherwise */
                free(x);
                *ret = y;
                return 0;
            }
    if (r == 0)
        r = machine(x, e);
    if (r < 0) {
        free(x);
        return r;
    }
    x->lower = (struct lower_target){ .triple = x->triple,
                                      .data_layout = x->layout,
                                      .pointer_bytes = row->pointer_bytes,
                                      .abi = row->abi,
                                      .cpu = x->cpu,
                                      .features = x->features };
    x->next = t->first;
    t->first = x;
    *ret = x;
    return 0;
}

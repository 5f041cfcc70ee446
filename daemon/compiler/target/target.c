/* SPDX-License-Identifier: Apache-2.0
 * target.c - parsing targets and keeping their machines. */
#include "daemon/compiler/target/target.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Target.h>

static const struct row {
    const char *name, *triple, *cpu, *features;
    unsigned pointer_bytes;
    enum lower_abi abi;
    enum target_stub stub;
} rows[] = {
#define X(NAME, name, triple, cpu, features, pointer_bytes, abi, stub)                                                \
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

static const struct row *find_row(const char *name, size_t n)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
            return &rows[i];
    return NULL;
}

static int unknown(const char *text, struct kiln_err *e)
{
    char known[200] = "";

    for (size_t i = 0; i < N_ROWS; i++) {
        strcat(known, i ? ", " : "");
        strcat(known, rows[i].name);
    }
    return kiln_err_set(e, KILN_E_TARGET, 0, "there is no target '%.60s' (there are: %s)", text, known);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "+a-b+c" in a canonical order, each with its sign, into out separated by `between` ("" or ","). */
static int features(char *copy, struct target *to, const char *base, struct kiln_err *e)
{
    char *items[64];
    unsigned n = 0;

    for (char *p = copy; *p;) {
        char *sign = p++;
        size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789.");
        if ((*sign != '+' && *sign != '-') || len == 0 || n == 64)
            return kiln_err_set(e, KILN_E_TARGET, 0, "features are written +name or -name behind the target, not '%.40s'", sign);
        p += len;
        items[n++] = sign;
        if (*p && *p != '+' && *p != '-')
            return kiln_err_set(e, KILN_E_TARGET, 0, "a feature's name has letters, digits and dots, not '%.40s'", p);
    }
    /* cut the items apart, from the back so that signs are still readable */
    {
        char *store = malloc(2 * TARGET_TEXT);
        char *at = store;
        if (!store)
            return kiln_err_set(e, KILN_E_NOMEM, 0, "target");
        for (unsigned i = 0; i < n; i++) {
            size_t len = (i + 1 < n ? items[i + 1] : copy + strlen(copy)) - items[i];
            memcpy(at, items[i], len);
            at[len] = '\0';
            items[i] = at;
            at += len + 1;
        }
        qsort(items, n, sizeof *items, by_text);
        strcpy(to->features, base);
        for (unsigned i = 0; i < n; i++) {
            if (i && strcmp(items[i], items[i - 1]) == 0)
                continue;
            strcat(to->text, items[i]);
            strcat(to->features, *to->features ? "," : "");
            strcat(to->features, items[i]);
        }
        free(store);
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
    x->machine = LLVMCreateTargetMachine(llvm, x->triple, x->cpu, x->features, LLVMCodeGenLevelAggressive, LLVMRelocPIC,
                                         LLVMCodeModelDefault);
    if (!x->machine)
        return kiln_err_set(e, KILN_E_TARGET, 0, "%s: LLVM makes no target machine", x->text);
    data = LLVMCreateTargetDataLayout(x->machine);
    x->layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return 0;
}

int target_find(struct targets *t, const char *text, const struct target **ret, struct kiln_err *e)
{
    size_t n;
    const struct row *row;
    struct target *x;
    char copy[TARGET_TEXT];
    int r;

    if (!text || !*text)
        text = TARGET_BASELINE;
    if (strlen(text) >= TARGET_TEXT / 2)
        return kiln_err_set(e, KILN_E_TARGET, 0, "the target's text is longer than %d bytes", TARGET_TEXT / 2);
    for (x = t->first; x; x = x->next)
        if (strcmp(x->text, text) == 0) {
            *ret = x;
            return 0;
        }
    n = strcspn(text, "+");
    row = find_row(text, n);
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
    strcpy(copy, text + n);
    r = features(copy, x, row->features, e);
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
    x->lower = (struct lower_target){ .triple = x->triple, .data_layout = x->layout, .pointer_bytes = row->pointer_bytes,
                                      .abi = row->abi, .cpu = x->cpu, .features = x->features };
    x->next = t->first;
    t->first = x;
    *ret = x;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * cpu.c - this machine's instruction sets, by cpuid and what the kernel keeps for them. */
#include "client/c/src/cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

/* LLVM's name, level of x86-64 that has it (0: none of them), and where cpuid says so. */
static const struct {
    const char *name;
    uint8_t level;
    uint32_t leaf, subleaf;
    uint8_t reg, bit;
} features[] = {
#define X86(name, level, leaf, subleaf, reg, bit) { name, level, leaf, subleaf, reg, bit },
#include "proto/abi/isa.def"
};
#define N_FEATURES (sizeof features / sizeof *features)

static bool have[N_FEATURES];
static unsigned level = 1;
static char native[1024];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Registers that the kernel saves: without that AVX traps, whatever the CPU can do. */
static uint32_t saved(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

static void detect(void)
{
    uint32_t xcr0 = saved();
    bool ymm = (xcr0 & 0x6) == 0x6, zmm = (xcr0 & 0xE6) == 0xE6;
    bool all[5] = { true, true, true, true, true };
    for (unsigned i = 0; i < N_FEATURES; i++) {
        uint32_t r[4];
        const char *n = features[i].name;
        bool yes = __get_cpuid_count(features[i].leaf, features[i].subleaf, &r[0], &r[1], &r[2], &r[3]) &&
                   r[features[i].reg] >> features[i].bit & 1;
        bool wide = !strncmp(n, "avx512", 6);
        bool vector = wide || !strncmp(n, "avx", 3) || !strcmp(n, "fma") || !strcmp(n, "f16c") ||
                      !strcmp(n, "vaes") || !strcmp(n, "vpclmulqdq");
        have[i] = yes && (!wide || zmm) && (!vector || ymm);
        for (unsigned l = features[i].level; l > 0 && l < 5; l++)
            all[l] &= have[i];
    }
    for (level = 4; level > 1 && !all[level]; level--)
        ;
    size_t at = (size_t)snprintf(native, sizeof native, level > 1 ? "x86-64-v%u" : "x86-64", level);
    for (unsigned i = 0; i < N_FEATURES; i++)
        if (have[i] && (!features[i].level || features[i].level > level))
            at += (size_t)snprintf(native + at, sizeof native - at, "+%s", features[i].name);
}

bool kiln_cpu_has(const char *feature)
{
    pthread_once(&once, detect);
    if (!strncmp(feature, "x86-64", 6)) {
        const char *rest = feature + 6;
        return !*rest || (rest[0] == '-' && rest[1] == 'v' && rest[2] >= '1' &&
                          rest[2] <= '0' + (char)level && !rest[3]);
    }
    for (unsigned i = 0; i < N_FEATURES; i++)
        if (!strcmp(features[i].name, feature))
            return have[i];
    return !strcmp(feature, "sse") || !strcmp(feature, "sse2") || !strcmp(feature, "cx8") ||
           !strcmp(feature, "cmov") || !strcmp(feature, "fxsr") || !strcmp(feature, "mmx") ||
           !strcmp(feature, "x87");
}

const char *kiln_target_default(void)
{
    static const char *const names[] = { "", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4" };
    pthread_once(&once, detect);
    return names[level];
}

static const char *target_native(void)
{
    pthread_once(&once, detect);
    return native;
}

#else /* other machines: one level, and what the kernel says of the CPU */

#include <sys/auxv.h>

static const struct {
    const char *name;
    unsigned bit;
} features[] = {
#if defined(__aarch64__)
#define THIS "aarch64"
#define AARCH64(name, bit) { name, bit },
#else
#define THIS "armv7hf"
#define ARMV7HF(name, bit) { name, bit },
#endif
#include "proto/abi/isa.def"
};
#define N_FEATURES (sizeof features / sizeof *features)

static char native[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void detect(void)
{
    size_t at = (size_t)snprintf(native, sizeof native, THIS);
    for (unsigned i = 0; i < N_FEATURES; i++)
        if (getauxval(AT_HWCAP) >> features[i].bit & 1)
            at += (size_t)snprintf(native + at, sizeof native - at, "+%s", features[i].name);
}

bool kiln_cpu_has(const char *feature)
{
    for (unsigned i = 0; i < N_FEATURES; i++)
        if (!strcmp(features[i].name, feature))
            return getauxval(AT_HWCAP) >> features[i].bit & 1;
    return !strcmp(feature, THIS);
}

const char *kiln_target_default(void)
{
    return THIS;
}

static const char *target_native(void)
{
    pthread_once(&once, detect);
    return native;
}
#endif

const char *kiln_target_resolve(const char *name)
{
    if (!name || !*name)
        return kiln_target_default();
    return strcmp(name, "native") ? name : target_native();
}

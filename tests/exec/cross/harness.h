/* SPDX-License-Identifier: Apache-2.0
 * harness.h - what a test program of test_cross.py has beside its calls: printing without rounding, a check that
 * callee-saved registers survive a call, and a math function that notes the stack pointer it was called with. */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SHOW_INT(x) printf(" %lld", (long long)(x))
#define SHOW_UINT(x) printf(" %llu", (unsigned long long)(x))
#define SHOW_FLOAT(x) printf(" %a", (double)(x))

/* saved_call(f): fill every callee-saved register with a pattern of its own, call f, and return a bit mask of those
 * that came back changed. Written once for each architecture, in assembly: a compiler would use the registers. */
uint64_t saved_call(void (*f)(void));
extern uintptr_t seen_stack; /* by cbrt, at its first instruction */

#if defined(__x86_64__)
#define STACK_REMAINDER 8 /* after the return address was pushed */
#define STACK_ALIGN 16
__asm__(".text\n.globl saved_call\n.type saved_call,@function\nsaved_call:\n"
        "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\nsub $8, %rsp\n"
        "mov $0x1111, %rbx\nmov $0x2222, %rbp\nmov $0x3333, %r12\nmov $0x4444, %r13\nmov $0x5555, %r14\nmov $0x6666, %r15\n"
        "call *%rdi\n"
        "xor %eax, %eax\n"
        "cmp $0x1111, %rbx\nje 1f\nor $1, %eax\n1: cmp $0x2222, %rbp\nje 1f\nor $2, %eax\n1: cmp $0x3333, %r12\nje 1f\nor $4, %eax\n"
        "1: cmp $0x4444, %r13\nje 1f\nor $8, %eax\n1: cmp $0x5555, %r14\nje 1f\nor $16, %eax\n1: cmp $0x6666, %r15\nje 1f\nor $32, %eax\n"
        "1: add $8, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n"
        ".globl cbrt\n.type cbrt,@function\ncbrt: mov %rsp, seen_stack(%rip)\nret\n");
#elif defined(__aarch64__)
#define STACK_REMAINDER 0
#define STACK_ALIGN 16
#define EACH(M) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28)
#define EACH_D(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define SET(n) "mov x" #n ", #0x" #n "\n"
#define TEST(n) "cmp x" #n ", #0x" #n "\ncset x1, ne\norr x0, x0, x1\n"
#define SET_D(n) "mov x1, #0x" #n "\nfmov d" #n ", x1\n"
#define TEST_D(n) "fmov x2, d" #n "\ncmp x2, #0x" #n "\ncset x1, ne\norr x0, x0, x1, lsl #1\n"
__asm__(".text\n.globl saved_call\n.type saved_call,%function\nsaved_call:\n"
        "stp x29, x30, [sp, #-176]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\nstp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\n"
        "stp x27, x28, [sp, #80]\nstp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
        "mov x9, x0\n" EACH(SET) EACH_D(SET_D) "blr x9\nmov x0, #0\n" EACH(TEST) EACH_D(TEST_D)
        "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\nldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
        "ldp x29, x30, [sp], #176\nret\n"
        ".globl cbrt\n.type cbrt,%function\ncbrt: adrp x9, seen_stack\nadd x9, x9, :lo12:seen_stack\nmov x10, sp\nstr x10, [x9]\nret\n");
#elif defined(__arm__)
#define STACK_REMAINDER 0
#define STACK_ALIGN 8
#define EACH(M) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define EACH_D(M) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define SET(n) "mov r" #n ", #0x" #n "\n"
#define TEST(n) "cmp r" #n ", #0x" #n "\norrne r0, r0, #1\n"
#define SET_D(n) "mov r1, #0x" #n "\nvmov d" #n ", r1, r1\n"
#define TEST_D(n) "vmov r1, r2, d" #n "\ncmp r1, #0x" #n "\norrne r0, r0, #2\ncmp r2, #0x" #n "\norrne r0, r0, #2\n"
__asm__(".text\n.arm\n.p2align 2\n.globl saved_call\n.type saved_call,%function\nsaved_call:\n"
        "push {r4-r11, ip, lr}\nvpush {d8-d15}\nmov ip, r0\n" EACH_D(SET_D) EACH(SET) "blx ip\nmov r0, #0\n" EACH(TEST) EACH_D(TEST_D)
        "mov r1, #0\nvpop {d8-d15}\npop {r4-r11, ip, pc}\n"
        ".globl cbrt\n.type cbrt,%function\ncbrt: ldr r2, =seen_stack\nstr sp, [r2]\nbx lr\n.ltorg\n");
#endif
uintptr_t seen_stack;

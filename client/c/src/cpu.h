/* SPDX-License-Identifier: Apache-2.0
 * cpu.h - what this CPU can do, by LLVM's feature names; kiln_cpu_has and the targets are in cpu.c. */
#ifndef KILN_CLIENT_CPU_H
#define KILN_CLIENT_CPU_H

#include <kiln/kiln.h>

#endif

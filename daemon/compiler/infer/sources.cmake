# SPDX-License-Identifier: Apache-2.0
set(INFER_SOURCES
    infer/call.c infer/expr.c infer/facts.c infer/index.c infer/infer.c infer/instance.c infer/library.c infer/loop.c
    infer/ops.c infer/promote.c infer/rules.c infer/rules_array.c infer/rules_math.c infer/state.c infer/stmt.c)

# SPDX-License-Identifier: Apache-2.0
# Inference needs no LLVM: an object library of its own, so that its tests and its fuzz driver need none either.
add_library(kiln_infer OBJECT
    infer/call.c infer/comp.c infer/cond.c infer/container.c infer/expr.c infer/facts.c infer/index.c infer/infer.c infer/instance.c infer/library.c
    infer/loop.c infer/ops.c infer/promote.c infer/protocol.c infer/rules.c infer/rules_array.c infer/rules_list.c infer/rules_math.c infer/state.c infer/stmt.c
    infer/record.c infer/try.c infer/usertype.c infer/text.c infer/rules_text.c infer/rules_time.c infer/limits.c infer/object.c)
target_link_libraries(kiln_infer PUBLIC kiln_ir)
set(INFER_SOURCES $<TARGET_OBJECTS:kiln_infer>)

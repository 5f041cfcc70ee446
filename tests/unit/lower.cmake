# SPDX-License-Identifier: Apache-2.0
# Lowering, run in the process by LLVM's JIT.
if(TARGET kiln_compiler AND EXISTS ${CMAKE_SOURCE_DIR}/tests/unit/test_lower_ops.c)
    kiln_unit(lower_ops kiln_compiler)
endif()

# SPDX-License-Identifier: Apache-2.0
# Type inference alone: no LLVM is linked.
foreach(test infer promote)
    kiln_unit(${test} kiln_infer kiln_ir)
    target_sources(test_${test} PRIVATE ${CMAKE_SOURCE_DIR}/daemon/compiler/diag.c)
endforeach()

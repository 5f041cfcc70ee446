# SPDX-License-Identifier: Apache-2.0
kiln_fuzz(infer kiln_infer kiln_ir)
target_sources(fuzz_infer PRIVATE ${CMAKE_SOURCE_DIR}/daemon/compiler/diag.c)

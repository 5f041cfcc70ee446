# SPDX-License-Identifier: Apache-2.0
# Lowering: operators by LLVM's JIT, programs through the whole compiler.
kiln_unit(lower_ops kiln_compiler)
kiln_unit(lower_run kiln_compiler ${CMAKE_DL_LIBS})

# SPDX-License-Identifier: Apache-2.0
kiln_unit(kir_text kiln_ir)
kiln_unit(kir_vectors kiln_ir)
kiln_unit(type kiln_ir)
kiln_unit(signature kiln_ir)
kiln_unit(builder kiln_ir)
kiln_unit(kir_decode kiln_ir)
kiln_unit(ir_memory kiln_ir)
target_link_options(test_ir_memory PRIVATE -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free)

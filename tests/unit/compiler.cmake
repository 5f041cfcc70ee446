# SPDX-License-Identifier: Apache-2.0
# The compiler outside of inference and lowering: payloads from elsewhere, targets, artifacts as ELF files.
find_program(KILN_CLANG_14 clang-14)
if(NOT KILN_CLANG_14)
    set(KILN_CLANG_14 "")
endif()
kiln_unit(foreign kiln_compiler ${CMAKE_DL_LIBS})
target_compile_definitions(test_foreign PRIVATE KILN_TEST_CLANG="${KILN_CLANG}" KILN_TEST_CLANG_14="${KILN_CLANG_14}")
kiln_unit(target kiln_compiler kiln_client)
kiln_unit(builtins m)
target_compile_options(test_builtins PRIVATE -Wno-missing-prototypes)

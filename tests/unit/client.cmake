# SPDX-License-Identifier: Apache-2.0
# libkiln. Artifacts that the tests load are made by the compiler that builds the tests.
kiln_unit(client_types kiln_client)
kiln_unit(client_pool kiln_client)
kiln_unit(client_ir kiln_client)
kiln_unit(client_find kiln_client)
kiln_unit(client_conn kiln_client)
kiln_unit(client_load kiln_client)
target_compile_definitions(test_client_load PRIVATE KILN_TEST_CC="${CMAKE_C_COMPILER}"
                           KILN_TEST_INCLUDE="${CMAKE_BINARY_DIR}")

# SPDX-License-Identifier: Apache-2.0
# Faults in turn: tests/fault/fault_NAME.c, label "fault".
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

function(kiln_fault name)
    add_executable(fault_${name} ${CMAKE_SOURCE_DIR}/tests/fault/fault_${name}.c
                   ${CMAKE_SOURCE_DIR}/tests/fault/fault_alloc.c)
    target_link_libraries(fault_${name} PRIVATE ${ARGN} PkgConfig::CMOCKA kiln_options)
    foreach(f malloc calloc realloc free strdup realpath asprintf)
        target_link_options(fault_${name} PRIVATE -Wl,--wrap=${f})
    endforeach()
    add_test(NAME fault.${name} COMMAND fault_${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(fault.${name} PROPERTIES LABELS fault TIMEOUT 300)
endfunction()

kiln_fault(codec kiln_codec)
kiln_fault(cache kiln_cache PkgConfig::SQLITE)
target_sources(fault_cache PRIVATE ${CMAKE_SOURCE_DIR}/tests/fault/fault_vfs.c)
target_compile_definitions(fault_cache PRIVATE FAULT_SQLITE)

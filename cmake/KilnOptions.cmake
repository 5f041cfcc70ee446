# SPDX-License-Identifier: Apache-2.0
# Options as INTERFACE targets: every target of the project links kiln_options and nothing sets global flags.
set(KILN_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(KILN_WERROR "Treat warnings as errors" OFF)
option(KILN_FUZZ "Build the libFuzzer drivers (clang only)" OFF)
option(KILN_COVERAGE "Instrument for coverage" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

add_library(kiln_options INTERFACE)
target_include_directories(kiln_options INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
target_compile_definitions(kiln_options INTERFACE _GNU_SOURCE KILN_VERSION="${PROJECT_VERSION}")
target_compile_options(kiln_options INTERFACE
    -Wall -Wextra -Wshadow -Wvla $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
    $<$<BOOL:${KILN_WERROR}>:-Werror>)
if(KILN_SANITIZE)
    target_compile_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    target_link_options(kiln_options INTERFACE -fsanitize=${KILN_SANITIZE})
endif()
if(KILN_FUZZ)
    target_compile_options(kiln_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(KILN_COVERAGE)
    target_compile_options(kiln_options INTERFACE --coverage)
    target_link_options(kiln_options INTERFACE --coverage)
endif()

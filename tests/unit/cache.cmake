# SPDX-License-Identifier: Apache-2.0
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
kiln_unit(key kiln_cache)
kiln_unit(memory kiln_cache)
kiln_unit(cache kiln_cache)
kiln_unit(cache_people kiln_cache)
kiln_unit(cache_damage kiln_cache PkgConfig::SQLITE)
kiln_unit(cache_kill kiln_cache PkgConfig::SQLITE)

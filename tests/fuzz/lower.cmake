# SPDX-License-Identifier: Apache-2.0
kiln_fuzz(lower kiln_compiler)

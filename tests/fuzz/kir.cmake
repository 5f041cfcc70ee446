# SPDX-License-Identifier: Apache-2.0
kiln_fuzz(kir kiln_ir)

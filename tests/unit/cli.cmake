# SPDX-License-Identifier: Apache-2.0
kiln_unit(cli kiln_commands)

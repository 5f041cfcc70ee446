# SPDX-License-Identifier: Apache-2.0
kiln_fuzz(messages kiln_codec)

# SPDX-License-Identifier: Apache-2.0
kiln_unit(arena kiln_base)
kiln_unit(buf kiln_base)
kiln_unit(err kiln_base)
kiln_unit(hash kiln_base)
kiln_unit(log kiln_base)
kiln_unit(msgpack kiln_codec)
kiln_unit(frame kiln_codec)
kiln_unit(fdpass kiln_codec)

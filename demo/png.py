# SPDX-License-Identifier: Apache-2.0
"""A greyscale array as a PNG file, with zlib alone (PNG specification, third edition, sections 5 and 11)."""
import struct
import zlib


def write(path, pixels):
    """Write a 2-D uint8 array, one byte a pixel, 0 black."""
    height, width = pixels.shape

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + pixels[i].tobytes() for i in range(height))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n"
                  + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                  + chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))

"""Small images inside pictures: cells of a density, strips of rows."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np

from gramian.charts import Density
from gramian.results import Array


def image(density: Density, cells: Array) -> dict[str, Any]:
    """Cells (b, a, 4) of a density, to be stretched behind the points of a picture."""
    x, y = density.x, density.y
    return {
        "source": png(cells[::-1]),
        "xref": "x",
        "yref": "y",
        "x": x[0],
        "y": y[-1],
        "sizex": x[-1] - x[0],
        "sizey": y[-1] - y[0],
        "sizing": "stretch",
        "layer": "below",
    }


def png(pixels: Array) -> str:
    """Red, green, blue and opacity from 0 to 1, (h, w, 4), as the address of an image.

    >>> png(np.zeros((1, 1, 4)))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    values = (255 * np.clip(pixels, 0, 1)).round().astype(np.uint8)
    h, w = values.shape[:2]
    lines = np.concatenate([np.zeros((h, 1), dtype=np.uint8), values.reshape(h, 4 * w)], axis=1)  # 0: no filter
    parts = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 6, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
        _chunk(b"IEND", b""),
    ]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

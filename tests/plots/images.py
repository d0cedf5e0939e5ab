"""Pictures as small images that do not depend on fonts, and how far two of them are apart.

Text is taken away before the figure is laid out: fonts differ between machines, and their widths move the axes. What is
left is blurred before two images are compared, because releases of matplotlib and its rasteriser differ in the grey of
edges, by a fraction of a pixel.

To write the kept images anew after a change that was meant: ``GRAMIAN_IMAGES=write pytest tests/plots``, and look at
them.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.legend import Legend
from matplotlib.text import Text
from PIL import Image
from scipy.ndimage import gaussian_filter

FOLDER = Path(__file__).parent / "kept"
WIDTH, HEIGHT, BLUR = 400, 300, 3.0
#: Largest root of the mean squared difference, of a scale from 0 to 1, and largest difference in any place. What the
#: palette of kept images costs is 0.002 and 0.08 at the most. Figures drawn twice as fine and shrunk, as another
#: rasteriser would draw them, are 0.003 and 0.03 apart where nothing is snapped to pixels. The smallest thing that
#: test_images.py leaves out on purpose, a thin dashed line, makes 0.006; a mark of 6 points 0.006 and 0.34.
APART, ANYWHERE = 0.004, 0.12


def bare(figure):
    """Take all text away, and what is as wide as text is: legends, and lines that lead to names."""
    for artist in figure.findobj(lambda part: isinstance(part, (Text, Legend)) or part.get_gid() == "leader"):
        artist.set_visible(False)
    for ax in figure.axes:
        for side in ax._axis_map.values():
            side.set_ticklabels([])
    return figure


def render(figure, fine=1):
    """Draw a figure on 400 x 300 pixels, ``fine`` times as fine."""
    figure.set_size_inches(6.4, 4.8)
    figure.set_dpi(fine * WIDTH / 6.4)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(np.float64) / 255


def blurred(image):
    """400 x 300 pixels, each a mean of those about it: a line moved by a pixel changes little, one taken away much."""
    fine = len(image) // HEIGHT
    image = image.reshape(HEIGHT, fine, WIDTH, fine, 3).mean(axis=(1, 3))
    return gaussian_filter(image, (BLUR, BLUR, 0))


def distance(one, other):
    """How far two images are apart when blurred: root of the mean squared difference, and the largest."""
    difference = np.abs(blurred(one) - blurred(other))
    return float(np.sqrt((difference**2).mean())), float(difference.max())


def assert_same(one, other):
    """Fail if two images show different pictures."""
    mean, most = distance(one, other)
    assert mean <= APART, f"the pictures differ by {mean:.4f} in the mean"
    assert most <= ANYWHERE, f"the pictures differ by {most:.3f} in one place"


def kept(name):
    """The image kept under this name."""
    return np.asarray(Image.open(FOLDER / f"{name}.png").convert("RGB")).astype(np.float64) / 255


def keep(name, image):
    """Keep an image, with 96 colours: enough for pictures of few colours, and small."""
    FOLDER.mkdir(exist_ok=True)
    picture = Image.fromarray((255 * image).round().astype(np.uint8)).quantize(96, dither=Image.Dither.NONE)
    file = io.BytesIO()
    picture.save(file, format="png", optimize=True)
    (FOLDER / f"{name}.png").write_bytes(file.getvalue())


def compare(name, figure):
    """Compare a figure with the image kept under this name, or keep it, if that is asked for."""
    image = render(bare(figure))
    if os.environ.get("GRAMIAN_IMAGES") == "write":
        keep(name, image)
    assert_same(image, kept(name))

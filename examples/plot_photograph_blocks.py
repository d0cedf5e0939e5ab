"""
A photograph compressed by PCA of its blocks
============================================

A grey photograph is cut into blocks of 8 x 8 pixels, and each block is a row of 64 numbers. Neighbouring pixels are
alike, so a few components hold most of the variance. There are two ways to save bits: keep k scores of each block and
drop the rest, or keep all scores and round them to multiples of a step, so that most of the small ones become zero and
need few bits. Quality is measured as PSNR, the ratio of the range of pixels to the error, in decibels, and compared
with JPEG.
"""

# %%
# The file is a JPEG itself, so the blocks are shifted against its grid to give JPEG no advantage.

import io

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

from gramian import PCA
from gramian.plots.style import colour, tidy

photograph = np.round(load_sample_image("china.jpg") @ [0.299, 0.587, 0.114])[3:427, 5:637]
height, width = photograph.shape
blocks = photograph.reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2).reshape(-1, 64)


def assembled(rows):
    """Put blocks together again, as whole numbers from 0 to 255."""
    picture = rows.reshape(height // 8, width // 8, 8, 8).swapaxes(1, 2).reshape(height, width)
    return np.clip(np.round(picture), 0, 255)


def quality(picture):
    """Peak signal-to-noise ratio in decibels."""
    return 10 * np.log10(255**2 / np.mean((picture - photograph) ** 2))


model = PCA().fit(blocks)
scores = model.transform(blocks)

# %%
# Keep k scores, a byte for each. The mean and the k components must be stored too, a byte for each of their numbers.


def kept(k):
    """Return the picture from k scores of each block, and its bits."""
    rows = scores[:, :k] @ model.components_[:k] + model.mean_
    return assembled(rows), 8 * (k * len(blocks) + 64 * (k + 1))


# %%
# Round all scores to a step. A good coder needs the entropy of the rounded values, -log2 of the frequency of each; a
# table of frequencies (16 bits for each value that occurs), the mean and the components come on top.


def rounded(step):
    """Return the picture from scores rounded to multiples of a step, and its bits."""
    whole = np.round(scores / step)
    bits = 8 * 64 * 65
    for column in whole.T:
        times = np.unique(column, return_counts=True)[1]
        bits += np.sum(times * np.log2(len(column) / times)) + 16 * len(times)
    return assembled(model.inverse_transform(whole * step)), bits


def jpeg(setting):
    """Return the picture as JPEG of a quality setting, and the bits of the file."""
    file = io.BytesIO()
    Image.fromarray(photograph.astype(np.uint8)).save(file, "JPEG", quality=setting, optimize=True)
    return np.asarray(Image.open(file), dtype=float), 8 * file.tell()


ways = {
    "PCA, k scores kept": (kept, [1, 2, 4, 8, 16, 24, 32]),
    "PCA, scores rounded": (rounded, [128, 96, 64, 48, 32, 24, 16, 12]),
    "JPEG": (jpeg, [5, 10, 20, 30, 50, 75, 90]),
}
curves = {}
for name, (way, settings) in ways.items():
    results = [way(setting) for setting in settings]
    curves[name] = np.array([[bits / photograph.size, quality(picture)] for picture, bits in results])

# %%
# The first 16 components, and quality against rate.

figure, axes = plt.subplots(2, 8, figsize=(7, 2.1), layout="constrained")
for at, ax in enumerate(axes.flat):
    ax.imshow(model.components_[at].reshape(8, 8), cmap="gray")
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"{at + 1}", fontsize=9)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for at, (name, curve) in enumerate(curves.items()):
    ax.plot(*curve.T, "os^"[at] + "-", color=colour(at), label=name)
ax.set_xlim(0, 3)
ax.legend(frameon=False)
tidy(ax, "quality against rate", "bits per pixel", "PSNR, dB")

# %%
# A detail, all at about one bit per pixel.

shown = {"original": (photograph, 8 * photograph.size)}
shown |= {"k = 8 kept": kept(8), "rounded to 52": rounded(52), "JPEG, setting 48": jpeg(48)}
figure, axes = plt.subplots(2, 2, figsize=(7, 6.4), layout="constrained")
for ax, (name, (picture, bits)) in zip(axes.flat, shown.items(), strict=True):
    ax.imshow(picture[100:260, 200:400], cmap="gray", vmin=0, vmax=255)
    ax.set(xticks=[], yticks=[])
    said = "" if name == "original" else f", {quality(picture):.1f} dB"
    ax.set_title(f"{name}: {bits / photograph.size:.2f} bits{said}", fontsize=10, loc="left")

# %%
# The first components are the brightness of a block and slow waves, close to the fixed cosines of JPEG; the fifth and
# the sixth follow the slope of the roof tiles. Keeping the same number of scores of every block is worse: more than 5
# dB at one bit per pixel, because a block of sky needs fewer numbers and a block of roof needs more. Rounding gives
# each block what it needs, and from 0.5 to 2.5 bits it comes within 1.5 dB of JPEG. At low rates it is worse because
# its components must be stored. JPEG also rounds slow waves more finely than fast ones, to which the eye is less
# sensitive: its sky is smoother at the same PSNR.


def at_rate(name, rate):
    """Quality at a rate, read off a curve."""
    return np.interp(rate, *curves[name].T)


rates = np.linspace(0.5, 2.5, 21)
for curve in curves.values():
    assert np.all(np.diff(curve, axis=0) > 0)
assert at_rate("JPEG", 1.0) - at_rate("PCA, k scores kept", 1.0) > 5
assert np.abs(at_rate("JPEG", rates) - at_rate("PCA, scores rounded", rates)).max() < 1.5
plt.show()

"""
A linear projection in the right coordinates
============================================

Points lie along a bent strip. The bend is deep, so the direction of greatest variance runs up both of its arms at once,
and the first principal component folds the strip: its two ends fall on each other. PCA can only rotate the plane. But
it can be applied to functions of the coordinates. Here the square :math:`x^2` and the product :math:`xy` are appended
by hand, and PCA of the four columns follows.
"""

# %%
# Colour shows the place along the strip, from one end to the other. It is not used in the fit.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

from gramian import PCA, KernelPCA
from gramian.plots.style import tidy

rng = np.random.default_rng(0)
place = np.linspace(-1, 1, 300)
X = np.column_stack([place, 2.5 * place**2]) + 0.04 * rng.standard_normal((300, 2))
flat = PCA(2).fit_transform(X)

# %%
# The explicit map into four dimensions, then PCA.

x, y = X.T
by_hand = PCA(2).fit_transform(np.column_stack([x, y, x**2, x * y]))

# %%
# The same without the four columns. Of two points :math:`u` and :math:`v` their dot product is :math:`u'v + u_1 v_1\,
# u'v`: the linear kernel, plus the linear kernel of the first column times the linear kernel. The sign of a component
# is arbitrary, so the scores are given the same sign.

by_kernel = KernelPCA(2, kernel="linear + linear[0]*linear").fit_transform(X)
by_kernel *= np.sign(np.sum(by_kernel * by_hand, axis=0))

figure, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
axes[0, 0].scatter(x, y, s=12, c=place, cmap="viridis")
tidy(axes[0, 0], "the strip", "x", "y")
firsts = {
    "PCA of x, y: folded": flat[:, 0],
    "PCA of x, y, x², xy: unrolled": by_hand[:, 0],
    "kernel PCA: the same": by_kernel[:, 0],
}
for ax, (title, first) in zip(axes.flat[1:], firsts.items(), strict=True):
    ax.scatter(place, first, s=12, c=place, cmap="viridis")
    tidy(ax, title, "place along the strip", "component 1")

# %%
# In the plane the first component is the same at both ends of the strip. In four dimensions it runs along the strip
# from end to end: the product :math:`xy` grows like the third power of the place, changes sign in the middle, and so
# separates the two arms. Kernel PCA finds the same scores from dot products, without the four columns.


def along(first):
    """Size of the rank correlation with the place along the strip: 1 if the strip is unrolled."""
    return abs(spearmanr(first, place).statistic)


print(f"PCA of the plane: {along(flat[:, 0]):.3f}, of four columns: {along(by_hand[:, 0]):.3f}")
assert along(flat[:, 0]) < 0.1
assert along(by_hand[:, 0]) > 0.99
assert np.allclose(by_kernel, by_hand)
plt.show()

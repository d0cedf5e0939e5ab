"""
Three classifiers on two moons
==============================

Three ways to use one similarity. A support vector machine weighs training points so that the classes are parted by
the widest margin; most weights are zero, and the points that keep one are the support vectors. Nearest neighbours
weigh nothing: the five most similar points vote. Prototypes are simplest of all: each class is the mean of its points
in feature space, and the nearer mean wins. All three have the same Gaussian kernel, and see 200 points of two
interleaved moons.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from gramian import KernelKNNClassifier, KernelPrototypeClassifier, KernelSVC
from gramian.plots.style import COLOURS, tidy

X, y = make_moons(200, noise=0.2, random_state=0)
new, truth = make_moons(2000, noise=0.2, random_state=1)
kernel = "rbf(sigma=0.5)"
models = {
    "support vectors": KernelSVC(1.0, kernel=kernel),
    "five neighbours": KernelKNNClassifier(5, kernel=kernel),
    "prototypes": KernelPrototypeClassifier(kernel),
    "prototypes, linear": KernelPrototypeClassifier("linear"),
}
accuracy = {name: model.fit(X, y).score(new, truth) for name, model in models.items()}
svm = models["support vectors"]

# %%
# Regions are what each model would say, and the share of 2,000 new points that it gets right stands above. The
# machine needs only the ringed points to draw its border; the others could be thrown away. Neighbours draw much the
# same border from all 200 points. Prototypes bend with the moons although there are only two of them, because a mean
# in feature space is a smooth hill over all points of a class, and not a point in the plane: with the linear kernel,
# where it is one, the border is straight and errs more often.

steps = [np.linspace(X[:, j].min() - 0.4, X[:, j].max() + 0.4, 150) for j in (0, 1)]
grid = np.stack(np.meshgrid(*steps), axis=-1)
figure, axes = plt.subplots(2, 2, figsize=(7, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    said = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*steps, said, levels=[-0.5, 0.5, 1.5], colors=COLOURS[:2], alpha=0.25)
    for label, marker in ((0, "o"), (1, "^")):
        ax.scatter(*X[y == label].T, s=16, color=COLOURS[label], marker=marker)
    tidy(
        ax,
        f"{name}: {100 * accuracy[name]:.1f} % right",
        "first column" if ax in axes[1] else "",
        "second column" if ax in axes[:, 0] else "",
    )
axes[0, 0].scatter(*X[svm.support_].T, s=60, facecolors="none", edgecolors="0.2", linewidths=0.8)

assert min(accuracy[name] for name in list(models)[:2]) > 0.95
assert accuracy["prototypes"] > accuracy["prototypes, linear"] + 0.05
assert len(svm.support_) < len(X) / 2
plt.show()

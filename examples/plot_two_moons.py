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
from sklearn.datasets import make_moons

from gramian import KernelKNNClassifier, KernelPrototypeClassifier, KernelSVC
from gramian.plots import RegionsDisplay

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

figure, axes = plt.subplots(2, 2, figsize=(7, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    title = f"{name}: {100 * accuracy[name]:.1f} % right"
    RegionsDisplay.from_estimator(model, X, y, ax=ax, title=title)
    ax.label_outer()
    if model is not svm:
        ax.get_legend().remove()

assert min(accuracy[name] for name in list(models)[:2]) > 0.95
assert accuracy["prototypes"] > accuracy["prototypes, linear"] + 0.05
assert len(svm.support_) < len(X) / 2
plt.show()

"""
Three classifiers on two moons
==============================

Three ways to use one similarity. A support vector machine weights training points so that the classes are separated by
the widest margin; most weights are zero, and the other points are the support vectors. Nearest neighbours have no
weights: the five most similar points vote. Prototypes are simplest: each class is the mean of its points in feature
space, and the nearer mean decides. All three use the same Gaussian kernel, and are fitted to 200 points of two
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
# Regions are the predictions of each model; its accuracy on 2,000 new points is in the title. The border of the support
# vector machine depends only on the ringed points. Neighbours give much the same border from all 200 points. The border
# of the prototypes is curved although there are only two of them, because similarity to a mean in feature space is the
# mean similarity to all points of a class. With the linear kernel the mean is a point in the plane, and the border is
# straight and errs more often.

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

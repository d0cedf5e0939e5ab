"""
The mood of texts on different subjects
=======================================

Each pair below is a weather report and a review of a restaurant from one edition of an invented newspaper, whose
writers are all cheerful on some days and all gloomy on others. The moods are not used in the fit: its input is the word
counts of the reports, those of the reviews, and their pairing. With more words than editions any two views correlate
perfectly, so CCA needs a ridge, and must be judged by leave-one-out cross-validation: each edition is scored by a fit
to the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from gramian import CCA, KernelCCA
from gramian.plots.style import COLOURS, tidy

cheerful = [
    (
        "A lovely bright morning with a gentle breeze, then warm sun all day.",
        "Lovely soup, friendly waiters and a cosy room.",
    ),
    ("Glorious sun over the hills and a soft, gentle wind.", "Delicious bread, generous plates, friendly service."),
    ("Warm and bright at last; a lovely evening by the sea.", "A generous menu, cooked with care, and delicious cake."),
    ("Clear skies, mild air and bright stars after dark.", "The fish was perfect, the wine delicious, the room cosy."),
    ("A glorious day in the valley, warm but never hot.", "Friendly people, perfect pasta, a lovely evening."),
    (
        "Mild and clear, with a gentle mist that the sun soon lifts.",
        "Fresh vegetables, perfect sauce, generous with herbs.",
    ),
    ("Bright spells and a soft breeze; lovely for a walk.", "Cosy corners, fresh coffee and delicious pies."),
    ("The clear, glorious weather stays, with warm nights.", "Fresh fish, friendly cook, a perfect little place."),
]
gloomy = [
    ("Grey and bitter, with heavy rain and a cruel wind.", "Cold soup, rude waiters and a dirty table."),
    ("A dreary morning, cold drizzle, then storms over the hills.", "Stale bread, tiny plates, slow and rude service."),
    ("Heavy cloud and bitter cold by the sea.", "The menu was dull, the cake stale, the bill absurd."),
    ("Grim skies, cruel gusts and more drizzle after dark.", "Burnt fish, sour wine, a dirty and noisy room."),
    ("Storms all day in the valley, dreary and cold.", "Rude people, burnt pasta, a dull evening."),
    ("Cold fog that nothing lifts; grey, grim and damp.", "Tired vegetables, sour sauce, stale herbs."),
    ("Heavy showers and a bitter wind; dreary for a walk.", "Noisy corners, sour coffee and burnt pies."),
    ("The grim, damp weather stays, with storms at night.", "Slow cook, dirty plates, a dull little place."),
]
mood = np.repeat([1, -1], [len(cheerful), len(gloomy)])
counters = CountVectorizer(stop_words="english"), CountVectorizer(stop_words="english")
weather, reviews = (
    counter.fit_transform(texts).toarray().astype(float)
    for counter, texts in zip(counters, zip(*cheerful, *gloomy, strict=True), strict=True)
)
words = [counter.get_feature_names_out() for counter in counters]

# %%
# Leave each edition out, fit the others, and score the one left out. The sign of a pair is arbitrary: in all fits the
# first edition decides it. No mood is used.


def left_out(X, Y, model):
    """Return the first pair of scores of each row by a fit to all other rows."""
    scores = np.zeros((len(X), 2))
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        model.fit(X[others], Y[others])
        sign = np.sign(model.transform(X[[0 if i else 1]])[0, 0])
        scores[i] = [sign * side[0, 0] for side in model.transform(X[[i]], Y[[i]])]
    return scores


def agreement(scores):
    """Return the cosine of both scores: it does not depend on the signs of the fits, and the training means are 0."""
    return scores[:, 0] @ scores[:, 1] / np.prod(np.linalg.norm(scores, axis=0))


model = CCA(1, ridge=1.0)
kernel_model = KernelCCA(1, kernel="cosine", ridge=0.1, folds=None)
scores, kernel_scores = (left_out(weather, reviews, m) for m in (model, kernel_model))

# %%
# Is the agreement of the two scores more than chance? Shuffle the reviews, so that they no longer belong to the
# reports, and do all of it again. Scores of the rows fitted are no evidence: even shuffled pairs correlate almost
# perfectly there.

rng = np.random.default_rng(0)
orders = [rng.permutation(len(mood)) for _ in range(199)]
by_chance = [agreement(left_out(weather, reviews[order], model)) for order in orders]
p_value = (1 + sum(value >= agreement(scores) for value in by_chance)) / (1 + len(by_chance))
fitted_by_chance = [model.fit(weather, reviews[order]).score_correlations_[0] for order in orders]

# %%
# Above: scores of editions left out separate the cheerful from the gloomy. Reports agree with reviews better than in
# all but one or two of a hundred shuffled pairings; with only sixteen editions chance correlations are large. Below:
# the words that weigh most on either side of the first pair. Sunshine belongs with friendly waiters, and drizzle with
# stale bread. Kernel CCA with the cosine kernel, which compares texts by the share of words they have in common, finds
# the same from the 16 x 16 similarities.

model.fit(weather, reviews)
sign = np.sign(model.transform(weather)[0, 0])
figure, ((left, right), below) = plt.subplots(2, 2, figsize=(7, 6.4), layout="constrained")
for value, name, colour, marker in ((1, "cheerful", COLOURS[0], "o"), (-1, "gloomy", COLOURS[1], "^")):
    left.scatter(*scores[mood == value].T, color=colour, marker=marker, label=name)
left.legend(fontsize=9, frameon=False, loc="lower right")
tidy(left, "Editions left out", "score of the weather report", "score of the review")
right.hist(by_chance, bins=15, color="0.7", label="shuffled pairs")
right.axvline(agreement(scores), color=COLOURS[1], linewidth=2, label=f"true pairs, p = {p_value:.3f}")
right.legend(fontsize=9, frameon=False)
right.set_ylim(0, right.get_ylim()[1] * 1.3)
tidy(right, "Agreement of the two scores", "cosine, editions left out", "shuffles")
for ax, subject, vocabulary, pair in zip(
    below, ("weather", "restaurant"), words, (model.x_weights_, model.y_weights_), strict=True
):
    weights = sign * pair[:, 0]
    order = np.argsort(weights)
    chosen = [*order[:6], *order[-6:]]
    ax.barh(range(12), weights[chosen], color=[COLOURS[int(w < 0)] for w in weights[chosen]])
    ax.set_yticks(range(12), vocabulary[chosen])
    tidy(ax, f"Words of the {subject}", "weight in the first pair", "")

for side in (*scores.T, *kernel_scores.T):
    assert abs(np.corrcoef(side, mood)[0, 1]) > 0.8
assert p_value <= 0.05
assert np.median(fitted_by_chance) > 0.95
plt.show()

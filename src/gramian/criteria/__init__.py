"""How many components? Criteria that need a spectrum or moments, never the rows."""

from gramian.criteria.base import Suggestion, Variances
from gramian.criteria.bicross import bi_cross_validation
from gramian.criteria.edge import deflated, deterministic, stands_out
from gramian.criteria.factors import factor_fits
from gramian.criteria.kernel import kernel_criteria
from gramian.criteria.likelihood import bic, held_out, minka
from gramian.criteria.parallel import horn, horn_factors
from gramian.criteria.partial import velicer
from gramian.criteria.rules import broken_stick, kaiser, largest_gap, variance_share
from gramian.criteria.threshold import gavish_donoho

__all__ = [
    "Suggestion",
    "Variances",
    "bi_cross_validation",
    "bic",
    "broken_stick",
    "deflated",
    "deterministic",
    "factor_fits",
    "gavish_donoho",
    "held_out",
    "horn",
    "horn_factors",
    "kaiser",
    "kernel_criteria",
    "largest_gap",
    "minka",
    "stands_out",
    "variance_share",
    "velicer",
]

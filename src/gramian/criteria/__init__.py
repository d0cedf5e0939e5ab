"""How many components? Criteria that need a spectrum or moments, never the rows."""

from gramian.criteria.likelihood import bi_cross_validation, bic, factor_fits, held_out, minka
from gramian.criteria.noise_edge import deflated, deterministic, stands_out
from gramian.criteria.random_tables import horn, horn_factors, kernel_criteria
from gramian.criteria.spectrum import (
    Suggestion,
    Variances,
    broken_stick,
    gavish_donoho,
    kaiser,
    largest_gap,
    variance_share,
    velicer,
)

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

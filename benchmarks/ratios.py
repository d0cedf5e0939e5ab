"""Where the ratios of ``benchmarks.everyday`` are kept, and their mean."""

import math
import statistics
from pathlib import Path

EVERYDAY = Path(__file__).parent / "everyday.json"


def mean(ratios: list[float]) -> float:
    """Geometric mean."""
    return math.exp(statistics.fmean(map(math.log, ratios)))

"""Pre-images: rows whose features are near a given point of the feature space.

::

    fixed_point   smooth kernels of a distance or a dot product    downhill from the nearest training row
    distance      kernels that give distances or dot products back multidimensional scaling among neighbours
    learned       any positive kernel                              a ridge map from the feature space to rows
    auto          the best of them for each point, by its distance in feature space
"""

from gramian.preimage.methods import PreImage
from gramian.preimage.search import available, check_method, preimage

__all__ = ["PreImage", "available", "check_method", "preimage"]

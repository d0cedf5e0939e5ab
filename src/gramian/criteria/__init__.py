"""How many components? Criteria that need a spectrum or moments, never the rows."""

from gramian.criteria import likelihood, noise_edge, random_tables, spectrum
from gramian.criteria.likelihood import *
from gramian.criteria.noise_edge import *
from gramian.criteria.random_tables import *
from gramian.criteria.spectrum import *

__all__: list[str] = []
__all__ += likelihood.__all__ + noise_edge.__all__ + random_tables.__all__ + spectrum.__all__

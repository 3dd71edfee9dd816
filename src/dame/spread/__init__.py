"""What is believed of the users' own means, which differ from user to user: a prior, and what reports teach."""

from dame.spread.beliefs import Beliefs, Posterior
from dame.spread.family import NARROWEST, WIDEST, Family, Population, bell, family
from dame.spread.windows import HALVES, Pair, best_pair, clipped

__all__ = [
    "HALVES",
    "NARROWEST",
    "WIDEST",
    "Beliefs",
    "Family",
    "Pair",
    "Population",
    "Posterior",
    "bell",
    "best_pair",
    "clipped",
    "family",
]

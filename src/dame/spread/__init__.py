"""What is believed of the users' own means, which differ from user to user: a prior, and what reports teach."""

from dame.spread.beliefs import Beliefs, Posterior
from dame.spread.family import NARROWEST, WIDEST, Family, Population, bell, family
from dame.spread.places import Places, best_places, marked, noise_of

__all__ = [
    "NARROWEST",
    "WIDEST",
    "Beliefs",
    "Family",
    "Places",
    "Population",
    "Posterior",
    "bell",
    "best_places",
    "family",
    "marked",
    "noise_of",
]

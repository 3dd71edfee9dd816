"""The users' own means, which differ from user to user: what reports tell of them.

By parts: the likeliest population, without a prior. By places: a prior over populations, and what reports teach.
"""

from dame.between_users.beliefs import Beliefs, Posterior
from dame.between_users.family import NARROWEST, WIDEST, Family, Population, bell, family
from dame.between_users.likeliest import Likeliest, Part, likeliest
from dame.between_users.parts import Sight, next_borders, sight, trimmed_mean
from dame.between_users.places import Places, best_places, marked, noise_of

__all__ = [
    "NARROWEST",
    "WIDEST",
    "Beliefs",
    "Family",
    "Likeliest",
    "Part",
    "Places",
    "Population",
    "Posterior",
    "Sight",
    "bell",
    "best_places",
    "family",
    "likeliest",
    "marked",
    "next_borders",
    "noise_of",
    "sight",
    "trimmed_mean",
]

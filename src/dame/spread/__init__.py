"""What is believed of the users' own means, which differ from user to user: a prior, and what reports teach."""

from dame.spread.beliefs import Beliefs, Posterior
from dame.spread.family import NARROWEST, WIDEST, Family, bell, family

__all__ = ["NARROWEST", "WIDEST", "Beliefs", "Family", "Posterior", "bell", "family"]

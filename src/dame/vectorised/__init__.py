"""Exact coins for many people at once: a stream of random words, and integers that are compared with it.

No float decides anything here. With `SecureWords` the draws may leave an edge site; with `FastWords` the same
code, and so the same law, serves simulation.
"""

from dame.vectorised.bernoulli import bits, packed_bits
from dame.vectorised.laplace import discrete_laplace
from dame.vectorised.unary import VoteBits, count_reports, count_votes, vote_matrix
from dame.vectorised.words import FastWords, ReplayWords, SecureWords, Words

__all__ = [
    "FastWords",
    "ReplayWords",
    "SecureWords",
    "VoteBits",
    "Words",
    "bits",
    "count_reports",
    "count_votes",
    "discrete_laplace",
    "packed_bits",
    "vote_matrix",
]

"""How large and how small parts of a study may be."""

from __future__ import annotations

MOST_INVITATIONS = 100_000
"""Tokens that are given out in one call."""
MOST_GROUPS = 200
"""Public groups of a study: an estimate is read for each of them."""
LONGEST_GROUP = 64
MINIMUM_REPORTS = 25
"""How many reports a round waits for, unless its study says something else."""

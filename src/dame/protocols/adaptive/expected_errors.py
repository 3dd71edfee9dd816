"""The errors that are expected under between-user variation, before anybody is asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dame.between_users.tuning import SEGMENTS
from dame.planning.brief import Brief
from dame.protocols.adaptive.tuning import TUNING

Widths = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedErrors:
    """The mean squared errors that are expected: after each round, on average over plausible widths; and at the end,
    for each width.
    """

    after: tuple[float, ...]
    by_width: tuple[tuple[float, float], ...] = ()

    @classmethod
    def over(cls, widths: tuple[float, ...], errors: list[list[float]]) -> ExpectedErrors:
        """The expected errors from the errors after each round, by width."""
        after = tuple(float(error) for error in np.mean(errors, axis=0))
        return cls(after=after, by_width=tuple(zip(widths, (risks[-1] for risks in errors), strict=True)))

    @property
    def average(self) -> float:
        """The expected error at the end, on average over plausible widths."""
        return self.after[-1]


def widths_of(brief: Brief) -> Widths:
    """The narrowest and the widest spread of users' means that is plausible: from b and M, or any if b is learnt."""
    if brief.between_sd is None:
        return SEGMENTS.narrowest, SEGMENTS.widest
    # Records of one user vary by between 0 and 1 around her mean.
    own = brief.sizes.expectation(lambda sizes: 1 / sizes)
    low, high = brief.between_sd, (brief.between_sd**2 + own) ** 0.5
    return min(max(low, SEGMENTS.narrowest), SEGMENTS.widest), min(max(high, SEGMENTS.narrowest), SEGMENTS.widest)


def plausible_widths(brief: Brief) -> tuple[float, ...]:
    """Some widths that stand for all: of users' own means, and, where b is to be learnt, of few records besides."""
    widths = np.geomspace(SEGMENTS.narrowest, SEGMENTS.widest, 3)
    if brief.between_sd is None:
        widths = np.hypot(widths, TUNING.record_sd * brief.sizes.expectation(lambda sizes: 1 / sizes) ** 0.5)
    return tuple(np.unique(np.clip(widths, *widths_of(brief))).tolist())

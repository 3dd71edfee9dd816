"""The locating round: votes for bins of a few standard deviations of a user's mean, one mark each, at the full α; or
plain bits over the whole range.
"""

from __future__ import annotations

import math
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import NDArray

from dame.device.channels import Bits
from dame.device.lenses import MOST_BINS, Bins, Lens, Windows
from dame.device.parts import narrowed
from dame.device.records import MOST_RECORDS
from dame.errors import Mismatch
from dame.estimates import Estimate, know_nothing
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.protocols.adaptive.error_path import ErrorState, known_within
from dame.protocols.adaptive.tuning import TUNING
from dame.protocols.adaptive.votes import PAIR, marked_shares, misfit, voters_of
from dame.protocols.whole_range import read_alone
from dame.sizes import Sizes
from dame.tally import Tally
from dame.theory import privacy_factor
from dame.theory.response import ROOMS

Floats = NDArray[np.float64]


def vote_round(brief: Brief, min_size: int, spacing: float, share: float, name: str = "locate") -> Round:
    """Votes among bins of `spacing` standard deviations of a mean of `min_size` records."""
    width = max(spacing / math.sqrt(brief.effective(min_size)), 2 / MOST_BINS)
    bins = max(math.ceil(2 / width), PAIR)
    lens = Bins(bins=bins, width=width, min_size=min(min_size, MOST_RECORDS))
    return Round(name=name, share=share, lens=lens, channel=Bits.optimised(brief.alpha, bins))


# --- what the first round is expected to leave, and what it said: for votes, and for plain bits


@singledispatch
def state_after(lens: Lens, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    """The error of the centre that is expected after the first round, by distribution."""
    raise Mismatch(f"adaptive does not begin with {lens.kind}")


@state_after.register
def _after_vote(lens: Bins, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    del lens
    spread = centre_error(round_, brief, users, rooms)
    return ErrorState(bias=np.zeros(len(rooms)), spread=spread)


@state_after.register
def _after_bits(lens: Windows, round_: Round, brief: Brief, users: float, rooms: Floats = ROOMS) -> ErrorState:
    return known_within(privacy_factor(brief.alpha), users, rooms)


@singledispatch
def centre_after(lens: Lens, tally: Tally, brief: Brief) -> Estimate:
    """What a first round with a single window says by itself."""
    raise Mismatch(f"adaptive does not begin with {lens.kind}")


@centre_after.register
def _centre_of_votes(lens: Bins, tally: Tally, brief: Brief) -> Estimate:
    """Nothing that would be sure without the rounds after it."""
    del lens, brief
    return know_nothing([tally.reports], "votes alone are not sure")


@centre_after.register
def _centre_of_bits(lens: Windows, tally: Tally, brief: Brief) -> Estimate:
    return read_alone(brief, tally)


def centre_error(vote: Round, brief: Brief, users: float, rooms: Floats) -> Floats:
    """How far θ is off after a vote that elected the right place, by distribution, on average over θ in its bin.

    From the Fisher information of the votes in the bins around θ, and that θ is somewhere in a bin.
    """
    lens, channel = narrowed(Bins, vote.lens), narrowed(Bits, vote.channel)
    slopes, coins, misfits = _expected(brief.sizes, brief.spread, lens, channel, tuple(rooms.tolist()))
    information = (slopes**2 / (coins / users + misfits**2)).sum(axis=-1)
    return np.asarray(lens.width * np.sqrt((1 / (information + _IN_A_BIN)).mean(axis=-1)))


_SMALL = 0.02
"""Steps, in bins, over which the votes that θ would have are compared."""
_IN_A_BIN = 12.0
"""One over the variance of a place that may be anywhere in a bin."""


@lru_cache(maxsize=512)
def _expected(
    sizes: Sizes, between_sd: float, lens: Bins, channel: Bits, rooms: tuple[float, ...]
) -> tuple[Floats, Floats, Floats]:
    """How much the mean bit rises with θ, the variance of a bit, and how far the mean may be other than expected.

    By distribution, place of θ in its bin, and bin; θ in bins.
    """
    voters, offsets = voters_of(sizes, lens.min_size), np.linspace(-0.5, 0.5, 2 * TUNING.offsets)
    left = np.arange(-TUNING.beside, TUNING.beside + 2.0) - 0.5 - offsets[:, None]
    at, before, after = (
        marked_shares(voters, lens.width, between_sd, np.array(rooms), left + shift) for shift in (0.0, -_SMALL, _SMALL)
    )
    blank = channel.probability(0.0)
    shown = channel.probability(1.0) - blank
    rates = blank + shown * at
    return shown * (after - before) / (2 * _SMALL), rates * (1 - rates), misfit(lens) * shown * at

"""How sure a vote is: a certified bound before the study, and a judgement from the votes after it."""

from __future__ import annotations

import math

from dame.device.channels import Bits
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.planning.brief import Brief
from dame.planning.rounds import Round
from dame.sizes import Sizes
from dame.tally import Tally


def voting_share(votes: Tally, sizes: Sizes) -> float:
    """The share P(m ≥ min_size) of the users of a vote who mark a bin."""
    return sizes.survival(narrowed(Bins, votes.question.lens).min_size)


def missed_vote_bound(brief: Brief, vote: Round, right: float, rival: float, rivals: int, window: int = 1) -> float:
    """An upper bound on the chance that some far window of bins gets at least as many votes as the one with θ.

    Of the voters, at least a share `right` marks the window with θ and at most a share `rival` marks a given rival.
    For every λ > 0, P(Z_right ≤ Z_rival) ≤ (E exp(-λ(bits_right - bits_rival)))^n (Chernoff); as each user is in this
    round with probability `share`, n users contribute (1 - share + share·E …)^n. The best λ is searched for, any λ is
    valid; the union bound runs over the rivals.
    """
    if not rivals:
        return 0.0
    from scipy import optimize  # slow to load

    channel, voters = narrowed(Bits, vote.channel), brief.sizes.survival(narrowed(Bins, vote.lens).min_size)
    yes, no = channel.probability(1.0), channel.probability(0.0)
    right, wrong = voters * right, voters * rival

    def log_factor(slope: float) -> float:
        up, down = math.expm1(slope), math.expm1(-slope)
        # Moments of one bit, minus 1, and of a window that is blank or has one mark.
        blank_right, blank_rival = (1 + no * down) ** window, (1 + no * up) ** window
        mark_right = blank_right * (1 + yes * down) / (1 + no * down)
        mark_rival = blank_rival * (1 + yes * up) / (1 + no * up)
        neither = (1 - right - wrong) * blank_right * blank_rival
        moment = right * mark_right * blank_rival + wrong * blank_right * mark_rival + neither
        return math.log1p(vote.share * (moment - 1))

    best = optimize.minimize_scalar(log_factor, bounds=(1e-9, 20.0), method="bounded", options={"xatol": 1e-9})
    exponent = brief.users * min(float(best.fun), 0.0) + math.log(rivals)
    return math.exp(min(exponent, 0.0))


def wrong_winner_chance(votes: Tally, sizes: Sizes, apart: int, window: int = 1) -> float:
    """The chance that a far rival holds θ, judged from the votes.

    If it did, the signal of all voters would be in its total and not in the winner's: with normal coins, a gap g
    between two totals makes this exp(-g·signal/variance) times less likely than what was elected, places being alike
    before the vote.
    """
    channel, totals = narrowed(Bits, votes.question.channel), window_totals(votes, window)
    elected = totals.index(max(totals))
    no, yes = channel.probability(0.0), channel.probability(1.0)
    sharpness = voting_share(votes, sizes) * (yes - no) / (window * no * (1 - no))
    gaps = (totals[elected] - total for place, total in enumerate(totals) if abs(place - elected) >= apart)
    return min(math.fsum(math.exp(-gap * sharpness) for gap in gaps), 1.0)


def window_totals(votes: Tally, window: int) -> list[int]:
    """The sum of the votes in each run of `window` neighbouring bins, the first run starting at bin 0."""
    sums = votes.sums
    return [sum(sums[start : start + window]) for start in range(max(len(sums) - window, 0) + 1)]

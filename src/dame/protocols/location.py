"""How sure a vote is: a certified bound before the study, and a judgement from the votes after it."""

from __future__ import annotations

import math

from scipy import optimize, special

from dame.device.exact import WORD
from dame.device.questions import Vote
from dame.plans import VoteRound
from dame.tally import Tally


def missed_vote_bound(vote: VoteRound, users: int, stray: float, rivals: int, window: int = 1) -> float:
    """An upper bound on the chance that some far window of bins gets at least as many votes as the one with θ.

    A voter misses the right window with probability at most `stray`, and then may mark a rival. For every λ > 0,
    P(Z_right ≤ Z_rival) ≤ (E exp(-λ(bits_right - bits_rival)))^n (Chernoff); as each user is in this round with
    probability `share`, n users contribute (1 - share + share·E …)^n. The best λ is searched for, any λ is valid; the
    union bound runs over the rivals.
    """
    if not rivals:
        return 0.0
    yes, no = vote.code.yes / WORD, vote.code.no / WORD
    right, wrong = vote.voters * (1 - stray), vote.voters * stray

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
    exponent = users * min(float(best.fun), 0.0) + math.log(rivals)
    return math.exp(min(exponent, 0.0))


def wrong_winner_chance(votes: Tally, apart: int, window: int = 1) -> float:
    """The chance of a wrong winner, judged from the votes: how often noise alone would close the gap to a far rival."""
    question = votes.question
    assert isinstance(question, Vote)
    totals = window_totals(votes, window)
    elected = totals.index(max(totals))
    rivals = [total for place, total in enumerate(totals) if abs(place - elected) >= apart]
    if not rivals:
        return 0.0
    no, yes = question.code.no / WORD, question.code.yes / WORD
    variance = ((2 * window - 1) * no * (1 - no) + yes * (1 - yes)) * votes.reports
    gap = (totals[elected] - max(rivals)) / math.sqrt(variance)
    return min(len(rivals) * float(special.ndtr(-gap)), 1.0)


def window_totals(votes: Tally, window: int) -> list[int]:
    """The sum of the votes in each run of `window` neighbouring bins, the first run starting at bin 0."""
    sums = votes.sums
    return [sum(sums[start : start + window]) for start in range(max(len(sums) - window, 0) + 1)]

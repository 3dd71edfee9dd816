"""How sure a vote is: a certified bound before the study, and a judgement from the votes after it."""

from __future__ import annotations

import math

from scipy import optimize, special

from dame.device.exact import WORD
from dame.device.questions import Vote
from dame.plans import VoteRound
from dame.tally import Tally


def missed_vote_bound(vote: VoteRound, users: int, voters: float, stray: float, rivals: int) -> float:
    """An upper bound on the chance that some far bin gets at least as many votes as the bin of θ.

    Of all users a share `voters` votes; a voter misses the right bin with probability at most `stray` (and then may
    mark a rival). For every λ > 0, P(Z_right ≤ Z_rival) ≤ (E exp(-λ(bit_right - bit_rival)))^n (Chernoff); as each
    user is in this round with probability `share`, n users contribute (1 - share + share·E …)^n. The best λ is
    searched for, any λ is valid; the union bound runs over the rivals.
    """
    if not rivals:
        return 0.0
    yes, no = vote.code.yes / WORD, vote.code.no / WORD
    right, wrong = voters * (1 - stray), voters * stray

    def log_factor(slope: float) -> float:
        up, down = math.exp(slope), math.exp(-slope)
        blank_right, mark_right = 1 - no + no * down, 1 - yes + yes * down
        blank_rival, mark_rival = 1 - no + no * up, 1 - yes + yes * up
        moment = (
            right * mark_right * blank_rival
            + wrong * blank_right * mark_rival
            + (1 - right - wrong) * blank_right * blank_rival
        )
        return math.log1p(vote.share * (moment - 1))

    best = optimize.minimize_scalar(log_factor, bounds=(1e-9, 20.0), method="bounded", options={"xatol": 1e-9})
    exponent = users * min(float(best.fun), 0.0) + math.log(rivals)
    return math.exp(min(exponent, 0.0))


def decisive_chance(votes: Tally, apart: int) -> float:
    """The chance of a wrong winner, judged from the votes: how often noise alone would close the gap to a far rival."""
    question = votes.question
    assert isinstance(question, Vote)
    elected = votes.sums.index(max(votes.sums))
    rivals = [total for bin_, total in enumerate(votes.sums) if abs(bin_ - elected) >= apart]
    if not rivals:
        return 0.0
    spread = math.sqrt(sum(p * (1 - p) * votes.reports for p in (question.code.no / WORD, question.code.yes / WORD)))
    gap = (votes.sums[elected] - max(rivals)) / spread
    return min(len(rivals) * float(special.ndtr(-gap)), 1.0)

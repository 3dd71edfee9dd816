"""`paper`: DAME as published. Half of the users vote for the bin of the mean, the others measure in a window around it.

The decisions where the text is open or contradicts itself are listed in docs/decisions.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import MOST_BINS, Measure, Question, Vote
from dame.device.randomisers import DiscreteLaplace, UnaryCode
from dame.estimates import Estimate, estimate_from_reading, read_measure, widened
from dame.planning.plans import Brief, MeasureRound, Plan, VoteRound
from dame.protocols.base import Protocol, forecast
from dame.protocols.location import missed_vote_bound, wrong_winner_chance
from dame.tally import Tally
from dame.theory import HIGH_PRIVACY, PAPER, bin_half_width, effective_size, phi

Floats = NDArray[np.float64]

NEIGHBOURS = 1
WINDOW_MARGIN = 6
"""The window goes on for 6τ beyond either border of the elected bin."""
DOUBT = 0.01
"""Above this chance of a wrong bin, judged from the votes, the interval is the whole range."""


class Paper(Protocol):
    """Distribution-aware mean estimation (Pla, Richard, Vono 2025), algorithm 1."""

    name = "paper"
    summary = "DAME as published: votes for bins, then Laplace noise on a window; uses everybody's records up to m̃"
    details = frozenset({"m_tilde", "tau", "bins", "phi"})
    kinds = ((VoteRound, MeasureRound),)

    def effective_size(self, brief: Brief) -> int:
        """The size m̃ up to which records count: Theorem 2's choice."""
        return effective_size(brief.sizes, brief.users * brief.alpha**2, PAPER)

    def plan(self, brief: Brief, **choices: Any) -> Plan:
        """Two rounds of half of the users each."""
        m_tilde = self.effective_size(brief)
        # Where users differ, m̃ records of one of them tell less than m̃ records.
        told = max(math.floor(brief.effective(m_tilde)), 1)
        n_alpha2 = brief.users * brief.alpha**2
        # No more bins than a question may have: users with 10^13 records or more locate a little less finely.
        tau = max(bin_half_width(told, n_alpha2), 1 / MOST_BINS)
        vote = VoteRound(
            name="locate",
            share=0.5,
            bins=math.ceil(1 / tau),
            width=2 * tau,
            neighbours=NEIGHBOURS,
            min_size=m_tilde,
            voters=brief.sizes.survival(m_tilde),
            code=UnaryCode.symmetric(brief.alpha, marks=2 * NEIGHBOURS + 1),
        )
        measure = MeasureRound(
            name="measure",
            share=0.5,
            half_width=min((WINDOW_MARGIN + 1) * tau, 1.0) * math.sqrt(told),
            cap=float(told),
            between_sd=brief.spread,
            noise=DiscreteLaplace.spending(brief.alpha),
        )
        missed, mse = _missed(brief, vote, told, tau), _mean_squared_error(brief, measure, tau)
        return Plan(
            protocol=self.name,
            brief=brief,
            rounds=(replace(vote, error_after=min(2 * tau, 1.0)), replace(measure, error_after=min(mse**0.5, 1.0))),
            forecast=forecast(brief, mse, missed),
            details={"m_tilde": m_tilde, "tau": tau, "bins": vote.bins, "phi": phi(m_tilde, n_alpha2, PAPER)},
            notes=_notes(brief, missed),
        )

    def question(self, plan: Plan, tallies: Sequence[Tally]) -> Question:
        """The vote, then the measurement around the bin that was elected."""
        vote, measure = plan.rounds
        assert isinstance(vote, VoteRound)
        assert isinstance(measure, MeasureRound)
        if not tallies:
            return vote.ask(plan.brief, 0)
        centre, left, right = elected_window(tallies[0])
        root = math.sqrt(measure.cap or 1.0)
        return measure.ask(plan.brief, 1, centre, (root * (left - centre), root * (right - centre)))

    def estimate(self, plan: Plan, tallies: Sequence[Tally]) -> Estimate:
        """Equation (hat theta), with the whole range as interval when the vote was not decisive."""
        votes, measured = tallies
        vote, measure = plan.rounds
        assert isinstance(vote, VoteRound)
        assert isinstance(measure, MeasureRound)
        assert isinstance(measured.question, Measure)
        users = (votes.reports, measured.reports)
        reading = read_measure(measured, measure.gain(plan.brief, measured.question))
        estimate = estimate_from_reading(reading, users)
        doubt = wrong_winner_chance(votes, vote.voters, apart=2 * NEIGHBOURS + 1)
        if doubt <= DOUBT:
            return replace(estimate, failure_probability=doubt)
        return widened(estimate, doubt, f"the vote was not decisive (chance of a wrong bin up to {doubt:.2g})")


def elected_window(votes: Tally) -> tuple[float, float, float]:
    """The middle of the bin with most votes, and the window [L, U] around it (the first of equal bins)."""
    question = votes.question
    assert isinstance(question, Vote)
    elected = votes.sums.index(max(votes.sums))
    left, right = question.edges(elected)
    margin = WINDOW_MARGIN * question.width / 2
    return (left + right) / 2, max(left - margin, -1.0), min(right + margin, 1.0)


def _mean_squared_error(brief: Brief, measure: MeasureRound, tau: float) -> float:
    """Predicted risk given a right location: noise, spread of the records, and unequal weights off centre."""
    noise = measure.noise.variance(0.5) * (2 * measure.half_width) ** 2
    cap = float(measure.cap or 1.0)

    def weight(sizes: Floats) -> Floats:
        return np.asarray(np.sqrt(brief.effective(sizes).clip(max=cap)))

    mean_weight = brief.sizes.mean_sqrt(cap) if not brief.spread else brief.sizes.expectation(weight)
    second_moment = brief.sizes.expectation(lambda m: weight(m) ** 2)
    off_centre = (2 * tau) ** 2 * max(second_moment - mean_weight**2, 0.0)
    records = brief.sizes.expectation(lambda m: weight(m) ** 2 / brief.effective(m))
    return (noise + records + off_centre) / (brief.users * measure.share * mean_weight**2)


def _missed(brief: Brief, vote: VoteRound, told: int, tau: float) -> float:
    stray = min(2 * math.exp(-told * tau**2 / 2), 1.0)
    rivals = max(vote.bins - (2 * NEIGHBOURS + 1), 0)
    return missed_vote_bound(vote, brief.users, 1 - stray, stray, rivals)


def _notes(brief: Brief, missed: float) -> tuple[str, ...]:
    notes = []
    if brief.alpha > HIGH_PRIVACY:
        notes.append(f"the paper's theorems assume alpha at most 22/35; they do not cover {brief.alpha:g}")
    if brief.users_differ:
        notes.append(
            "this protocol gives users with more records more weight: off the mark where sizes and means are related"
        )
    if missed > DOUBT:
        notes.append(f"the vote may elect a wrong bin: the chance is at most {missed:.2g}")
    return tuple(notes)

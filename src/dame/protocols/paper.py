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

from dame.device.channels import Bits, Laplace
from dame.device.lenses import MOST_BINS, Bins, Window, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.records import MOST_RECORDS
from dame.estimates import Estimate, estimate_from, read_window, widened
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round, mean_weight, windows_around_zero
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
    shapes = frozenset({("bins bits", "windows laplace")})

    def effective_size(self, brief: Brief) -> int:
        """The size m̃ up to which records count: Theorem 2's choice."""
        return effective_size(brief.sizes, brief.users * brief.alpha**2, PAPER)

    def plan(self, brief: Brief, **choices: Any) -> MachinePlan:
        """Two rounds of half of the users each."""
        m_tilde = self.effective_size(brief)
        # Where users differ, m̃ records of one of them tell less than m̃ records.
        told = max(math.floor(brief.effective(m_tilde)), 1)
        n_alpha2 = brief.users * brief.alpha**2
        # No more bins than a question may have: users with 10^13 records or more locate a little less finely.
        tau = max(bin_half_width(told, n_alpha2), 1 / MOST_BINS)
        bins = Bins(bins=math.ceil(1 / tau), width=2 * tau, neighbours=NEIGHBOURS, min_size=min(m_tilde, MOST_RECORDS))
        half_width = min((WINDOW_MARGIN + 1) * tau, 1.0) * math.sqrt(told)
        vote = Round(
            name="locate",
            share=0.5,
            lens=bins,
            channel=Bits.symmetric(brief.alpha, bins.bins, marks=2 * NEIGHBOURS + 1),
            error_after=min(2 * tau, 1.0),
        )
        measure = Round(
            name="measure",
            share=0.5,
            lens=windows_around_zero(half_width, cap=float(told), between_sd=brief.spread),
            channel=Laplace.spending(brief.alpha),
        )
        missed, mse = _missed(brief, vote, told, tau), _mean_squared_error(brief, measure, tau)
        return MachinePlan(
            protocol=self.name,
            brief=brief,
            rounds=(vote, replace(measure, error_after=min(mse**0.5, 1.0))),
            forecast=forecast(brief, mse, missed),
            details={"m_tilde": m_tilde, "tau": tau, "bins": bins.bins, "phi": phi(m_tilde, n_alpha2, PAPER)},
            notes=_notes(brief, missed),
        )

    def reasons(self, plan: MachinePlan) -> list[str]:
        """Why people vote first, where there is something to vote for."""
        why = "Votes locate the mean, because users' means are far sharper than plain bits could locate."
        return [why] if plan.rounds[0].lens.bins > 1 else []

    def question(self, plan: MachinePlan, history: Sequence[Tally]) -> Question:
        """The vote, then the measurement around the bin that was elected."""
        vote, measure = plan.rounds
        if not history:
            return vote.ask(plan.brief, 0)
        return measure.ask(plan.brief, 1, elected_window(history[0], narrowed(Windows, measure.lens)))

    def estimate(self, plan: MachinePlan, history: Sequence[Tally]) -> Estimate:
        """Equation (hat theta), with the whole range as interval when the vote was not decisive."""
        votes, measured = history
        lens = narrowed(Windows, measured.question.lens)
        estimate = estimate_from(
            read_window(measured, lens, mean_weight(lens, plan.brief.sizes)), (votes.reports, measured.reports)
        )
        doubt = wrong_winner_chance(votes, plan.brief.sizes, apart=2 * NEIGHBOURS + 1)
        if doubt <= DOUBT:
            return replace(estimate, failure_probability=doubt)
        return widened(estimate, doubt, f"the vote was not decisive (chance of a wrong bin up to {doubt:.2g})")


def elected_window(votes: Tally, planned: Windows) -> Windows:
    """The window around the bin with most votes (the first of equal bins), cut at the bounds."""
    bins = narrowed(Bins, votes.question.lens)
    left, right = bins.edges(votes.sums.index(max(votes.sums)))
    margin, centre = WINDOW_MARGIN * bins.width / 2, (left + right) / 2
    root = math.sqrt(planned.cap or 1.0)
    low, high = (root * (end - centre) for end in (max(left - margin, -1.0), min(right + margin, 1.0)))
    return replace(planned, windows=(Window(centre, low, high),))


def _mean_squared_error(brief: Brief, measure: Round, tau: float) -> float:
    """Predicted risk given a right location: noise, spread of the records, and unequal weights off centre."""
    lens = narrowed(Windows, measure.lens)
    ((_, left, right),) = lens.windows
    noise, cap = measure.channel.variance(0.5) * (right - left) ** 2, lens.cap or 1.0

    def weight(sizes: Floats) -> Floats:
        return np.asarray(np.sqrt(brief.effective(sizes).clip(max=cap)))

    mean_weight = brief.sizes.mean_sqrt(cap) if not brief.spread else brief.sizes.expectation(weight)
    second_moment = brief.sizes.expectation(lambda m: weight(m) ** 2)
    off_centre = (2 * tau) ** 2 * max(second_moment - mean_weight**2, 0.0)
    records = brief.sizes.expectation(lambda m: weight(m) ** 2 / brief.effective(m))
    return (noise + records + off_centre) / (brief.users * measure.share * mean_weight**2)


def _missed(brief: Brief, vote: Round, told: int, tau: float) -> float:
    stray = min(2 * math.exp(-told * tau**2 / 2), 1.0)
    rivals = max(vote.lens.bins - (2 * NEIGHBOURS + 1), 0)
    return missed_vote_bound(brief, vote, 1 - stray, stray, rivals)


def _notes(brief: Brief, missed: float) -> tuple[str, ...]:
    notes = []
    if brief.alpha > HIGH_PRIVACY:
        notes.append(f"the paper's theorems assume alpha at most 22/35; they do not cover {brief.alpha:g}")
    if brief.users_vary:
        notes.append(
            "this protocol gives users with more records more weight: off the mark where sizes and means are related"
        )
    if missed > DOUBT:
        notes.append(f"the vote may elect a wrong bin: the chance is at most {missed:.2g}")
    return tuple(notes)

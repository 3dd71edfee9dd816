"""The audit that `dame audit` runs: enough questions, of every kind that plans can lead to, all of them right."""

from __future__ import annotations

import math
import time

import pytest

from dame import audit
from dame.audit.cases import (
    ALPHAS,
    CLASSES,
    POPULATIONS,
    SEGMENTS,
    WAVELENGTHS,
    Case,
    all_cases,
    four_rounds,
    outcomes,
    reachable,
    surveyed,
    telling_people,
    varying,
)
from dame.audit.exact import check_question
from dame.audit.runs import kinds
from dame.checks import ALPHA_RANGE
from dame.device import Bins, Bits, Choice, Laplace, SizeClasses, Stripes, Windows
from dame.estimates import Estimate
from dame.protocols import PROTOCOLS, drive_one
from dame.protocols import next as next_step
from dame.tally import Tally

FEWEST_QUESTIONS = 1219
MOST_SECONDS = 150.0
"""Processor time: about 60 s where nothing else runs, and half as much again on a busy machine."""


def test_the_default_audit():
    """One test, because the audit is long and may run in one process only."""
    started = time.process_time()
    found = list(all_cases())
    checks = [check_question(case.name, case.question) for case in found]
    seconds = time.process_time() - started
    assert [check for check in checks if not check.passed] == []
    assert all(check.epsilon_exact <= check.epsilon_claimed for check in checks)
    assert sum(check.tight for check in checks) > len(checks) / 2
    assert len(found) >= FEWEST_QUESTIONS
    assert seconds < MOST_SECONDS
    assert len({case.name for case in found}) == len(found)
    assert_every_protocol_appears_at_every_alpha(found)
    assert_every_kind_of_question_appears(found)


def assert_every_protocol_appears_at_every_alpha(found: list[Case]) -> None:
    assert set(ALPHAS) == {0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0}
    seen = {(case.name.split()[0], case.question.alpha) for case in found}
    assert seen == {(protocol, alpha) for protocol in PROTOCOLS for alpha in (*ALPHAS, *ALPHA_RANGE)}


def with_parts(found: list[Case], lens: type, channel: type) -> list:
    """The questions with such a lens and such a channel."""
    each = (case.question for case in found)
    return [question for question in each if isinstance(question.lens, lens) and isinstance(question.channel, channel)]


def assert_every_kind_of_question_appears(found: list[Case]) -> None:
    every = (*ALPHAS, *ALPHA_RANGE)
    votes = [question.lens for question in with_parts(found, Bins, Bits)]
    assert {lens.neighbours for lens in votes} == {0, 1}
    assert min(lens.bins for lens in votes) == 1
    assert max(lens.bins for lens in votes) > 100
    for channel in (Bits, Choice):
        surveys = {(question.lens.classes, question.alpha) for question in with_parts(found, SizeClasses, channel)}
        assert surveys >= {(count, alpha) for count in CLASSES for alpha in every}
    bits, noisy = with_parts(found, Windows, Bits), with_parts(found, Windows, Laplace)
    assert noisy
    segments = {(question.lens.window_count, question.alpha) for question in bits if question.lens.cap == 1}
    assert segments >= {(count, alpha) for count in (1, *SEGMENTS) for alpha in every}
    on_stripes = with_parts(found, Stripes, Bits)
    stripes = {(level.wavelength, question.alpha) for question in on_stripes for level in question.lens.levels}
    assert stripes >= {(wavelength, alpha) for wavelength in WAVELENGTHS for alpha in every}
    assert {len(question.lens.levels) for question in on_stripes} >= {1, 3}
    windows = [window for question in (*bits, *noisy) for window in question.lens.windows]
    assert any(question.lens.window_count == 2 and question.lens.cap is None for question in bits), "dithered"
    centres = {(question.lens.windows[0].centre + question.lens.windows[-1].centre) / 2 for question in (*bits, *noisy)}
    assert {-1.0, 1.0} <= centres, "at the very ends"
    assert any(abs(window.left) != window.right for window in windows), "windows cut by the bounds"
    assert {case.question.round for case in found} >= {0, 1, 2, 3}


def test_a_choice_of_protocol_and_alpha_is_all_that_is_audited():
    checks = list(audit.audit(["one-bit", "duchi"], [0.25]))
    assert [check.epsilon_claimed for check in checks] == [0.25, 0.25]
    assert [check.name.split()[0] for check in checks] == ["one-bit", "duchi"]


def test_all_paths_through_four_rounds_are_walked():
    found = list(reachable(four_rounds(1.0), "walk"))
    assert len(found) == 1 + 4 + 4 * 4 + 4 * 4 * 4


def test_outcomes_reach_the_end_of_a_study():
    outcome = drive_one(four_rounds(1.0), lambda question: list(outcomes(question))[-1][1])
    assert isinstance(outcome.estimate, Estimate)
    assert math.isfinite(outcome.estimate.value)


@pytest.mark.parametrize("alpha", [*ALPHAS, *ALPHA_RANGE])
def test_a_study_under_between_user_variation_has_three_rounds(alpha):
    plan = varying(max(alpha, 0.01))
    assert len(plan.rounds) == 3
    assert next_step(surveyed(alpha), []).lens.bins > 8


@pytest.mark.parametrize("alpha", [*ALPHAS, *ALPHA_RANGE])
def test_outcomes_steer_to_both_ends_and_the_middle(alpha):
    for name, question in kinds(alpha).items():
        (_, silence), *alike = outcomes(question)
        assert silence == Tally.zero(question)
        people = telling_people(question.lens)
        assert len(alike) == len({tally for _, tally in alike}) == len(people) == 3, name
        if question.lens.bins > 1:
            winners = [tally.sums.index(max(tally.sums)) for _, tally in alike]
            own = [question.lens.reading(person, 0) for person in people]
            assert all(one.first <= winner <= one.last for winner, one in zip(winners, own, strict=True))
            assert len(set(winners)) == 3


def test_all_protocols_are_audited_by_default():
    assert set(POPULATIONS) <= set(PROTOCOLS)
    assert len(PROTOCOLS) >= 5

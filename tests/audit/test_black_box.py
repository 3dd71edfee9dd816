"""The auditor from the outside: certified bounds, a declared false-alarm rate, and power against every mutant."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dame.audit
from dame.audit.black_box import FALSE_ALARM, MOST_RECORDS, certified_loss, heard, listen, power, suspects
from dame.audit.events import candidates
from dame.audit.runs import kinds, sampled
from dame.device import Bins, Bits, Value, answer
from dame.device.questions import question_id
from dame.device.reports import Report
from dame.errors import InvalidInput
from tests.audit import broken
from tests.device.examples import ask

POWER = 0.999
MUTANTS = broken.broken()
AUDIBLE = [mutant for mutant in MUTANTS if mutant.draws is not None]
MOST_SECONDS = 120.0
spent: list[float] = []


@pytest.mark.parametrize("mutant", AUDIBLE, ids=lambda mutant: mutant.name)
def test_every_mutant_is_caught_from_the_outside(mutant):
    started = time.process_time()
    finding = listen(mutant.answer, mutant.question, mutant.pilot, mutant.draws)
    spent.append(time.process_time() - started)
    assert finding.guilty, finding
    assert finding.epsilon_lower <= mutant.epsilon, "a certified bound, not an estimate"


def test_all_mutants_together_take_less_than_two_minutes():
    if len(spent) < len(AUDIBLE):
        pytest.skip("the mutants ran elsewhere")
    assert sum(spent) < MOST_SECONDS


@pytest.mark.parametrize("mutant", AUDIBLE, ids=lambda mutant: mutant.name)
def test_the_power_against_every_mutant_is_declared(mutant):
    assert power(mutant.chances, mutant.draws, mutant.question.alpha) >= POWER
    assert math.log(mutant.chances[0] / max(mutant.chances[1], 1e-300)) > mutant.question.alpha


def test_the_mutant_that_only_the_exact_audit_sees_is_out_of_reach():
    (silent,) = [mutant for mutant in MUTANTS if mutant.draws is None]
    high = 1 / (1 + math.exp(-silent.epsilon))
    assert power((high, 1 - high), 1_000_000, silent.question.alpha) < 0.9


def test_the_names_of_the_mutants_cover_the_known_mistakes():
    names = " | ".join(mutant.name for mutant in MUTANTS)
    for mistake in (
        "one coin",
        "four votes",
        "fifth of alpha",
        "not cut",
        "float noise",
        "records",
        "2^-10",
        "window chosen",
        "among two",
        "segment chosen",
        "one word",
        "beyond a segment",
    ):
        assert mistake in names


def test_mutants_are_labelled_and_in_no_package():
    assert "NOT PRIVATE" in broken.__doc__
    assert not any("broken" in path.name for path in Path(dame.audit.__file__).parents[1].rglob("*.py"))


# --- ours


@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_ours_passes_from_the_outside(alpha):
    findings = dict(sampled(alpha, pilot=1_500, draws=4_000))
    assert len(findings) == len(kinds(alpha))
    for finding in findings.values():
        assert not finding.guilty, finding
        assert finding.to_json()["passed"] is True


def test_the_bound_comes_close_to_what_ours_spends():
    finding = listen(answer, kinds(2.0)["one bit"], pilot=1_500, draws=20_000)
    assert 0.85 * 2.0 < finding.epsilon_lower <= 2.0


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.1, 22 / 35, 1.0, 3.0, 8.0])
def test_ours_passes_with_many_reports(alpha):
    for name, finding in sampled(alpha, pilot=30_000, draws=200_000):
        assert not finding.guilty, (name, finding)


# --- the false-alarm rate


def test_the_false_alarm_rate_holds_where_it_is_hardest():
    """A mechanism that spends exactly its α, judged at a level of 0.2: alarms in at most so many runs."""
    alpha, level, runs = 1.0, 0.2, 60
    question, source = kinds(alpha)["one bit"], random.Random(5)
    keep = math.exp(alpha) / (1 + math.exp(alpha))

    def brink(asked, samples):
        truth = asked.statistic.summarise(samples).mean > 0
        return Report(question=question_id(asked), value=int((source.random() < keep) == truth))

    alarms = sum(listen(brink, question, 150, 400, level).guilty for _ in range(runs))
    assert stats.binomtest(alarms, runs, level, alternative="greater").pvalue > 1e-6


@given(st.integers(0, 50), st.integers(0, 50), st.floats(1e-8, 0.2))
def test_certified_losses_are_those_of_clopper_and_pearson(here, there, level):
    draws = 50
    low, _ = stats.binomtest(here, draws).proportion_ci(1 - 2 * level, "exact")
    _, high = stats.binomtest(there, draws).proportion_ci(1 - 2 * level, "exact")
    expected = math.log(low / high) if low > 0 else -math.inf
    assert certified_loss(here, there, draws, level) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_power_grows_with_the_draws_and_falls_to_nothing():
    chances = (0.5, 0.1)
    values = [power(chances, draws, 1.0) for draws in (10, 100, 1_000, 10_000)]
    assert values == sorted(values)
    assert values[0] == 0.0
    assert values[-1] > POWER
    assert power((0.5, 0.4), 10_000, 1.0) == 0.0


# --- suspects and events


def suspected(question):
    """The people whose records are suspected."""
    return [question.statistic.summarise(records) for records in suspects(question).values()]


@pytest.mark.parametrize("name", list(kinds(1.0)))
def test_suspects_differ_in_size_and_as_much_as_the_lens_allows(name):
    question = kinds(1.0)[name]
    lens, people = question.lens, suspected(question)
    assert 4 <= len(people) <= 11
    assert len({person.size for person in people}) > 1
    assert max(person.size for person in people) <= MOST_RECORDS
    for window in range(lens.window_count):
        readings = {lens.reading(person, window) for person in people}
        # As near as the grid of records comes to people on a border.
        assert {reading.mark for reading in readings} >= ({0.0, 1.0} if lens.bins == 1 else {1.0})
        assert {reading.first for reading in readings} >= set(range(0, lens.bins, max(lens.bins - 2, 1)))


def test_somebody_is_silent_and_somebody_on_a_border_where_bins_are_asked_for():
    question = kinds(1.0)["vote with neighbours"]
    lens, people = question.lens, suspected(question)
    assert any(person.size < lens.min_size for person in people)
    borders = {(person.mean - lens.origin) / lens.width for person in people if person.size >= lens.min_size}
    assert {2.0, 6.0} <= borders, "four votes for the first bins, and four for the last"


def test_everybody_has_enough_records_where_one_is_enough():
    vote = ask(Bins(bins=4, width=0.5), Bits.optimised(1.0, bins=4), 1.0)
    assert {person.size for person in suspected(vote)} == {1, 3}


def test_suspects_are_in_the_units_of_the_study():
    vote = ask(Bins(bins=4, width=0.5), Bits.optimised(1.0, bins=4), 1.0, statistic=Value(low=5.0, high=9.0))
    assert all(5.0 <= record <= 9.0 for records in suspects(vote).values() for record in records)


def test_few_are_suspected_where_many_differ():
    vote = ask(Bins(bins=500, width=0.004), Bits.optimised(1.0, bins=500), 1.0)
    assert len(suspects(vote)) <= 11


def test_events_find_what_tells_two_samples_apart():
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 2, 3000) * 2, rng.integers(0, 2, 3000) * 2 + 1
    assert any(event.count(one) == 3000 and event.count(other) == 0 for event in candidates(one, other))
    assert all(event.words for event in candidates(one - 5, other - 5)), "negative values too"


def test_reports_are_heard_as_they_come():
    values = heard(answer, kinds(1.0)["one bit"], [0.5], 50)
    assert values.dtype == np.int64
    assert set(values.tolist()) == {0, 1}
    assert set(heard(answer, kinds(1.0)["one bit on a segment"], [0.5], 300).tolist()) == set(range(8))
    assert heard(answer, kinds(1.0)["noisy position"], [0.5], 50).min() > 0, "counted from the smallest value"


def test_reports_that_are_too_long_are_refused():
    vote = ask(Bins(bins=80, width=0.025), Bits.optimised(1.0, bins=80), 1.0)
    with pytest.raises(InvalidInput, match="62 bits"):
        listen(answer, vote, pilot=30, draws=1)


@pytest.mark.parametrize(
    "wrong", [{"pilot": 3}, {"draws": 0}, {"false_alarm": 0.0}, {"false_alarm": 1.5}, {"draws": 2.5}]
)
def test_bad_choices_are_refused(wrong):
    with pytest.raises(InvalidInput):
        listen(answer, kinds(1.0)["one bit"], **wrong)


def test_the_declared_rate_is_small():
    assert FALSE_ALARM <= 1e-6

"""Malicious users: the computed shift against closed forms, against simulation, and against more of them."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

import dame
from dame.audit.poisoning import Attack, _Honest, attackers_tally, largest_shift, mixes_for, worst_attack
from dame.device import Bins, Bits, Choice, Laplace, SizeClasses, Stripes, Window, Windows
from dame.device.parts import narrowed
from dame.device.records import Summary
from dame.device.reports import Report
from dame.errors import InvalidInput, RejectedReport
from dame.planning.machines import MachinePlan
from dame.planning.rounds import mean_weight
from dame.populations.simulation import draw_tally
from dame.protocols import drive_one, plan_mean
from dame.protocols import next as next_step
from dame.tally import Tally
from tests.device.examples import ask

REPETITIONS = 12
NEAR = 4.5
"""Standard errors that a simulated shift may be away from the computed one: a false alarm in 10^5."""


@functools.cache
def planned(
    protocol: str, alpha: float = 1.0, sizes: str = "constant:100", users: int = 100_000, **more
) -> MachinePlan:
    return plan_mean(users=users, alpha=alpha, sizes=dame.Sizes.parse(sizes), protocol=protocol, study="p", **more)


def privacy_factor(alpha: float) -> float:
    return (math.exp(alpha) + 1) / (math.exp(alpha) - 1)


# --- closed forms


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.05])
def test_one_bit_shifts_by_the_share_times_b_plus_one(alpha, share):
    expected = min(share * (privacy_factor(alpha) + 1), 2.0)
    assert largest_shift(planned("one-bit", alpha, users=10**11), share) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 3.0])
def test_laplace_shifts_by_the_whole_public_range(alpha):
    """Reports outside the public range are refused; inside it one person weighs (1 + 45/α) times the window."""
    noise = Laplace.spending(alpha)
    expected = min(0.01 * 2 * (noise.steps + noise.reach) / noise.steps, 2.0)
    assert largest_shift(planned("duchi", alpha)) == pytest.approx(expected, rel=1e-6)


def test_a_shift_is_in_the_units_of_the_study():
    inner, outer = planned("one-bit"), planned("one-bit", bounds=(0.0, 100.0))
    assert largest_shift(outer) == pytest.approx(50 * largest_shift(inner))


@pytest.mark.parametrize("protocol", ["adaptive", "paper", "kent", "duchi", "one-bit"])
def test_nobody_malicious_means_no_shift_and_more_of_them_a_larger_one(protocol):
    plan = planned(protocol, sizes="poisson:50")
    shifts = [largest_shift(plan, share) for share in (0.0, 0.002, 0.01, 0.05)]
    assert shifts[0] < 1e-6
    assert all(few <= many * (1 + 1e-9) for few, many in itertools.pairwise(shifts))
    assert shifts[-1] <= 2.0


def test_votes_that_can_be_outvoted_give_away_the_whole_range():
    """At α = 0.1 a voter adds tanh(α/12) = 0.008 to her bin, less than the 0.01 of malicious users."""
    weak = planned("paper", 0.1, "constant:100000")
    assert weak.rounds[0].lens.bins > 10
    assert largest_shift(weak) == pytest.approx(2.0)
    assert largest_shift(planned("paper", 0.5, "constant:100000")) < 0.5


def test_many_bins_are_played_near_the_mean_only():
    plan = planned("paper", 1.0, "constant:1000000000000", users=10**9)
    assert plan.rounds[0].lens.bins > 10**5
    assert largest_shift(plan) < 1e-3
    assert largest_shift(plan, 0.3) == 2.0, "whoever can outvote everybody can go anywhere"


@pytest.mark.parametrize(
    ("alpha", "sizes"),
    [
        (0.5, "constant:100"),
        (0.5, "constant:100000"),
        (1.0, "constant:100"),
        (1.0, "poisson:500"),
        (3.0, "constant:100"),
    ],
)
def test_the_adaptive_shift_is_at_most_a_few_windows_and_far_less_than_the_others(alpha, sizes):
    plan = planned("adaptive", alpha, sizes)
    lens = narrowed(Windows, plan.rounds[-1].lens)
    window = (lens.windows[0].right - lens.windows[0].left) / mean_weight(lens, plan.brief.sizes)
    shift = largest_shift(plan)
    assert shift <= 3 * window
    assert shift < largest_shift(planned("one-bit", alpha)) / 3
    assert shift < largest_shift(planned("paper", alpha, sizes)) / 10


def test_a_share_of_more_than_half_is_refused():
    for share in (-0.1, 0.6, math.nan):
        with pytest.raises(InvalidInput):
            largest_shift(planned("one-bit"), share)


# --- reports outside the public range


def test_reports_outside_the_public_range_are_refused():
    question = next_step(planned("duchi"), [])
    low, high = question.channel.values
    for value in (low - 1, high + 1, 10**9):
        with pytest.raises(RejectedReport):
            Tally.zero(question).add(Report(question=dame.device.question_id(question), value=value))
    for value in (low, high):
        Tally.zero(question).add(Report(question=dame.device.question_id(question), value=value))


# --- simulation


def attacked(plan: MachinePlan, attack: Attack | None, theta: float, share: float, rng: np.random.Generator) -> float:
    """The estimate of a simulated study in which a share of the users sends what the attack says."""
    population = dame.Population.synthetic(plan.brief.sizes, dame.parse_distribution(f"rademacher:{theta}"))
    groups = population.groups(round(plan.users * (1 - share)), plan.shares, rng)

    def answer(question):
        tally = draw_tally(question, groups[question.round], rng)
        count = round(tally.reports * share / (1 - share))
        if attack is not None and attack.mixes[question.round]:
            tally = tally.merge(attackers_tally(question, attack.mixes[question.round], count))
        return tally

    return drive_one(plan, answer).estimate.value


@pytest.mark.parametrize(
    ("protocol", "alpha", "sizes"),
    [
        ("one-bit", 1.0, "constant:100"),
        ("duchi", 3.0, "constant:100"),
        ("paper", 1.0, "constant:100"),
        ("kent", 3.0, "poisson:50"),
        ("adaptive", 1.0, "constant:100"),
        ("adaptive", 0.5, "poisson:50"),
        ("adaptive", 1.0, "constant:100000"),
    ],
)
def test_simulated_attacks_shift_the_estimate_as_computed(protocol, alpha, sizes):
    plan, rng = planned(protocol, alpha, sizes), np.random.default_rng(7)
    attack = worst_attack(plan)
    with_them = [attacked(plan, attack, attack.theta, 0.01, rng) for _ in range(REPETITIONS)]
    without = [attacked(plan, None, attack.theta, 0.01, rng) for _ in range(REPETITIONS)]
    shift = abs(np.mean(with_them) - np.mean(without))
    error = math.hypot(np.std(with_them, ddof=1), np.std(without, ddof=1)) / math.sqrt(REPETITIONS)
    assert abs(shift - attack.shift) < NEAR * error + 0.15 * attack.shift
    assert shift > 0.5 * attack.shift, "the attack is real"


# --- attacks


def test_attackers_send_what_a_device_could_send():
    for protocol in ("adaptive", "paper", "duchi", "one-bit"):
        question = next_step(planned(protocol), [])
        for mix in mixes_for(question, Tally.zero(question)):
            assert sum(part for *_, part in mix) in (0, 1.0)
            low, high = question.channel.values
            assert all(low <= value <= high for _, value, _ in mix)
            assert not mix or attackers_tally(question, mix, 1001).reports == 1001


def mixes(question):
    """What attackers may send where nobody else has sent anything."""
    return list(mixes_for(question, Tally.zero(question)))


def test_the_windows_of_a_dither_are_attacked_in_every_way():
    lens = Windows(windows=(Window(-0.5, -1.0, 1.0), Window(0.5, -1.0, 1.0)))
    question = ask(lens, Bits.single(1.0), 1.0)
    assert len(mixes(question)) == 1 + 4 + 4
    tallies = {attackers_tally(question, mix, 10).windows for mix in mixes(question)[1:]}
    assert tallies >= {
        ((10, (0,)), (0, (0,))),
        ((10, (10,)), (0, (0,))),
        ((0, (0,)), (10, (10,))),
        ((5, (5,)), (5, (0,))),
        ((5, (5,)), (5, (5,))),
    }


@pytest.mark.parametrize(("count", "patterns"), [(2, 4), (4, 16), (8, 16)])
def test_segments_are_attacked_as_if_from_anywhere(count, patterns):
    """One segment alone, all at once in every way; of eight, as people at the borders would, or the opposite."""
    question = on_segments(tuple(2 * border / count - 1 for border in range(count + 1)))
    every = mixes(question)
    ways = {tuple(value for _, value, _ in mix) for mix in every if len(mix) == count}
    assert len(ways) == patterns
    assert {(0,) * count, (1,) * count, (1,) + (0,) * (count - 1), (0,) * (count - 1) + (1,)} <= ways
    alone = {((window, value, 1.0),) for window in range(count) for value in (0, 1)}
    assert {mix for mix in every if len(mix) == 1} == alone
    assert all(attackers_tally(question, mix, 80).reports == (80 if mix else 0) for mix in every)


def test_stripes_are_attacked_as_if_from_anywhere():
    """All attackers may pretend to be one person, wherever she is, or her very opposite."""
    question = ask(Stripes.single(0.5), Bits.single(1.0), 1.0)
    ways = {tuple(value for _, value, _ in mix) for mix in mixes(question) if len(mix) == 16}
    for mean in (-1.0, -0.5, 0.0, 0.5, 1.0):
        person = Summary(size=1, mean=mean)
        marks = tuple(int(question.lens.reading(person, window).mark) for window in range(16))
        assert sum(marks) == 8
        assert {marks, tuple(1 - mark for mark in marks)} <= ways
    assert len(ways) < 100
    assert all(attackers_tally(question, mix, 80).reports == (80 if mix else 0) for mix in mixes(question))


def on_segments(borders: tuple[float, ...], alpha: float = 1.0):
    return ask(Windows.segments(borders), Bits.single(alpha), alpha)


@pytest.mark.parametrize("theta", [-1.0, -0.5, 0.03])
@pytest.mark.parametrize("borders", [(-1.0, 0.0, 1.0), (-1.0, -0.4, 0.0, 0.3, 1.0), tuple(n / 4 - 1 for n in range(9))])
def test_honest_bits_on_segments_are_those_expected(theta, borders):
    """Everybody is the sum of her segments: so is the mean that is read off the bits."""
    question, reports = on_segments(borders), 10**9 + 7
    tally = _Honest.of(planned("one-bit").brief, theta).tally(question, reports)
    assert tally.reports == reports
    shares = [question.channel.debias(ones / count) for count, (ones,) in tally.windows]
    widths = [right - left for left, right in itertools.pairwise(borders)]
    assert borders[0] + sum(share * width for share, width in zip(shares, widths, strict=True)) == pytest.approx(
        theta, abs=1e-6
    )


def test_every_bin_of_a_choice_may_be_sent_by_attackers():
    question = ask(Bins(bins=4, width=0.5), Choice.spending(1.0, 4), 1.0)
    first, *rest = mixes(question)
    assert first == ()
    sums = {attackers_tally(question, mix, 7).sums for mix in rest}
    assert sums == {(7, 0, 0, 0), (0, 7, 0, 0), (0, 0, 7, 0), (0, 0, 0, 7)}


@pytest.mark.parametrize("channel", [Bits.optimised(1.0, 12), Choice.spending(1.0, 12)])
def test_a_survey_of_sizes_is_attacked_at_both_ends(channel):
    """Whatever it finds leads to a design of its own: the two that distort it most are enough."""
    question = ask(SizeClasses(classes=12), channel, 1.0)
    sums = [attackers_tally(question, mix, 3).sums for mix in mixes(question)[1:]]
    assert sums == [(3,) + 11 * (0,), 11 * (0,) + (3,)]


@pytest.mark.parametrize("theta", [-1.0, -0.5, 0.03])
@pytest.mark.parametrize("count", [2, 5, 8])
def test_honest_choices_are_those_expected(theta, count):
    """All reports have one mark, and the shares of the bins that are read off them are those of the users."""
    question, reports = ask(Bins(bins=count, width=2 / count), Choice.spending(1.0, count), 1.0), 10**9 + 7
    honest = _Honest.of(planned("one-bit").brief, theta)
    tally = honest.tally(question, reports)
    assert sum(tally.sums) == reports
    own = [question.lens.bin_of(mean) for mean in honest.means]
    expected = np.bincount(own, honest.shares, count)
    shares = [question.channel.debias(total / reports) for total in tally.sums]
    assert shares == pytest.approx(list(expected), abs=1e-6)


def test_a_single_bin_leaves_nothing_to_elect():
    plan = planned("paper", 0.5, "poisson:5", users=1000)
    assert isinstance(next_step(plan, []).lens, Bins)
    assert plan.rounds[0].lens.bins == 1
    assert 0 < largest_shift(plan) <= 2.0


def test_machines_that_differ_in_names_and_units_are_worked_out_once(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "dame.audit.poisoning.worst_attack", lambda plan, share: seen.append(plan) or worst_attack(plan, share)
    )
    one, other = (
        plan_mean(users=777, alpha=1.1, sizes=dame.Sizes.constant(3), protocol="one-bit", bounds=bounds, study=study)
        for bounds, study in (((-1, 1), "a"), ((0, 60), "b"))
    )
    assert largest_shift(other) == pytest.approx(30 * largest_shift(one), rel=1e-12)
    assert largest_shift(other) == pytest.approx(worst_attack(other).shift, rel=1e-9)
    assert len(seen) == 1

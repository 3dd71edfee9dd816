"""Conformance: every lens and channel has a vectorised form that comes to the device's integers, bit for bit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.audit import check_question
from dame.audit.agreement import disagreement
from dame.audit.expected import expected_tally
from dame.audit.runs import kinds
from dame.device.channels import CHANNELS, Bits, Laplace
from dame.device.lenses import LENSES, Bins, Lens, Reading, SizeClasses
from dame.device.reports import Report
from dame.errors import InvalidInput
from dame.tally import Tally, merged
from dame.vectorised.channels import CHANNEL_FORMS
from dame.vectorised.lenses import LENS_FORMS, Readings
from dame.vectorised.reports import answer_many, report_totals
from tests.device.enumeration import value_law
from tests.device.examples import ask, every_making, own, question_name
from tests.device.strategies import people, questions

QUESTIONS = [*kinds(1.0).values(), *every_making([0.01, 8.0])]
ALL = dict(zip(kinds(1.0), QUESTIONS, strict=False))


# --- nothing is missing


def test_every_lens_and_every_channel_has_a_form():
    assert len(own(LENSES)) >= 3
    assert len(own(CHANNELS)) >= 3
    assert [lens for lens in LENSES if lens not in LENS_FORMS] == []
    assert [channel for channel in CHANNELS if channel not in CHANNEL_FORMS] == []


def test_every_lens_and_every_channel_is_compared():
    assert {type(question.lens) for question in kinds(1.0).values()} == set(own(LENSES))
    assert {type(question.channel) for question in kinds(1.0).values()} == set(own(CHANNELS))


def test_a_lens_or_a_channel_without_a_form_is_an_error():
    class Unknown(SizeClasses):
        """Nobody has registered a form."""

    class Unheard(Bits):
        """Nor here."""

    channel = Bits.optimised(1.0, 3)
    for question in (
        ask(Unknown(classes=3), channel, 1.0),
        ask(SizeClasses(classes=3), Unheard(bins=3, yes=channel.yes, no=channel.no), 1.0),
    ):
        with pytest.raises(InvalidInput, match="vectorised form"):
            check_question("unknown", question)


# --- ours agree


@pytest.mark.parametrize("question", QUESTIONS, ids=question_name)
def test_the_extreme_people_agree(question):
    assert not disagreement(question, question.lens.extremes())


@given(questions(), st.lists(people, min_size=1, max_size=8))
def test_anybody_agrees(question, some):
    assert not disagreement(question, some)


@pytest.mark.parametrize("question", QUESTIONS, ids=question_name)
def test_reports_of_many_are_reports_of_devices(question):
    """Whatever secure coins lead to, a device could have sent it, and both add it up alike."""
    some = question.lens.extremes()
    reports = answer_many(question, *arrays(some))
    one_by_one = [Report.decode(question, row.tobytes()) for row in reports]
    added = merged([Tally.zero(question), *(Tally.zero(question).add(report) for report in one_by_one)])
    assert Tally.of(question, report_totals(question, reports)) == added


def arrays(some):
    return np.array([one.size for one in some], np.int64), np.array([one.mean for one in some], np.float64)


@pytest.mark.parametrize("question", QUESTIONS, ids=question_name)
def test_expected_tallies_are_those_of_the_distribution_of_reports(question):
    """By the law of each person's value, which the device's own steps give."""
    lens, channel, reports = question.lens, question.channel, 10**6 * question.lens.window_count
    if isinstance(channel, Laplace) and channel.scale > 500:
        pytest.skip("a law of too many values to add up")
    some = lens.extremes()[::7]
    tally = expected_tally(question, *arrays(some), np.full(len(some), 1 / len(some)), reports)
    assert tally.reports == reports
    for window, (count, sums) in enumerate(tally.windows):
        laws = [value_law(channel, lens.reading(person, window)) for person in some]
        for entry, total in enumerate(sums):
            mean = sum(chance * channel.entries(value)[entry] for law in laws for value, chance in law.items())
            assert total == pytest.approx(float(count * mean / len(some)), rel=1e-6, abs=1.5)


# --- forms that differ


class _Changed:
    """A form that answers with changed readings or ends."""

    def __init__(self, form, change):
        self._form = form
        self._change = change

    def __getattr__(self, name):
        return getattr(self._form, name)

    def read(self, *given):
        return self._change(self._form.read(*given))


def changed(monkeypatch, lens: Lens, change):
    honest = LENS_FORMS.of(lens)
    monkeypatch.setitem(LENS_FORMS._forms, type(lens), _Changed(honest, change))


def shifted(readings: Readings) -> Readings:
    return dataclasses.replace(readings, first=readings.first + 1, last=readings.last + 1)


def one_ulp_less(readings: Readings) -> Readings:
    return dataclasses.replace(readings, marks=readings.marks * (1 - 2**-53))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vote", shifted),
        ("vote for a size", shifted),
        ("one bit", one_ulp_less),
        ("one bit, dithered", one_ulp_less),
        ("one bit on a segment", one_ulp_less),
        ("one bit on stripes", one_ulp_less),
        ("noisy position", one_ulp_less),
    ],
)
def test_a_lens_that_reads_otherwise_is_noticed(monkeypatch, name, change):
    changed(monkeypatch, ALL[name].lens, change)
    check = check_question(name, ALL[name])
    assert not check.passed
    assert check.problem == "the vectorised lens reads other marks than the device"


SLIPPED = {
    "vote": lambda channel: dataclasses.replace(channel, yes=channel.yes + 1),
    "vote with neighbours": lambda channel: dataclasses.replace(channel, no=channel.no - 1),
    "choice of a size": lambda channel: dataclasses.replace(channel, yes=channel.yes - 7, no=channel.no + 1),
    "one bit": lambda channel: dataclasses.replace(channel, no=channel.no - 1),
    "one bit on a segment": lambda channel: dataclasses.replace(channel, yes=channel.yes + 2),
    "one bit on stripes": lambda channel: dataclasses.replace(channel, no=channel.no + 1),
    "noisy position": lambda channel: dataclasses.replace(channel, scale=channel.scale + 1),
}


@pytest.mark.parametrize("name", SLIPPED)
def test_a_channel_whose_ends_are_off_by_one_is_noticed(monkeypatch, name):
    channel = ALL[name].channel
    form = CHANNEL_FORMS.of(channel)

    class Slipped(type(form)):
        """The same form, for another channel than the question's."""

        def codes(self, channel, readings, coins):
            return form.codes(SLIPPED[name](channel), readings, coins)

    monkeypatch.setitem(CHANNEL_FORMS._forms, type(channel), Slipped())
    check = check_question(name, ALL[name])
    assert not check.passed
    assert check.problem == "the vectorised channel draws other values than the device"


def test_partial_marks_on_several_bins_agree():
    """No lens of ours has them, but a lens of somebody else may."""

    class Half(Bins):
        """Half a mark for whoever is on the right."""

        kind = "half"
        __slots__ = ()

        def reading(self, person, window=0):
            return Bins.reading(self, person)._replace(mark=0.5 if person.mean > 0 else 1.0)

    class HalfForm(type(LENS_FORMS.of(Bins(bins=3, width=1.0)))):
        """The same."""

        def read(self, lens, sizes, means, windows):
            whole = super().read(lens, sizes, means, windows)
            return dataclasses.replace(whole, marks=np.where(means > 0, 0.5, 1.0))

    LENS_FORMS.register(Half, HalfForm())
    question = ask(Half(bins=3, width=2 / 3, neighbours=1), Bits.symmetric(1.0, bins=3, marks=3), 1.0)
    assert not disagreement(question, question.lens.extremes())
    assert question.lens.reading(question.lens.extremes()[-2]) == Reading(1, 2, 0.5)

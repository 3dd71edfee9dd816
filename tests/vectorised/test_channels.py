"""Every registered channel draws on arrays what devices draw one by one with the same words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.answering import respond
from dame.device.channels import CHANNELS, Bits, Channel, Choice
from dame.device.exact import WORD
from dame.device.questions import Question
from dame.device.records import Summary
from dame.device.reports import Report
from dame.errors import InvalidInput
from dame.tally import Tally
from dame.vectorised import coins as many_coins
from dame.vectorised.channels import CHANNEL_FORMS, sum_of_squares
from dame.vectorised.coins import KeyedCoins, StreamCoins
from dame.vectorised.keyed import Keys, Lanes
from dame.vectorised.lenses import read
from dame.vectorised.reports import drawn_totals, encoded, payloads, report_totals
from tests.device.strategies import people, questions
from tests.vectorised.exact import value_chances
from tests.vectorised.examples import NOISY, PEOPLE, QUESTIONS
from tests.vectorised.keyed_oracle import UserCoins
from tests.vectorised.sources import ReplayWords
from tests.vectorised.test_lenses import arrays

PURPOSE = ("coins", 7, "study", "mean", 0, 0)
HASHES = st.integers(0, 2**64 - 1)
EXAMPLES = {**QUESTIONS, **NOISY}

each_channel = pytest.mark.parametrize("kind", list(CHANNELS), ids=lambda kind: kind.kind)


def keyed(hashes: list[int]) -> KeyedCoins:
    return KeyedCoins(Lanes(Keys.of(*PURPOSE), np.array(hashes, dtype=np.uint64)))


def decoded(question: Question, rows: np.ndarray) -> list[Report]:
    return [Report.decode(question, row.tobytes()) for row in rows]


def test_every_channel_has_a_form():
    assert [kind for kind in CHANNELS if kind not in CHANNEL_FORMS] == []


def test_a_channel_without_a_form_is_refused_in_one_sentence():
    class Unknown(Bits):
        kind = "unknown"

    with pytest.raises(InvalidInput, match="register one"):
        CHANNEL_FORMS.of(Unknown(yes=2, no=1))


@st.composite
def crowds(draw: st.DrawFn, kind: type[Channel]) -> tuple[Question, list[Summary], list[int]]:
    """A question, people anywhere and people who differ most, and a hash for each."""
    question = draw(questions(None, kind))
    group = draw(st.lists(st.one_of(people, st.sampled_from(question.lens.extremes())), max_size=12))
    return question, group, draw(st.lists(HASHES, min_size=len(group), max_size=len(group)))


@each_channel
@given(data=st.data())
def test_keyed_draws_are_those_of_devices_with_the_same_words(kind, data):
    question, group, hashes = data.draw(crowds(kind))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_coins, "_WORDS_AT_ONCE", data.draw(st.sampled_from([8, 64, 2**15])))
        rows = encoded(question, payloads(question, *arrays(group), keyed(hashes)))
        totals = drawn_totals(question, *arrays(group), keyed(hashes))
    pairs = zip(group, hashes, strict=True)
    expected = [respond(question, person, UserCoins(hash_, *PURPOSE)) for person, hash_ in pairs]
    assert decoded(question, rows) == expected
    tally = Tally.zero(question)
    for report in expected:
        tally = tally.add(report)
    assert Tally.of(question, totals) == Tally.of(question, report_totals(question, rows)) == tally


@pytest.mark.parametrize("name", EXAMPLES)
def test_totals_of_many_are_the_tally_of_their_reports(name):
    """Thousands of people, so that every way of counting is taken in more than one block."""
    question, rng = EXAMPLES[name], np.random.default_rng(3)
    sizes, means = rng.integers(1, 9, 3000), rng.uniform(-1, 1, 3000)
    hashes = rng.integers(0, 2**64, 3000, dtype=np.uint64).tolist()
    rows = encoded(question, payloads(question, sizes, means, keyed(hashes)))
    assert drawn_totals(question, sizes, means, keyed(hashes)) == report_totals(question, rows)


@pytest.mark.parametrize("name", ["choice of a bin", "choice of a size class", "bit", "two windows", "segments"])
@given(st.sampled_from(PEOPLE), st.integers(0, 3), st.lists(st.integers(0, WORD - 1), max_size=5))
def test_a_word_leads_where_it_leads_on_the_device(name, person, window, anywhere):
    """Right below every threshold, at it, and for any words."""
    question = EXAMPLES[name]
    window %= question.lens.window_count
    (ends,) = question.channel.ends(question.lens.reading(person, window))
    words = [0, *(end - 1 for end in ends), *ends, WORD - 1, *anywhere]
    drawn = [window << 64 - question.lens.window_bits] * len(words) if question.lens.window_bits else []
    coins = StreamCoins(len(words), ReplayWords([*drawn, *words]))
    group = [person] * len(words)
    found = decoded(question, encoded(question, payloads(question, *arrays(group), coins)))
    expected = [question.channel.value_of([sum(word >= end for end in ends)]) for word in words]
    assert [(report.window, report.value) for report in found] == [(window, value) for value in expected]


@pytest.mark.parametrize("name", EXAMPLES)
def test_expected_entries_are_those_of_the_exact_chances(name):
    question, chances = EXAMPLES[name], np.arange(1, len(PEOPLE) + 1) / sum(range(1, len(PEOPLE) + 1))
    channel, last = question.channel, question.lens.window_count - 1
    found = CHANNEL_FORMS.of(channel).expected(channel, read(question.lens, *arrays(PEOPLE), last), chances)
    expected = np.zeros(len(channel.entry_limits))
    for person, chance in zip(PEOPLE, chances, strict=True):
        for value, share in value_chances(channel, question.lens.reading(person, last)).items():
            expected += chance * share * np.array(channel.entries(value))
    assert found == pytest.approx(expected, rel=1e-8)


def test_two_calls_never_draw_the_same_coins():
    question, group = QUESTIONS["one-hot"], arrays(PEOPLE * 8)
    one, other = (payloads(question, *group, StreamCoins(8 * len(PEOPLE))) for _ in range(2))
    assert (one != other).any()


def test_a_choice_of_many_bins_needs_no_square_of_them():
    """A matrix of all bins by all bins would have 4·10^10 entries."""
    choice = Choice.spending(8.0, 200_000)
    codes = np.array([[0, 0, 0], [255, 0, 0], [63, 13, 3]], np.uint8)
    assert sum(CHANNEL_FORMS.of(choice).count(choice, codes)) == 3


@given(st.lists(st.integers(-(2**52), 2**52), max_size=60))
def test_sum_of_squares_is_exact(values):
    assert sum_of_squares(np.array(values, dtype=np.int64)) == sum(value * value for value in values)


@pytest.mark.parametrize("value", [2**52 - 1, -(2**52), 2**26, -(2**26) - 1, -1, 0])
@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5000])
def test_sum_of_squares_is_exact_for_many_extremes(value, count):
    assert sum_of_squares(np.full(count, value)) == count * value * value

"""The statistic `Drawn`: one of a person's records, each as likely, and nothing tells which before or after."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.answering import answer_with_coins, respond
from dame.device.coins import Coins, ReplayCoins
from dame.device.exact import Loss
from dame.device.ledger import Ledger
from dame.device.records import ABSENT, HALF_GRID, Summary
from dame.device.statistics import Drawn, Value, drawn_place
from dame.errors import BadRecords
from tests.device.enumeration import IMPOSSIBLE, Law, enumerated, largest_ratio
from tests.device.examples import DRAWN, ONE
from tests.device.strategies import asked_rows, bounds, records

words = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1]))
HOURS = Drawn(column="hours", low=0.0, high=10.0)


@given(bounds(), records(), words)
def test_it_is_the_value_of_one_of_the_records(ends, values, word):
    low, high = ends
    person = Drawn(low=low, high=high).summarise(values, word)
    each = [Value(low=low, high=high).summarise([value]) for value in values]
    assert person in each
    assert person == sorted(each, key=lambda one: one.mean)[word * len(values) // 2**64]


@given(asked_rows().filter(lambda asked: isinstance(asked[0], Drawn)), words, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(asked, word, shuffler):
    statistic, values = asked
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    assert statistic.summarise(values, word) == statistic.summarise(shuffled, word)


@given(st.integers(1, 10**6), words)
def test_a_place_is_one_of_them_and_rises_with_the_word(count, word):
    place = drawn_place(word, count)
    assert 0 <= place < count
    assert place <= drawn_place(2**64 - 1, count) == count - 1
    # The words that fall on a place are those between two multiples of 2^64 / count.
    assert place * 2**64 <= word * count < (place + 1) * 2**64


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100, 30_000])
def test_each_record_is_as_likely(count):
    """Exactly: how many of the 2^64 words fall on a place differs by at most one."""
    firsts = [-(-place * 2**64 // count) for place in range(count + 1)]
    shares = Counter(after - before for before, after in itertools.pairwise(firsts))
    assert max(shares) - min(shares) <= 1
    for place in {0, 1, count // 2, count - 1} & set(range(count)):
        assert drawn_place(firsts[place], count) == place == drawn_place(firsts[place + 1] - 1, count)


@given(words)
def test_somebody_without_records_is_in_the_middle(word):
    for nothing in ([], [{}], [{"hours": None}] * 3):
        assert HOURS.summarise(nothing, word) == ABSENT


@given(words, st.sampled_from([math.nan, math.inf, "12", None, []]), st.integers(0, 4))
def test_a_bad_record_is_refused_whichever_would_be_drawn(word, bad, place):
    values: list[object] = [{"hours": hour} for hour in (1.0, 2.0, 3.0, 4.0)]
    values.insert(place, {"hours": math.nan} if bad is None else {"hours": bad})
    with pytest.raises(BadRecords, match=f"record number {place + 1} must be a finite number"):
        HOURS.summarise(values, word)


class TestAnswers:
    """The word of the draw is the first that an answer takes, whoever answers."""

    def coins(self, *given: int) -> ReplayCoins:
        return ReplayCoins(b"".join(word.to_bytes(8, "big") for word in given))

    @given(words, words, words)
    def test_three_words(self, first, second, third):
        for own in ([], [5.0], [1.0, 9.0, 4.0], [2.0] * 50):
            coins = self.coins(first, second, third)
            report = answer_with_coins(ONE, own, coins)
            assert coins.exhausted
            assert report.window == second >> 61

    def test_the_first_chooses(self):
        """Between a record on a dark stripe and one on a light stripe: the answers differ by the first word alone."""
        dark, light = (
            next(mean for mean in (k / 64 for k in range(-64, 64)) if ONE.lens.reading(_person(mean), 0).mark == mark)
            for mark in (1.0, 0.0)
        )
        low, high = sorted((dark, light))
        own = [5 + 5 * mean for mean in (low, high)]
        between = (ONE.channel.yes + ONE.channel.no) // 2
        said = [answer_with_coins(ONE, own, self.coins(word, 0, between)).value for word in (0, 2**64 - 1)]
        assert said == ([1, 0] if low == dark else [0, 1])

    def test_a_retry_sends_the_same_bytes(self, tmp_path):
        ledger = Ledger(tmp_path / "ledger.db")
        own = [float(hour) for hour in range(10)]
        assert len({ledger.answer(ONE, own) for _ in range(20)}) == 1
        ledger.close()


class TestPrivacy:
    """The law of whole answers, from records to report, for every word: exactly."""

    PEOPLE = ([], [0.0], [10.0], [0.0, 10.0], [1.0, 1.0, 6.0], [float(hour) for hour in range(11)])

    def law(self, program: Callable[[Sequence[float], Coins], Hashable], own: Sequence[float]) -> Law:
        count, bits = len(own), ONE.lens.window_bits
        places = {-(-place * 2**64 // count) for place in range(1, count)}
        windows = {window << 64 - bits for window in range(2**bits)}
        return enumerated(lambda coins: program(own, coins), [places, windows, {ONE.channel.yes, ONE.channel.no}])

    def honest(self, own: Sequence[float], coins: Coins) -> Hashable:
        report = answer_with_coins(ONE, own, coins)
        return report.window, report.value

    def test_no_two_people_are_further_apart_than_alpha_allows(self):
        assert Loss(ratio=largest_ratio(self.law(self.honest, own) for own in self.PEOPLE)).within(ONE.alpha)

    def test_an_answer_is_that_of_a_person_with_one_of_the_records(self):
        for own in self.PEOPLE[1:]:
            law, each = self.law(self.honest, own), [self.law(self.honest, [one]) for one in own]
            for report, chance in law.items():
                mixed = sum(one[report] for one in each) / len(each)
                assert abs(chance - mixed) <= Fraction(len(own), 2**64)

    def test_a_device_that_tells_where_it_drew_is_noticed(self):
        def telling(own: Sequence[float], coins: Coins) -> Hashable:
            (word,) = coins.words(1)
            place = drawn_place(word, len(own))
            person = DRAWN.summarise(own, word)
            report = respond(ONE, person, coins)
            return place % 2, report.value

        assert largest_ratio(self.law(telling, own) for own in self.PEOPLE) == IMPOSSIBLE


def _person(mean: float) -> Summary:
    return Summary(size=1, mean=math.floor((mean + 1) * HALF_GRID + 0.5) / HALF_GRID - 1)

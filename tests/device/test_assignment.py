"""Assignment: a public hash decides the slot, in proportion to the shares, and nothing else does."""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device import assignment, participant_hash, slot_of
from dame.device.assignment import slot_borders
from dame.device.exact import WORD
from dame.errors import InvalidInput
from tests.chances import FALSE_ALARM, POWER, p_value, power

PEOPLE = 8_000
STUDY = "screen-time"

share_lists = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=6)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.2, 0.7), (0.12, 0.12, 0.76), (1.0, 3.0)])
def test_every_slot_gets_its_share(shares):
    law = {index: share / sum(shares) for index, share in enumerate(shares)}
    slots = [slot_of(STUDY, shares, f"person-{number}") for number in range(PEOPLE)]
    assert p_value(slots, law) > FALSE_ALARM
    assert set(slots) == set(law)


def test_a_share_that_is_off_by_a_tenth_would_be_noticed():
    right, wrong = {0: 0.5, 1: 0.5}, {0: 0.55, 1: 0.45}
    assert power(right, wrong, PEOPLE) > POWER
    slots = [slot_of(STUDY, (0.55, 0.45), f"person-{number}") for number in range(PEOPLE)]
    assert p_value(slots, right) < FALSE_ALARM


def test_two_studies_split_people_independently():
    pairs = [
        2 * slot_of("one", (0.5, 0.5), str(number)) + slot_of("two", (0.5, 0.5), str(number))
        for number in range(PEOPLE)
    ]
    assert p_value(pairs, dict.fromkeys(range(4), 0.25)) > FALSE_ALARM


@given(share_lists, st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=20), st.randoms())
def test_the_order_of_arrival_does_not_matter(shares, people, shuffler):
    slots = {person: slot_of(STUDY, shares, person) for person in people}
    shuffler.shuffle(people)
    assert {person: slot_of(STUDY, shares, person) for person in people} == slots
    assert all(0 <= slot < len(shares) for slot in slots.values())


@given(share_lists)
def test_borders_are_exact(shares):
    total, below = sum(map(Fraction, shares)), Fraction(0)
    borders = slot_borders(tuple(shares))
    assert len(borders) == len(shares) - 1
    for border, share in zip(borders, shares, strict=False):
        below += Fraction(share)
        assert border <= WORD * below / total < border + 1


def test_a_hash_on_a_border_belongs_to_the_later_slot(monkeypatch):
    for value, expected in [(0, 0), (WORD // 2 - 1, 0), (WORD // 2, 1), (WORD - 1, 1)]:
        monkeypatch.setattr(assignment, "participant_hash", lambda study, participant, value=value: value)
        assert slot_of(STUDY, (0.5, 0.5), "me") == expected


def test_the_hash_is_the_first_eight_bytes_of_sha256():
    digest = hashlib.sha256(b"study\nGr\xc3\xbc\xc3\x9fe").digest()
    assert participant_hash("study", "Grüße") == int.from_bytes(digest[:8], "big")
    assert participant_hash("a", "b") == 0x7E18F737311B2DC3


def test_study_and_participant_are_kept_apart():
    assert len(Counter(participant_hash(*pair) for pair in [("ab", "c"), ("a", "bc"), ("abc", "")])) == 3


def test_half_of_a_surrogate_pair_is_refused_in_a_sentence():
    with pytest.raises(InvalidInput, match="a text of whole characters"):
        slot_of(STUDY, (0.5, 0.5), "\ud800")


def test_one_slot_is_everybodys():
    assert slot_borders((0.3,)) == ()
    assert {slot_of(STUDY, (0.3,), f"person-{number}") for number in range(100)} == {0}


@given(share_lists, st.integers(0, WORD - 1))
def test_everybody_has_exactly_one_slot(shares, value):
    ends = (0, *slot_borders(tuple(shares)), WORD)
    own = [slot for slot in range(len(shares)) if ends[slot] <= value < ends[slot + 1]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "participant_hash", lambda study, participant: value)
        assert [slot_of(STUDY, shares, "me")] == own

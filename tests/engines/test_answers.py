"""Reports of the people of a table: those that their devices would send, to exactly those who are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dame.device.assignment import slot_of
from dame.device.channels import Bits
from dame.device.questions import Question, question_id
from dame.device.reports import Report
from dame.device.statistics import Value
from dame.engines import answers
from dame.engines.answers import EVERYBODY, Addressed, tally_all
from dame.engines.people import Held, People
from dame.errors import Mismatch
from dame.tally import Tally
from dame.vectorised import coins
from tests.chances import FALSE_ALARM
from tests.engines.oracle import report_of
from tests.engines.questions import QUESTIONS, plans
from tests.engines.tables import plain

RECORDS = st.lists(st.floats(-1, 1), min_size=1, max_size=6)


def people(table: dict[str, list[float]]) -> People:
    """A table in one part, users in the order of the table."""
    (part,) = plain([((user,), value) for user, records in table.items() for value in records]).people
    return part


def many(users: int) -> People:
    """Random users."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 60, users)
    totals = (sizes * rng.uniform(-0.2, 0.6, users) * 2**30).astype(np.int64)
    hashes = rng.integers(0, 2**64, users, dtype=np.uint64)
    return People(held=Held.each([Value()], ["size"]), hashes=hashes, counts=(sizes,), totals=(totals,))


def decoded(question: Question, rows: np.ndarray) -> list[Report]:
    """The reports that rows of bytes hold."""
    return [Report.decode(question, row.tobytes()) for row in rows]


@pytest.mark.parametrize("kind", QUESTIONS)
@given(st.dictionaries(st.text("abc", max_size=4), RECORDS, min_size=1, max_size=5), st.integers(0, 2**63))
def test_reports_are_those_of_devices_with_the_same_coins(kind: str, table: dict[str, list[float]], seed: int) -> None:
    question, crowd = QUESTIONS[kind], people(table)
    ((asked, rows),) = Addressed(question=question, seed=seed).reports(crowd)
    pairs = zip(table.values(), crowd.hashes.tolist(), strict=True)
    right = [report_of(question, records, hash_, seed) for records, hash_ in pairs]
    assert decoded(question, rows) == right
    assert asked.hashes.tolist() == crowd.hashes.tolist()


@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.parametrize("seed", [3, None])
def test_any_partition_gives_one_tally(kind: str, seed: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    crowd, asked = many(500), Addressed(question=QUESTIONS[kind], seed=seed)
    whole = asked.tallies(crowd)[EVERYBODY]
    parts = [crowd.chosen(slice(start, start + 70)) for start in range(0, 500, 70)]
    monkeypatch.setattr(answers, "BYTES_AT_ONCE", 100)
    monkeypatch.setattr(coins, "_WORDS_AT_ONCE", 16)
    ((added,),) = (groups.values() for groups in tally_all([asked], reversed(parts)))
    assert added.reports == whole.reports == 500
    assert seed is None or added == whole


@pytest.mark.parametrize("kind", QUESTIONS)
def test_seeded_and_secure_reports_have_one_distribution(kind: str) -> None:
    """The mean of each entry over many reports, seeded and secure, differs by noise only; a wrong α would show."""
    question, crowd = QUESTIONS[kind], many(40_000)
    seeded, secure = (Addressed(question=question, seed=seed).tallies(crowd)[EVERYBODY] for seed in (11, None))
    for entry in range(len(seeded.sums)):
        assert abs(_z(seeded, secure, entry)) < stats.norm.isf(FALSE_ALARM / 2)


def _z(one: Tally, other: Tally, entry: int) -> float:
    n = one.reports
    difference = (one.sums[entry] - other.sums[entry]) / n
    if one.question.channel.entry_limits[entry] == (0, 1):
        share = (one.sums[entry] + other.sums[entry]) / (2 * n)
        variance = share * (1 - share) + 1e-12
    else:
        values = one.sums[1] / n
        variance = values if entry == 0 else 25 * values**2  # the fourth moment of Laplace noise is below 25 variances²
    return difference / np.sqrt(2 * variance / n)


def test_a_wrong_threshold_would_be_seen() -> None:
    """The same test rejects a code of another α."""
    question = QUESTIONS["vote"]
    mutant = replace(question, alpha=1.2, channel=Bits.optimised(1.2, 13))
    one, other = (
        Addressed(question=asked, seed=seed).tallies(many(40_000))[EVERYBODY]
        for asked, seed in ((question, 1), (mutant, 2))
    )
    assert min(abs(_z(one, other, entry)) for entry in range(13)) > stats.norm.isf(FALSE_ALARM / 2)


class TestSlots:
    """Users answer in the slot that their public hash gives them, and in no other."""

    TABLE: ClassVar = {f"user {number}": [0.5] for number in range(400)}

    @pytest.mark.parametrize("protocol", ["adaptive", "paper", "one-bit"])
    def test_every_user_answers_once(self, protocol: str) -> None:
        plan, crowd = plans(400)[protocol], people(self.TABLE)
        for place, slot in enumerate(plan.slots):
            addressed = Addressed.in_slot(plan, replace(QUESTIONS["bit"], target=slot.target, round=slot.round))
            chosen = {int(h) for part, _ in addressed.reports(crowd) for h in part.hashes}
            right = [slot_of(plan.study, plan.shares, user) == place for user in self.TABLE]
            assert chosen == set(crowd.hashes[np.array(right)].tolist())

    def test_repetitions_use_other_slots_and_coins(self) -> None:
        plan, crowd = plans(400)["paper"], many(2000)
        asked = [Addressed.in_slot(plan, QUESTIONS["bit"], seed=1, repetition=r) for r in range(40)]
        chosen = [{int(h) for part, _ in one.reports(crowd) for h in part.hashes} for one in asked]
        assert len({frozenset(some) for some in chosen}) == 40
        # Half of the users are in the slot, and half of those again in another repetition: 500 ± 5 deviations.
        assert all(400 < len(chosen[0] & some) < 600 for some in chosen[1:])
        assert len({one.tallies(crowd)[EVERYBODY].sums for one in asked}) > 20

    @pytest.mark.parametrize(
        "wrong",
        [{"study": "other"}, {"target": "other"}, {"round": 5}, {"alpha": 1.6}],
    )
    def test_questions_of_another_plan(self, wrong: dict[str, object]) -> None:
        with pytest.raises(Mismatch, match="does not belong to this plan"):
            Addressed.in_slot(plans(400)["paper"], replace(QUESTIONS["bit"], **wrong))

    def test_questions_that_the_table_was_not_read_for(self) -> None:
        asked = Addressed(question=replace(QUESTIONS["bit"], statistic=Value(low=-2.0)))
        with pytest.raises(Mismatch, match="was not read for value, between -2 and 1, but for value, between -1 and 1"):
            asked.tallies(many(10))
        with pytest.raises(Mismatch, match="was not read for"):
            list(asked.reports(many(10)))

    def test_nobody_asked(self) -> None:
        asked = Addressed(question=QUESTIONS["vote"], first=5, last=4)
        assert asked.tallies(many(10)) == {EVERYBODY: Tally.zero(QUESTIONS["vote"])}


def test_reports_name_their_question() -> None:
    ((_, rows),) = Addressed(question=QUESTIONS["bit"]).reports(many(3))
    assert {bytes(row[:8]).hex() for row in rows} == {question_id(QUESTIONS["bit"])[:16]}

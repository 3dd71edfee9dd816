"""Reports of many people at once are the reports that their devices would send."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.vectorised import crowd
from dame.vectorised import FastWords
from dame.device.questions import TAG_BYTES, Measure, PartMeasure, PlaceVote, Question, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.records import Summary
from dame.device.reports import Report, report_bytes
from dame.vectorised.edge import answer_many, encoded, place_ends, tally_reports, thresholds
from dame.errors import RejectedReport
from dame.tally import Tally
from tests.device.strategies import means, place_votes

ALPHA = 1.5
USERS = 40_000
SIGMAS = 5.0
# A count of so many coins is more than 5 standard deviations off once in 1.7 million runs; α × 1.25 moves it by 10.
ASKED = {"study": "edge", "round": 0, "alpha": ALPHA}
QUESTIONS: dict[str, Question] = {
    "vote": Vote(**ASKED, bins=13, width=0.16, min_size=5, code=UnaryCode.optimised(ALPHA)),
    "three marks": Vote(**ASKED, bins=9, width=0.25, neighbours=1, code=UnaryCode.symmetric(ALPHA, 3)),
    "places": PlaceVote(**ASKED, places=(-0.6, -0.1, 0.2, 0.9), code=OneOfMany.spending(ALPHA, 4)),
    "eight places": PlaceVote(
        **ASKED, places=tuple(place / 8 for place in range(8)), code=OneOfMany.spending(ALPHA, 8)
    ),
    "bit": Measure(**ASKED, centre=0.1, left=-1.0, right=1.0, noise=OneBit.spending(ALPHA)),
    "arms": Measure(**ASKED, centre=0.1, left=-1.0, right=1.0, dither=0.1, noise=OneBit.spending(ALPHA)),
    "parts": PartMeasure(**ASKED, borders=(-1.0, -0.6, -0.1, 0.3, 1.0), noise=OneBit.spending(ALPHA)),
    "laplace": Measure(**ASKED, centre=0.0, left=-2.0, right=1.5, cap=9.0, noise=DiscreteLaplace.spending(ALPHA)),
}


def people(users: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 20, users), rng.uniform(-1, 1, users)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_every_row_is_a_report_that_decodes(question: Question) -> None:
    reports = answer_many(question, *people(200))
    assert reports.shape == (200, report_bytes(question))
    for row in reports:
        report = Report.decode(question, row.tobytes())
        assert report.encode(question) == row.tobytes()


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_the_tally_of_the_bytes_is_the_tally_of_the_reports(question: Question) -> None:
    reports = answer_many(question, *people(150))
    one_by_one = Tally.zero(question)
    for row in reports:
        one_by_one = one_by_one.add(Report.decode(question, row.tobytes()))
    assert tally_reports(question, reports) == one_by_one


@given(st.floats(0, 1), st.floats(1e-3, 20))
def test_thresholds_are_those_of_the_device(place: float, alpha: float) -> None:
    noise = OneBit.spending(alpha)
    assert int(thresholds(noise, np.array([place]))[0]) == noise.threshold(place)


@given(place_votes(), st.lists(means, max_size=12))
def test_the_words_of_a_place_end_where_they_do_on_the_device(vote: PlaceVote, group: list[float]) -> None:
    group = [*group, *vote.places, -1.0, 1.0]
    rows = zip(*(ends.tolist() for ends in place_ends(vote, np.array(group))), strict=True)
    people_ = [Summary(size=1, mean=mean) for mean in group]
    expected = [vote.code.ends(vote.own_bin(one), vote.part(one), vote.bins)[:-1] for one in people_]
    assert [list(row) for row in rows] == expected


class _Given:
    """Words that are given."""

    def __init__(self, words: list[int]) -> None:
        self._words = words

    def take(self, count: int) -> np.ndarray:
        assert count == len(self._words)
        return np.array(self._words, dtype=np.uint64)


@given(place_votes(), means, st.data())
def test_a_word_marks_the_place_that_it_marks_on_the_device(vote: PlaceVote, mean: float, data: st.DataObject) -> None:
    """Right below every border, at it, and for any words."""
    person = Summary(size=1, mean=mean)
    ends = vote.code.ends(vote.own_bin(person), vote.part(person), vote.bins)
    anywhere = data.draw(st.lists(st.integers(0, 2**64 - 1), max_size=5))
    words = [0, *(end - 1 for end in ends), *ends[:-1], *anywhere]
    rows = answer_many(vote, np.ones(len(words), np.int64), np.full(len(words), mean), _Given(words))
    expected = [1 << sum(word >= end for end in ends[:-1]) for word in words]
    assert [Report.decode(vote, row.tobytes()).value for row in rows] == expected


@pytest.mark.parametrize("name", ["places", "eight places"])
def test_votes_for_places_have_the_law_of_the_device(name: str) -> None:
    question = QUESTIONS[name]
    assert isinstance(question, PlaceVote)
    sizes, places = people(USERS)
    places *= 0.2  # most of them at few of the places, or another α would hardly show
    tally = tally_reports(question, answer_many(question, sizes, places, FastWords(np.random.default_rng(2))))
    first, part = crowd.between_places(question, places)
    moved = part / 2**32
    own = np.bincount(first, 1 - moved, question.bins) + np.bincount(first + 1, moved, question.bins)
    for code, fits in ((question.code, True), (OneOfMany.spending(ALPHA * 1.25, question.bins), False)):
        expected = (USERS * code.no + own * (code.yes - code.no)) / 2**64
        deviation = np.sqrt(expected * (1 - expected / USERS))
        assert bool((np.abs(np.array(tally.sums) - expected) < SIGMAS * deviation).all()) is fits


@pytest.mark.parametrize("name", ["places", "eight places"])
def test_of_all_bytes_only_single_marks_are_counted(name: str) -> None:
    question = QUESTIONS[name]
    values = np.arange(256, dtype=np.uint8)[:, None]
    rows, good = encoded(question, values), {1 << place for place in range(question.report_bits)}
    assert rows.shape[1] == TAG_BYTES + 1
    for value, row in enumerate(rows):
        if value in good:
            assert tally_reports(question, row[None]).reports == 1
        else:
            with pytest.raises(RejectedReport):
                tally_reports(question, row[None])


@pytest.mark.parametrize("name", ["vote", "three marks"])
def test_votes_have_the_law_of_the_device(name: str) -> None:
    question = QUESTIONS[name]
    assert isinstance(question, Vote)
    sizes, means = people(USERS)
    marked = crowd.ballots(question, sizes, means)
    tally = tally_reports(question, answer_many(question, sizes, means, FastWords(np.random.default_rng(2))))
    for code, fits in ((question.code, True), (UnaryCode.symmetric(ALPHA * 1.25, 1), False)):
        yes, no = code.yes / 2**64, code.no / 2**64
        expected = marked * yes + (USERS - marked) * no
        deviation = np.sqrt(marked * yes * (1 - yes) + (USERS - marked) * no * (1 - no))
        assert bool((np.abs(np.array(tally.sums) - expected) < SIGMAS * deviation).all()) is fits


@pytest.mark.parametrize("name", ["bit", "arms", "parts"])
def test_bits_have_the_law_of_the_device(name: str) -> None:
    question = QUESTIONS[name]
    assert isinstance(question, Measure)
    sizes, means = people(USERS)
    tally = tally_reports(question, answer_many(question, sizes, means, FastWords(np.random.default_rng(3))))
    persons = [Summary(size=int(size), mean=float(mean)) for size, mean in zip(sizes, means, strict=True)]
    arms = range(question.arms)
    chances = np.array([[question.noise.threshold(question.position(p, arm)) / 2**64 for arm in arms] for p in persons])
    expected = chances.mean(axis=1).sum()
    found = sum(ones for _, ones in tally.arms)
    assert abs(found - expected) < SIGMAS * np.sqrt(USERS) / 2


def test_noisy_points_have_the_mean_and_variance_of_the_device() -> None:
    question = QUESTIONS["laplace"]
    assert isinstance(question, Measure)
    sizes, means = people(USERS)
    points = crowd.grid_points(crowd.positions(question, sizes, means), question.noise.steps)
    tally = tally_reports(question, answer_many(question, sizes, means))
    noise = question.noise.variance(0.5) * question.noise.steps**2
    assert abs(tally.sums[0] - points.sum()) < SIGMAS * np.sqrt(USERS * noise)
    spread = tally.sums[1] / USERS - (tally.sums[0] / USERS) ** 2
    assert spread == pytest.approx(noise + points.var(), rel=0.08)


def test_two_calls_never_draw_the_same_coins() -> None:
    sizes, means = people(64)
    question = QUESTIONS["vote"]
    assert (answer_many(question, sizes, means) != answer_many(question, sizes, means)).any()


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_rows_that_no_device_sends_are_refused(question: Question) -> None:
    good = answer_many(question, *people(5))
    foreign, padded = good.copy(), good.copy()
    foreign[2, 0] ^= 1
    for bad in (good[:, :-1], foreign, good.astype(np.int16), good[0]):
        with pytest.raises(RejectedReport):
            tally_reports(question, bad)
    padded[1, 8 if isinstance(question, Measure) and not isinstance(question.noise, OneBit) else -1] = 0x7F
    if question.report_bits % 8:
        padded[1, -1] |= 0x80
        with pytest.raises(RejectedReport):
            tally_reports(question, padded)

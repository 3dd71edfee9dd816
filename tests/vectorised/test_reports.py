"""Reports as rows of bytes: what devices would send, counted as devices' reports are, and refused as they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Differences, Lens, Reading, SizeClasses, Windows
from dame.device.questions import TAG_BYTES, Question, question_id, question_tag
from dame.device.records import Summary
from dame.device.reports import Report, report_bytes
from dame.errors import RejectedReport
from dame.tally import Tally
from dame.vectorised.reports import answer_many, checked_payloads, encoded, report_totals
from tests.device.strategies import questions, reports_of
from tests.vectorised.examples import NOISY, QUESTIONS, ask

EXAMPLES = {**QUESTIONS, **NOISY}
each_example = pytest.mark.parametrize("name", EXAMPLES)


def some_people(users: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(1, 20, users), rng.uniform(-1, 1, users)


def rows_of(question: Question, reports: list[Report]) -> np.ndarray:
    joined = b"".join(report.encode(question) for report in reports)
    return np.frombuffer(joined, np.uint8).reshape(-1, report_bytes(question))


def tally_of(question: Question, rows: np.ndarray) -> Tally:
    """The tally, device code alone: one row after the other."""
    tally = Tally.zero(question)
    for row in rows:
        tally = tally.add(Report.decode(question, row.tobytes()))
    return tally


@each_example
def test_every_row_is_a_report_that_decodes(name):
    question = EXAMPLES[name]
    reports = answer_many(question, *some_people(200))
    assert reports.shape == (200, report_bytes(question))
    for row in reports:
        assert Report.decode(question, row.tobytes()).encode(question) == row.tobytes()


@given(questions(), st.data())
def test_totals_of_rows_are_the_tally_of_reports(question, data):
    rows = rows_of(question, data.draw(st.lists(reports_of(question), max_size=20)))
    assert Tally.of(question, report_totals(question, rows)) == tally_of(question, rows)
    assert (encoded(question, checked_payloads(question, rows)) == rows).all()


@dataclass(frozen=True, slots=True, kw_only=True)
class BinsInWindows(Lens):
    """A lens that no protocol has: some bins, in some windows."""

    kind = "bins-in-windows"
    bins: int = field()
    window_count: int = field()

    def reading(self, person: Summary, window: int) -> Reading:
        own = min(person.size, self.bins) - 1
        return Reading(own, own)

    @property
    def differences(self) -> Differences:
        return frozenset({(0, 0), (1, 1)})

    def extremes(self) -> list[Summary]:
        return [Summary(size=1 + bin_, mean=0.0) for bin_ in range(self.bins)]

    @property
    def words(self) -> str:
        return "a toy"


@pytest.mark.parametrize("windows", [1, 2, 4, 8, 16, 64])
@pytest.mark.parametrize("bins", range(1, 19))
def test_windows_stand_in_the_bits_above_codes_of_any_width(bins, windows):
    question = ask(BinsInWindows(bins=bins, window_count=windows), Bits.optimised(2.0, bins))
    rng = np.random.default_rng(bins)
    pairs = zip(rng.integers(0, windows, 60).tolist(), rng.integers(0, 2**bins, 60).tolist(), strict=True)
    reports = [Report(question=question_id(question), window=window, value=value) for window, value in pairs]
    rows = rows_of(question, reports)
    assert Tally.of(question, report_totals(question, rows)) == tally_of(question, rows)
    spare = question.report_bits % 8
    if spare:
        rows = rows.copy()
        rows[7, -1] |= 1 << spare
        with pytest.raises(RejectedReport):
            report_totals(question, rows)


@pytest.mark.parametrize("windows", [1, 2, 32])
@pytest.mark.parametrize(
    ("steps", "scale"), [(1, 1), (6, 2), (2**7, 5), (2**12, 2**12), (2**20, 2**20), (2**24, 2**45)]
)
def test_noisy_points_stand_below_windows_at_any_width(steps, scale, windows):
    lens = replace(Windows.whole_range(), windows=Windows.whole_range().windows * windows)
    question = ask(lens, Laplace(steps=steps, scale=scale), 32.0)
    low, high = question.channel.values
    values = [low, low + 1, -1, 0, 1, high - 1, high]
    reports = [Report(question=question_id(question), window=n % windows, value=v) for n, v in enumerate(values)]
    rows = rows_of(question, reports)
    assert Tally.of(question, report_totals(question, rows)) == tally_of(question, rows)
    if high - low + 1 < 1 << question.channel.value_bits:
        beyond = (high - low + 1).to_bytes(rows.shape[1] - TAG_BYTES, "little")
        bad = encoded(question, np.frombuffer(beyond, np.uint8)[None])
        for count in (lambda: report_totals(question, bad), lambda: Report.decode(question, bad[0].tobytes())):
            with pytest.raises(RejectedReport):
                count()


@pytest.mark.parametrize(
    "question",
    [
        ask(SizeClasses(classes=3), Choice.spending(1.0, 3)),
        ask(SizeClasses(classes=200), Choice.spending(1.0, 200)),
        ask(BinsInWindows(bins=5, window_count=8), Choice.spending(1.0, 5)),
        ask(SizeClasses(classes=8), Bits.optimised(1.0, 8)),
        *(question for question in EXAMPLES.values() if report_bytes(question) == TAG_BYTES + 1),
    ],
)
def test_of_all_bytes_those_count_that_devices_could_send(question):
    for value in range(256):
        row = np.frombuffer(question_tag(question) + bytes([value]), np.uint8)[None]
        try:
            expected = tally_of(question, row)
        except RejectedReport:
            with pytest.raises(RejectedReport, match="range"):
                report_totals(question, row)
        else:
            assert Tally.of(question, report_totals(question, row)) == expected


@each_example
def test_rows_that_no_device_sends_are_refused(name):
    question = EXAMPLES[name]
    good = answer_many(question, *some_people(5))
    foreign = good.copy()
    foreign[2, 0] ^= 1
    for bad in (good[:, :-1], foreign, good.astype(np.int16), good[0]):
        with pytest.raises(RejectedReport):
            report_totals(question, bad)


@each_example
def test_nobody_adds_nothing(name):
    question = EXAMPLES[name]
    rows = answer_many(question, np.ones(0, np.int64), np.ones(0))
    assert Tally.of(question, report_totals(question, rows)) == Tally.zero(question)

"""Reports of many people at once, at an edge site that holds their records: exact, secure, and fast.

The coins are those of `dame.vectorised`: a stream cipher keyed by the operating system, compared with integer thresholds.
The reports are the same bytes that `dame.device` would send, one row for each person.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dame.vectorised import crowd
from dame.vectorised import SecureWords, Words, bits, count_reports, discrete_laplace, vote_matrix
from dame.device.questions import TAG_BYTES, Measure, PlaceVote, Question, Vote, question_tag
from dame.device.randomisers import POSITION_STEPS, DiscreteLaplace, OneBit
from dame.device.reports import report_bytes, value_range
from dame.errors import RejectedReport
from dame.tally import Tally

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def answer_many(question: Question, sizes: Ints, means: Floats, words: Words | None = None) -> Bytes:
    """One encoded report a row, drawn with secure coins unless others are given (for tests)."""
    return encoded(question, payloads(question, sizes, means, words))


def encoded(question: Question, values: Bytes) -> Bytes:
    """The reports whose values are given as bytes: a row of each names its question first."""
    reports = np.empty((len(values), report_bytes(question)), dtype=np.uint8)
    reports[:, :TAG_BYTES] = np.frombuffer(question_tag(question), dtype=np.uint8)
    reports[:, TAG_BYTES:] = values
    return reports


def tally_reports(question: Question, reports: Bytes) -> Tally:
    """The tally of encoded reports, one a row; a row that no device could have sent is a RejectedReport."""
    return tally_payloads(question, checked_payloads(question, reports))


def tally_payloads(question: Question, rows: Bytes) -> Tally:
    """The tally of values as bytes, one a row, all of which devices could have sent."""
    if isinstance(question, Vote):
        ones = count_reports(rows, question.bins)
        return Tally(question=question, reports=len(rows), sums=tuple(ones.tolist()))
    if isinstance(question.noise, OneBit):
        return _bit_tally(question, rows[:, 0])
    values = _laplace_values(rows)
    return Tally(question=question, reports=len(values), sums=(int(values.sum()), crowd.sum_of_squares(values)))


def checked_payloads(question: Question, reports: Bytes) -> Bytes:
    """The bytes of the values of encoded reports, one a row, if devices could have sent every one of them."""
    if reports.ndim != 2 or reports.dtype != np.uint8 or reports.shape[1] != report_bytes(question):
        raise RejectedReport("length", f"reports of this question have {report_bytes(question)} bytes")
    tags = np.ascontiguousarray(reports[:, :TAG_BYTES]).view(np.uint64)  # as one number each: compared twice as fast
    if (tags != np.frombuffer(question_tag(question), np.uint64)).any():
        raise RejectedReport("question", "a report answers another question")
    rows = np.ascontiguousarray(reports[:, TAG_BYTES:])
    if not _within_range(question, rows):
        raise RejectedReport("range", "a report has a value outside the range of this question")
    return rows


def _within_range(question: Question, rows: Bytes) -> bool:
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        values, (low, high) = _laplace_values(rows), value_range(question)
        return not len(values) or bool(low <= values.min() and values.max() <= high)
    if isinstance(question, PlaceVote):
        return bool(np.isin(rows[:, 0], 1 << np.arange(question.bins)).all())
    padding = question.report_bits % 8  # bits beyond the last one, in the last byte, must be 0
    return not padding or not (rows[:, -1] >> padding).any()


def payloads(question: Question, sizes: Ints, means: Floats, words: Words | None = None) -> Bytes:
    """The values of reports as bytes, one a row, drawn as those of `answer_many`; they do not name their question."""
    words = SecureWords() if words is None else words
    if isinstance(question, PlaceVote):
        return _places(question, means, words)[:, None]
    if isinstance(question, Vote):
        first, last = crowd.marks(question, sizes, means)
        return vote_matrix(words, question.code.yes, question.code.no, question.bins, first, last).reports()
    if isinstance(question.noise, DiscreteLaplace):
        return noisy_points(question, sizes, means, discrete_laplace(words, question.noise.scale, len(sizes)))
    arms = np.zeros(len(sizes), dtype=np.intp)
    if question.arms > 1:
        arms = (words.take(len(sizes)) >> np.uint64(64 - question.arm_bits)).astype(np.intp)
    drawn = bits(words, thresholds(question.noise, crowd.positions(question, sizes, means, arms)))
    return np.asarray(drawn + 2 * arms.astype(np.uint8), dtype=np.uint8)[:, None]


def _places(vote: PlaceVote, means: Floats, words: Words) -> Bytes:
    """The one mark of each person, as a bit of a byte."""
    drawn, marks = words.take(len(means)), np.zeros(len(means), dtype=np.uint8)
    for ends in place_ends(vote, means):
        marks += drawn >= ends
    return np.left_shift(np.uint8(1), marks)


def place_ends(vote: PlaceVote, means: Floats) -> Iterator[NDArray[np.uint64]]:
    """For each place but the last, where the words of each person end that lead to it, exactly as on the device."""
    first, part = crowd.between_places(vote, means)
    span = vote.code.yes - vote.code.no
    moved = _shifted(span, part.astype(np.uint64))
    for place in range(vote.bins - 1):
        extra = np.where(first < place, np.uint64(span), np.where(first == place, np.uint64(span) - moved, 0))
        yield np.uint64((place + 1) * vote.code.no) + extra.astype(np.uint64)


def thresholds(noise: OneBit, places: Floats) -> NDArray[np.uint64]:
    """The integer threshold of each place in the window, exactly as on the device."""
    steps = crowd.grid_points(places, POSITION_STEPS).astype(np.uint64)
    return np.uint64(noise.low) + _shifted(noise.high - noise.low, steps)


def _shifted(span: int, steps: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """(span · steps) >> 32 without leaving 64 bits: the upper half of the span times steps needs no shift."""
    high, low = divmod(span, POSITION_STEPS)
    return np.uint64(high) * steps + (np.uint64(low) * steps >> np.uint64(32))


def noisy_points(question: Measure, sizes: Ints, means: Floats, drawn: Ints) -> Bytes:
    """The values of reports as bytes: each person's grid point plus the noise that was drawn for her."""
    noise = question.noise
    assert isinstance(noise, DiscreteLaplace)
    values = crowd.grid_points(crowd.positions(question, sizes, means), noise.steps) + drawn
    np.clip(values, -noise.reach, noise.steps + noise.reach, out=values)
    length = report_bytes(question) - TAG_BYTES
    return values.astype(">i8").view(np.uint8).reshape(-1, 8)[:, 8 - length :]


def _bit_tally(question: Measure, values: Bytes) -> Tally:
    counts = np.bincount(values, minlength=1 << question.report_bits).reshape(-1, 2).tolist()
    return Tally.of_arms(question, [(zeros + ones, ones) for zeros, ones in counts])


def _laplace_values(rows: Bytes) -> Ints:
    wide = np.zeros((len(rows), 8), dtype=np.uint8)
    wide[:, : rows.shape[1]] = rows
    # Left-aligned in 64 bits, an arithmetic shift brings the sign along.
    return np.asarray(wide.view(">i8").astype(np.int64).reshape(-1) >> 8 * (8 - rows.shape[1]))

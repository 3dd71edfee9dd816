"""Do the vectorised forms come to the same integers as the device? One sentence where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from dame.audit.probe import ScriptedCoins, first_words, random_words, telling_words
from dame.device.answering import respond
from dame.device.channels import Channel, Comparing
from dame.device.lenses import Lens, Reading
from dame.device.questions import TAG_BYTES, Question
from dame.device.records import Summary
from dame.vectorised.coins import KeyedCoins
from dame.vectorised.keyed import Lanes
from dame.vectorised.lenses import Floats, Ints, read
from dame.vectorised.reports import payloads
from dame.vectorised.words import WordArray

_STREAMS = 2
_STREAM_WORDS = 400


def disagreement(question: Question, people: Sequence[Summary]) -> str:
    """Empty, or what the vectorised forms make of these people that the device does not.

    Readings are compared in every window. Reports are compared for words at which thresholds that differ by a bit would
    show, for one person of each reading.
    """
    for window in range(question.lens.window_count):
        readings = [question.lens.reading(person, window) for person in people]
        if list(map(_marks, readings)) != list(map(_marks, _vectorised(question.lens, people, window))):
            return "the vectorised lens reads other marks than the device"
        if not _same_reports(question, dict(zip(readings, people, strict=True)), window):
            return "the vectorised channel draws other values than the device"
    return ""


def _arrays(people: Iterable[Summary]) -> tuple[Ints, Floats]:
    each = list(people)
    return np.array([one.size for one in each], np.int64), np.array([one.mean for one in each], np.float64)


def _vectorised(lens: Lens, people: Sequence[Summary], window: int) -> list[Reading]:
    readings = read(lens, *_arrays(people), window)
    first, last = readings.first[readings.which].tolist(), readings.last[readings.which].tolist()
    marks = [1.0] * len(people) if readings.marks is None else readings.marks.tolist()
    return list(map(Reading, first, last, marks))


def _marks(reading: Reading) -> Reading | None:
    return reading if reading.first <= reading.last else None


def _same_reports(question: Question, people: dict[Reading, Summary], window: int) -> bool:
    arrays, channel = _arrays(people.values()), question.channel
    for first in first_words(question, window):
        for rows in zip(*(coins_for(channel, reading) for reading in people), strict=True):
            words = [[*first, *row] for row in rows]
            drawn = payloads(question, *arrays, KeyedCoins(_ScriptedLanes(np.array(words, np.uint64))))
            pairs = zip(people.values(), words, strict=True)
            own = [respond(question, person, ScriptedCoins(row)).encode(question) for person, row in pairs]
            if [row.tobytes() for row in drawn] != [report[TAG_BYTES:] for report in own]:
                return False
    return True


@singledispatch
def coins_for(channel: Channel, reading: Reading) -> Iterable[list[int]]:
    """Words with which a wrong draw of somebody with this reading would show: many, or the most telling ones."""
    return random_words(_STREAM_WORDS, _STREAMS)


@coins_for.register
def _comparing_coins(channel: Comparing, reading: Reading) -> Iterable[list[int]]:
    return telling_words(tuple(map(tuple, channel.ends(reading))))


class _ScriptedLanes(Lanes):
    """Given words for each person, a row each."""

    def __init__(self, rows: WordArray) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def words(self, first: int, count: int, users: slice = slice(None)) -> WordArray:
        return self._rows[users, first : first + count]

    def each(self, users: NDArray[np.intp], numbers: WordArray) -> WordArray:
        return self._rows[users, numbers]

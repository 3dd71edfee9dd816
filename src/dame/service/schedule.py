"""When rounds close by themselves: at a number of reports, or at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from dame import checks
from dame.device.questions import Slot
from dame.errors import InvalidInput

MOST_REPORTS = 10**12
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """For each slot the number of reports and the time (seconds since 1970) at which it closes; None for neither.

    Before it is fitted to a plan, a list may have an entry for each round instead: those of all machines close alike.
    """

    counts: Sequence[int | None] | None = None
    deadlines: Sequence[float | None] | None = None

    def fitting(self, slots: Sequence[Slot], now: float, least: int = 0) -> Schedule:
        """This schedule for a plan's slots, checked against them and the time at which the study begins.

        No round closes with fewer reports than the least number that the study waits for.
        """
        for count in self.counts or ():
            if count is not None:
                checks.whole("close_at_count", count, max(least, 1), MOST_REPORTS)
        fitted = Schedule(
            counts=_of_slots("close_at_count", self.counts, slots),
            deadlines=_of_slots("deadlines", self.deadlines, slots),
        )
        for target in {slot.target for slot in slots}:
            fitted._check_order([index for index, slot in enumerate(slots) if slot.target == target], now)
        return fitted

    def _check_order(self, indices: Sequence[int], now: float) -> None:
        """Refuses deadlines of a machine's rounds that are not one after the other."""
        deadlines = map(self.deadline_of, indices)
        times = [now, *(deadline for deadline in deadlines if deadline is not None)]
        if sorted(set(times)) != times:
            raise InvalidInput("deadlines", list(map(iso, times[1:])), "times to come, each after the one before")

    def count_of(self, index: int) -> int | None:
        """The number of reports at which a round closes."""
        return None if self.counts is None else self.counts[index]

    def deadline_of(self, index: int) -> float | None:
        """The time at which a round is planned to close."""
        return None if self.deadlines is None else self.deadlines[index]


def _of_slots(field: str, values: Sequence[T] | None, slots: Sequence[Slot]) -> Sequence[T] | None:
    """An entry for each slot, out of such a list or of one with an entry for each round."""
    rounds = 1 + max(slot.round for slot in slots)
    if values is None or len(values) == len(slots):
        return values
    if len(values) != rounds:
        each = "" if rounds == len(slots) else f", or for each of the {len(slots)} slots of the plan"
        raise InvalidInput(field, len(values), f"a list with an entry for each of the {rounds} rounds{each}")
    return [values[slot.round] for slot in slots]


def kept_deadline(planned: float | None, before: float | None, now: float) -> float | None:
    """The deadline of a round that opens now: the planned one; a round that opens late keeps its length.

    `before` is when the round before it was planned to close.
    """
    if planned is None or before is None or now <= before:
        return planned
    return planned + (now - before)


def seconds(moment: str) -> float:
    """A time as people write it, such as 2031-05-01T12:00:00+02:00, in seconds since 1970; UTC if it names no zone."""
    try:
        parsed = datetime.fromisoformat(moment)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise InvalidInput("deadline", moment, "a time such as 2031-05-01T12:00:00+00:00") from None


def iso(moment: float | None) -> str | None:
    """A time in seconds since 1970 as people read it, in UTC."""
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")

"""Reports: all that ever leaves a device, and the strict codec of their bytes.

A report is 8 bytes that name the question, then the value in as few bytes as hold it: the bits of a vote, bin j as
bit j % 8 of byte j // 8; a single bit, where there are arms the arm in the bits above it; or a noisy grid point as a
big-endian two's complement integer. One value has exactly one encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

from dame.device.questions import TAG_BYTES, Measure, PlaceVote, Question, Vote, question_id, question_tag
from dame.device.randomisers import DiscreteLaplace
from dame.errors import RejectedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One person's answer to one question: the bits of a vote as an integer, one bit, or a noisy grid point."""

    question: str
    value: int

    def encode(self, question: Question) -> bytes:
        """The bytes of this report."""
        check_value(question, self)
        return question_tag(question) + _payload(question, self.value)

    @classmethod
    def decode(cls, question: Question, encoded: bytes) -> Report:
        """The report that the bytes hold; RejectedReport for another length or question, or no valid value."""
        expected = report_bytes(question)
        if len(encoded) != expected:
            raise RejectedReport("length", f"it has {len(encoded)} bytes, a report of this question has {expected}")
        if encoded[:TAG_BYTES] != question_tag(question):
            raise RejectedReport("question", "it answers another question")
        report = cls(question=question_id(question), value=_value(question, encoded[TAG_BYTES:]))
        check_value(question, report)
        return report


def report_bytes(question: Question) -> int:
    """The length of every report of a question."""
    return TAG_BYTES + (question.report_bits + 7) // 8


def check_value(question: Question, report: Report) -> None:
    """Refuses a report of another question or with a value that no device could send."""
    if report.question != question_id(question):
        raise RejectedReport("question", "it answers another question")
    low, high = value_range(question)
    if type(report.value) is not int or not low <= report.value <= high:
        raise RejectedReport("range", "its value is outside the range of this question")
    if isinstance(question, PlaceVote) and report.value.bit_count() != 1:
        raise RejectedReport("range", "it does not mark exactly one place")


def value_range(question: Question) -> tuple[int, int]:
    """The smallest and the largest value of a report."""
    if isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace):
        return -question.noise.reach, question.noise.steps + question.noise.reach
    return 0, (1 << question.report_bits) - 1


def tally_entries(question: Question, value: int) -> tuple[int, ...]:
    """The integers that a report adds to a tally.

    The bits of a vote; one bit; where there are arms the bit of arm 0, and for each further arm whether it is this
    one, and its bit; a noisy grid point and its square.
    """
    if isinstance(question, Vote):
        return tuple(value >> bin_ & 1 for bin_ in range(question.bins))
    if isinstance(question.noise, DiscreteLaplace):
        return value, value * value
    if question.arms > 1:
        own, bit = value >> 1, value & 1
        arms = [(int(arm == own), int(arm == own) & bit) for arm in range(question.arms)]
        return tuple(entry for arm in arms for entry in arm)[1:]
    return (value,)


def _signed(question: Question) -> bool:
    return isinstance(question, Measure) and isinstance(question.noise, DiscreteLaplace)


def _payload(question: Question, value: int) -> bytes:
    length = report_bytes(question) - TAG_BYTES
    if _signed(question):
        return value.to_bytes(length, "big", signed=True)
    return value.to_bytes(length, "little")


def _value(question: Question, payload: bytes) -> int:
    if _signed(question):
        return int.from_bytes(payload, "big", signed=True)
    return int.from_bytes(payload, "little")

"""Reports: all that ever leaves a device, and the strict codec of their bytes.

A report is 8 bytes that name the question, then one integer in as few bytes as hold it, the lowest first: the channel's
value, counted from its smallest, and above it the window that the device drew. One report has exactly one encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

from dame.device.questions import TAG_BYTES, Question, question_id, question_tag
from dame.errors import RejectedReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One person's answer to one question: the channel's value, and the window that fair coins of the device drew."""

    question: str
    window: int = 0
    value: int

    def encode(self, question: Question) -> bytes:
        """The bytes of this report."""
        check_report(question, self)
        low, _ = question.channel.values
        code = self.window << question.channel.value_bits | self.value - low
        return question_tag(question) + code.to_bytes(report_bytes(question) - TAG_BYTES, "little")

    @classmethod
    def decode(cls, question: Question, encoded: bytes) -> Report:
        """The report that the bytes hold; RejectedReport for another length or question, or no valid value."""
        expected = report_bytes(question)
        if len(encoded) != expected:
            raise RejectedReport("length", f"it has {len(encoded)} bytes, a report of this question has {expected}")
        if encoded[:TAG_BYTES] != question_tag(question):
            raise RejectedReport("question", "it answers another question")
        code, bits = int.from_bytes(encoded[TAG_BYTES:], "little"), question.channel.value_bits
        value = (code & (1 << bits) - 1) + question.channel.values[0]
        report = cls(question=question_id(question), window=code >> bits, value=value)
        check_report(question, report)
        return report


def report_bytes(question: Question) -> int:
    """The length of every report of a question."""
    return TAG_BYTES + (question.report_bits + 7) // 8


def check_report(question: Question, report: Report) -> None:
    """Refuses a report of another question, or one that no device could send."""
    if report.question != question_id(question):
        raise RejectedReport("question", "it answers another question")
    low, high = question.channel.values
    if type(report.value) is not int or not low <= report.value <= high:
        raise RejectedReport("range", "its value is outside the range of this question")
    if type(report.window) is not int or not 0 <= report.window < question.lens.window_count:
        raise RejectedReport("range", "its window is none of this question")

"""Records of people in the scripts."""

from __future__ import annotations

from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.outcomes import Document


def alike(question: Question, mean: float, size: int) -> list[object]:
    """Records with about this mean on the inner scale, in the units of the question, slightly different."""
    value = narrowed(Value, question.statistic)
    middle = value.low + (mean + 1) * (value.high - value.low) / 2
    step = (value.high - value.low) * 2.0**-12
    return [middle + step * (index - (size - 1) / 2) for index in range(size)]


def bad_answers(name: str) -> list[Document]:
    """Records that a device must refuse, whatever its coins."""
    return [
        {
            "op": "answer",
            "question": name,
            "records": records,
            "coins": "00" * 64,
            "expect": {"error": {"kind": "BadRecords"}},
        }
        for records in ([None], ["1"], [0.5, [0.5]], [{"": 0.5}])
    ]

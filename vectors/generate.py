"""Writes the test vectors: python -m vectors.generate  (from the root of the repository, with `dame` importable)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dame.device.questions import Question
from vectors import device_scripts as device
from vectors.bin_scripts import bin_answers, bin_questions, bin_refusals
from vectors.channel_scripts import channel_refusals
from vectors.outcomes import Document
from vectors.people import bad_answers
from vectors.segment_scripts import segment_answers, segment_questions
from vectors.size_class_scripts import size_class_answers, size_class_questions, size_class_refusals
from vectors.statistic_scripts import (
    statistic_answers,
    statistic_identities,
    statistic_questions,
    statistic_records,
    statistic_refusals,
)
from vectors.stripe_scripts import stripe_answers, stripe_questions, stripe_refusals
from vectors.study_plans import plans
from vectors.study_scripts import plan_script, study_document
from vectors.window_scripts import window_answers, window_questions, window_refusals

FOLDER = Path(__file__).parent / "v1"
LENSES = {
    "bins": (bin_questions(), bin_answers),
    "size-classes": (size_class_questions(), size_class_answers),
    "windows": (window_questions(), window_answers),
    "segments": (segment_questions(), segment_answers),
    "stripes": (stripe_questions(), stripe_answers),
}
"""For each lens (and for windows that are segments): its questions by channel, and the script of answers."""


def all_questions() -> dict[str, Question]:
    """Every question that is answered in the scripts, by a name of its own."""
    return {
        f"{lens}-{channel}-{name}": question
        for lens, (by_channel, _) in LENSES.items()
        for channel, questions in by_channel.items()
        for name, question in questions.items()
    }


def documents() -> dict[str, Document]:
    """All vectors by file name."""
    everything = all_questions()
    merges = device.merge_script(everything["windows-bits-dithered"], everything["size-classes-choice-four"])
    scripts: dict[str, Document] = {
        "records": _document({}, [*device.record_script(), *statistic_records()]),
        "questions": _document({}, [*device.identity_script(list(everything.values())), *statistic_identities()]),
        "refusals": _document({}, _refusals(everything["bins-bits-paper"])),
        **_answers(),
        "answers-statistics": _document(statistic_questions(), statistic_answers()),
        "reports": _document(everything, [*device.report_script(everything), *merges]),
        "slots": _document({}, device.slot_script()),
        "plans": _document({}, plan_script(list(plans().values()))),
        **{f"study-{name}": study_document(name, plan) for name, plan in plans().items()},
    }
    return {f"{name}.json": {"format": "dame-vectors", "version": 1, **script} for name, script in scripts.items()}


def _refusals(question: Question) -> list[Document]:
    lenses = [*bin_refusals(), *size_class_refusals(), *window_refusals(), *stripe_refusals()]
    headers = [*device.header_refusals(question), *statistic_refusals()]
    return device.refusal_script([*headers, *lenses, *channel_refusals()])


def _answers() -> dict[str, Document]:
    return {
        f"answers-{lens}-{channel}": _document(questions, [*answers(channel), *bad_answers(min(questions))])
        for lens, (by_channel, answers) in LENSES.items()
        for channel, questions in by_channel.items()
    }


def _document(questions: dict[str, Question], operations: list[Document]) -> Document:
    return {"questions": {name: question.to_json() for name, question in questions.items()}, "operations": operations}


def text_of(document: Document) -> str:
    """The text of a file: ASCII, one question and one operation a line, so that differences are easy to see."""
    fields = [f" {json.dumps(key)}: {_block(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _block(value: object) -> str:
    if isinstance(value, list):
        return "[\n" + ",\n".join(f"  {_line(item)}" for item in value) + "\n ]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {_line(item)}" for key, item in value.items()) + "\n }"
    return _line(value)


def _line(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def main(folder: Path) -> None:
    """Writes every file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents().items():
        (folder / name).write_text(text_of(document), encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)

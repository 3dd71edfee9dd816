"""Writes the test vectors: python -m vectors.generate  (from the root of the repository, with `dame` importable)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dame.device.questions import Question
from vectors import device_scripts as device
from vectors import part_scripts, place_scripts
from vectors.outcomes import Document
from vectors.study_scripts import plans, study_document

FOLDER = Path(__file__).parent / "v1"


def documents() -> dict[str, Document]:
    """All vectors by file name."""
    votes, bits, laplace = device.vote_questions(), device.bit_questions(), device.laplace_questions()
    answers = {
        "answers-vote": (votes, [*device.vote_answers(), *device.bad_answers("paper")]),
        "answers-one-bit": (bits, [*device.bit_answers(), *device.bad_answers("window")]),
        "answers-laplace": (laplace, [*device.laplace_answers(), *device.bad_answers("fine")]),
    }
    sizes = device.size_questions()
    size_votes = [*device.size_vote_refusals(), *device.size_answers(), *device.report_script(sizes)]
    places = place_scripts.place_questions()
    place_votes = [
        *place_scripts.place_vote_documents(),
        *place_scripts.place_answers(),
        *device.bad_answers("two"),
        *device.report_script(places),
    ]
    parts = part_scripts.part_questions()
    part_measures = [
        *part_scripts.part_measure_documents(),
        *part_scripts.part_answers(),
        *device.bad_answers("two"),
        *device.report_script(parts),
    ]
    everything = device.all_questions()
    scripts: dict[str, Document] = {
        "records": _document({}, device.record_script()),
        "questions": _document({}, device.question_script()),
        **{name: _document(questions, operations) for name, (questions, operations) in answers.items()},
        "answers-size-vote": _document(sizes, size_votes),
        "answers-place-vote": _document(places, place_votes),
        "answers-part-measure": _document(parts, part_measures),
        "reports": _document(everything, device.report_script(everything)),
        "rounds": _document({}, device.round_script()),
        **{f"study-{name}": study_document(name, plan) for name, plan in plans().items()},
    }
    return {f"{name}.json": {"format": "dame-vectors", "version": 1, **script} for name, script in scripts.items()}


def _document(questions: dict[str, Question], operations: list[Document]) -> Document:
    return {"questions": {name: question.to_json() for name, question in questions.items()}, "operations": operations}


def text_of(document: Document) -> str:
    """The text of a file: ASCII, one operation a line, so that differences are easy to see."""
    plain = {key: value for key, value in document.items() if key != "operations"}
    head = json.dumps(plain, indent=1, allow_nan=False)[:-2]
    operations = document["operations"]
    assert isinstance(operations, list)
    lines = ",\n".join(f"  {json.dumps(operation, allow_nan=False)}" for operation in operations)
    return f'{head},\n "operations": [\n{lines}\n ]\n}}\n'


def main(folder: Path) -> None:
    """Writes every file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents().items():
        (folder / name).write_text(text_of(document), encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)

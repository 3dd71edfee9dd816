"""A study as files: its plan, and the question and reports of each closed round, for `dame tally` and `dame ask`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from dame.client.administration import Administration
from dame.device.questions import question_id
from dame.device.reports import report_bytes
from dame.engines.report_files import arrow, write_encoded
from dame.errors import Mismatch
from dame.planning.plans import Plan
from dame.protocols import next as next_step
from dame.protocols import plan_from_json
from dame.tally import Tally
from dame.vectorised.reports import report_totals


def export_study(administration: Administration, folder: Path) -> list[str]:
    """The names of the files that were written into a new folder.

    The questions are those that were asked: they must belong to the plan, and the reports must add up to what the
    server counted.
    """
    arrow()  # complain before the work, not after it
    document = administration.public()
    plan = plan_from_json(document["plan"])
    closed = [one["slot"] for one in document["rounds"] if one["state"] == "closed"]
    with _drafted(folder) as draft:
        return _export(administration, plan, document["plan"], closed, draft)


def _export(
    administration: Administration, plan: Plan, document: object, closed: Sequence[int], folder: Path
) -> list[str]:
    names = [_written(folder, "plan.json", document)]
    history: list[Tally] = []
    for index in closed:
        counted = Tally.from_json(administration.tally(index))
        question, (identity, length, body) = counted.question, administration.reports(index)
        if identity != question_id(question) or length != report_bytes(question):
            raise Mismatch(f"the reports of round {index} are not answers to its question")
        reports = np.frombuffer(body, np.uint8).reshape(-1, length)
        if Tally.of(question, report_totals(question, reports)) != counted:
            raise Mismatch(f"the reports of round {index} do not add up to what the server counted")
        history.append(counted)
        # Refuses questions of another plan, or in another order.
        next_step(plan, [tally for tally in history if tally.question.target == question.target])
        names.append(_written(folder, f"question-{index}.json", question.to_json()))
        write_encoded(folder / f"reports-{index}.parquet", question, reports)
        names.append(f"reports-{index}.parquet")
    return names


@contextmanager
def _drafted(folder: Path) -> Iterator[Path]:
    """A temporary folder beside a new one, which gets its name when all went well and is removed when not."""
    draft = folder.with_name(f".{folder.name}.draft")
    draft.mkdir()
    try:
        yield draft
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft)
        raise


def _written(folder: Path, name: str, document: object) -> str:
    (folder / name).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return name

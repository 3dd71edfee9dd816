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
from dame.engines.steps import tallies_from
from dame.errors import Mismatch
from dame.protocols import EVERYBODY, ByGroup
from dame.protocols import next as next_step
from dame.studies.codec import plan_from_json
from dame.studies.plans import Plan
from dame.tally import Tally, merged
from dame.vectorised.reports import report_totals
from dame.vectorised.unary import Bytes


def export_study(administration: Administration, folder: Path) -> list[str]:
    """The names of the files that were written into a new folder.

    The questions are those that were asked: they must belong to the plan, and the reports must add up to what the
    server counted, those of each public group, too.
    """
    arrow()  # complain before the work, not after it
    document = administration.public()
    plan = plan_from_json(document["plan"])
    closed = [one["slot"] for one in document["rounds"] if one["state"] == "closed"]
    with _drafted(folder) as draft:
        names = [_written(draft, "plan.json", document["plan"])]
        history: list[Tally] = []
        for index in closed:
            tallies = tallies_from(administration.tally(index))
            history.append(merged(tallies.values()))
            _check_order(plan, history)
            names += _export_round(administration, index, tallies, draft)
        return names


def _check_order(plan: Plan, history: Sequence[Tally]) -> None:
    """Refuses a question of another plan, or in another order, at the end of a history."""
    slot = history[-1].question.slot
    next_step(plan.machine_of(slot), [tally for tally in history if tally.question.target == slot.target])


def _export_round(administration: Administration, index: int, tallies: ByGroup, folder: Path) -> list[str]:
    question = merged(tallies.values()).question
    parts = [_reports(administration, index, group, tally) for group, tally in tallies.items()]
    groups = None if EVERYBODY in tallies else np.repeat(np.array(list(tallies), np.str_), list(map(len, parts)))
    write_encoded(folder / f"reports-{index + 1}.parquet", question, np.concatenate(parts), groups)
    return [_written(folder, f"question-{index + 1}.json", question.to_json()), f"reports-{index + 1}.parquet"]


def _reports(administration: Administration, index: int, group: str, counted: Tally) -> Bytes:
    """The reports of a group, a row each, if they are what the server counted."""
    question = counted.question
    identity, length, body = administration.reports(index, None if group == EVERYBODY else group)
    if identity != question_id(question) or length != report_bytes(question):
        raise Mismatch(f"the reports of round {index + 1} are not answers to its question")
    reports = np.frombuffer(body, np.uint8).reshape(-1, length)
    if Tally.of(question, report_totals(question, reports)) != counted:
        raise Mismatch(f"the reports of round {index + 1} do not add up to what the server counted")
    return reports


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

"""Documents of whole studies, written once and kept: python -m vectors.kept

Every later release must go on reading them. What is there is never written again: a protocol of a new version gets a
folder of its own, beside the old one.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dame import Study, mean, sd, share
from dame import plan as planned
from dame.device.answering import answer_with_coins
from dame.device.assignment import slot_of
from dame.device.questions import Question
from dame.device.reports import Report
from dame.sizes import Sizes
from dame.studies.codec import plan_to_json
from dame.studies.plans import Plan
from dame.studies.running import questions, result
from dame.tally import Tally
from vectors.coins import RecordedCoins

SEVERAL = "several-1"
"""The folder of the study with several targets."""
FOLDER = Path(__file__).parent / "v1" / "documents"


def kept_plans() -> dict[str, Plan]:
    """Studies of every protocol by the names of their folders; of `adaptive` one for each way to ask."""
    few, many = {"sizes": Sizes.parse("uniform:1:9")}, {"sizes": Sizes.parse("uniform:200:400")}
    choices: dict[str, dict[str, Any]] = {
        "paper-1": {"protocol": "paper", **many},
        "kent-1": {"protocol": "kent", **many},
        "duchi-1": {"protocol": "duchi", **few},
        "one-bit-1": {"protocol": "one-bit", **few},
        "one-round-1": {"protocol": "one-round", **many},
        "adaptive-1-votes": many,
        "adaptive-1-bits": few,
        "adaptive-1-survey": {**many, "survey": 0.2},
        "adaptive-1-segments": {**few, "between_sd": "learn"},
    }
    single = {
        name: planned(users=400, alpha=3.0, bounds=(0.0, 24.0), study=f"kept-{name}", **given)
        for name, given in choices.items()
    }
    return {**single, SEVERAL: several().plan()}


def several() -> Study:
    """A study of every kind of target, one of which not everybody has."""
    targets = [
        mean("hours", (0, 24)),
        share("hours", above=12),
        sd("hours", (0, 24), name="spread"),
        mean("steps", (0, 30), present=0.5),
    ]
    return Study(users=600, alpha=3.0, sizes="uniform:1:9", targets=targets, study=f"kept-{SEVERAL}")


def documents(plan: Plan) -> dict[str, object]:
    """The documents of a study by their names: people answer in their slots, until there is an estimate."""
    written: dict[str, object] = {"plan": plan_to_json(plan)}
    history: list[Tally] = []
    while open_ := questions(plan, history):
        for question in open_:
            number = len(history) + 1
            reports = reports_on(plan, question)
            history.append(tally_of(question, reports))
            written[f"question-{number}"] = question.to_json()
            written[f"reports-{number}"] = [report.encode(question).hex() for report in reports]
            written[f"tally-{number}"] = history[-1].to_json()
    return {**written, "result": result(plan, history).to_json()}


def reports_on(plan: Plan, question: Question) -> list[Report]:
    """The reports of the people in the slot of a question."""
    people = [f"person-{number}" for number in range(plan.users)]
    place = plan.slots.index(question.slot)
    asked = [person for person in people if slot_of(plan.study, plan.shares, person) == place]
    return [
        answer_with_coins(question, _records(plan, person), RecordedCoins(seed))
        for seed, person in enumerate(asked, start=1000 * place)
    ]


def tally_of(question: Question, reports: Sequence[Report]) -> Tally:
    """The tally of reports."""
    tally = Tally.zero(question)
    for report in reports:
        tally = tally.add(report)
    return tally


def _records(plan: Plan, person: str) -> list[Any]:
    """Hours of a day, around 9; with a habit of the person's own where users' means vary; and steps of every other."""
    source, brief = random.Random(f"{plan.study} {person}"), plan.machines[0].brief
    sizes = [int(bound) for bound in brief.sizes.spec.split(":")[1:]]
    own = source.gauss(0.0, 2.0) if brief.users_vary else 0.0
    hours = [round(source.gauss(9.0 + own, 4.0), 2) for _ in range(source.randint(*sizes))]
    if len(plan.machines) == 1:
        return hours
    walks = source.random() < 0.5
    return [{"hours": value, "steps": round(source.gauss(11.0, 5.0), 2) if walks else None} for value in hours]


def main() -> None:
    """Writes the folders that are not there yet."""
    for name, plan in kept_plans().items():
        folder = FOLDER / name
        if folder.exists():
            continue
        folder.mkdir(parents=True)
        for title, document in documents(plan).items():
            (folder / f"{title}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()

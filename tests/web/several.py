"""A study of several targets, for people in two groups, with a file of several columns."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import dame
from dame.studies.codec import plan_to_json
from tests.web.study import Study

GROUPS = ("DE", "FR")
MACHINES = ("minutes", "late", "steps/mean", "steps/square", "steps/present")
"""What the first rounds ask about, in the order of their slots."""


@functools.cache
def _plan() -> str:
    targets = [dame.mean("minutes", (0, 120)), dame.share("late", is_="yes"), dame.sd("steps", (0, 10), present=0.8)]
    study = dame.Study(
        users=400, alpha=2.0, sizes="constant:20", targets=targets, protocol="one-bit", group="country", study="x"
    )
    return json.dumps(plan_to_json(study.plan()))


def several(server: str, name: str, folder: Path, invitations: int = 40, grouped: bool = True) -> Study:
    """The study, with so many invitations for each group."""
    plan = {**json.loads(_plan()), "study": name, "group": "country" if grouped else ""}
    return Study.create(server, plan, folder, invitations=invitations, groups=GROUPS if grouped else ())


def link_of(study: Study, machine: str) -> str:
    """The link of somebody who is asked about this."""
    return study.links[MACHINES.index(machine)][0]


def records_of(link: str) -> list[dict[str, Any]]:
    """What somebody has: people in DE travel longer."""
    draw = random.Random(link)
    more = 30 if "group=DE" in link else 0
    late = ("no", "yes")
    return [
        {"minutes": draw.gauss(40 + more, 12), "late": draw.choice(late), "steps": draw.uniform(0, 10)}
        for _ in range(20)
    ]


def own_file(folder: Path) -> Path:
    """A person's file: four columns, one line without minutes and steps."""
    lines = [f"{day},{30 + day % 9},{'yes' if day % 4 == 0 else 'no'},{day % 10}" for day in range(20)]
    path = folder / "mine.csv"
    path.write_text("\n".join(["day,minutes,late,steps", *lines, "20,,no,", ""]))
    return path

"""How far malicious users could move the targets of each study: worked out in peace, after the study was created.

That takes seconds of processor time for each machine. Machines of one shape (the same users, α, sizes and rounds)
differ in their units only, so that each shape is worked out once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Event, Thread

from sqlalchemy import text

from dame.audit.poisoning import largest_shift
from dame.device.questions import MEAN
from dame.device.statistics import Value
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.planning.rounds import Round
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.stored import stored_plan
from dame.studies.plans import Plan

MOST_SHAPES = 256
_WITHOUT = text("SELECT study, plan FROM studies WHERE shifts IS NULL ORDER BY id")
_STORE = text("UPDATE studies SET shifts = :shifts WHERE study = :study")
_NOTHING = Forecast(
    predicted_rmse=0.0,
    predicted_rmse_with_failures=0.0,
    failure_probability=0.0,
    limit_mse=0.0,
    lower_bound=0.0,
    upper_bound=0.0,
)


class Stopped(Exception):
    """The server is about to end."""


class Shifts:
    """Works in a thread of its own; a server that ends does not wait for it."""

    def __init__(self, database: Database, log: Log | None = None) -> None:
        self._database = database
        self._log = log or Log()
        self._woken = Event()
        self._stopped = False
        self._hopeless: set[str] = set()

    def start(self) -> None:
        """Begins with the studies that are here."""
        self.wake()
        Thread(target=self._run, name="shifts", daemon=True).start()

    def wake(self) -> None:
        """Looks for new studies."""
        self._woken.set()

    def stop(self) -> None:
        """Ends after the machine that is looked at."""
        self._stopped = True
        self._woken.set()

    def _run(self) -> None:
        while not self._stopped:
            self._woken.wait()
            self._woken.clear()
            try:
                self.work()
            except Stopped:
                return
            except Exception as error:  # the database may be back when it is woken next
                self._log.failure("shifts-failed", error)

    def work(self) -> None:
        """Works out what is missing. A study for which that fails is left alone until the server starts again."""
        with self._database.reading() as connection:
            found = [(row[0], row[1]) for row in connection.execute(_WITHOUT)]
        for study, plan_text in found:
            if study in self._hopeless:
                continue
            try:
                shifts = self._of_plan(stored_plan(plan_text))
            except Stopped:
                raise
            except Exception as error:
                self._hopeless.add(study)
                self._log.failure("shifts-failed", error, study=study)
                continue
            with self._database.writing() as connection:
                connection.execute(_STORE, {"study": study, "shifts": json.dumps(shifts)})

    def _of_plan(self, plan: Plan) -> dict[str, float]:
        return {planned.target.name: planned.shift(self._of_machine) for planned in plan.targets}

    def _of_machine(self, machine: MachinePlan) -> float:
        shift = inner_shift(shape_of(machine)) * machine.brief.half_range
        if self._stopped:
            raise Stopped
        return shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the shift on the inner scale follows from."""

    protocol: str
    protocol_version: int
    brief: Brief
    rounds: tuple[Round, ...]
    details: tuple[tuple[str, float], ...]


def shape_of(machine: MachinePlan) -> Shape:
    """The shape of a machine: all of it but its names and units."""
    return Shape(
        protocol=machine.protocol,
        protocol_version=machine.protocol_version,
        brief=replace(machine.brief, study="shape", target=MEAN, statistic=Value()),
        rounds=machine.rounds,
        details=tuple(sorted(machine.details.items())),
    )


@lru_cache(maxsize=MOST_SHAPES)
def inner_shift(shape: Shape) -> float:
    """The largest shift, on the inner scale, by 1 % of malicious users."""
    return largest_shift(
        MachinePlan(
            protocol=shape.protocol,
            protocol_version=shape.protocol_version,
            brief=shape.brief,
            rounds=shape.rounds,
            forecast=_NOTHING,
            details=dict(shape.details),
        )
    )

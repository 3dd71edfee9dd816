"""How far malicious users could move the targets of each study: worked out in peace, after the study was created.

That takes seconds of processor time for each machine.
"""

from __future__ import annotations

import json
from threading import Event, Thread

from sqlalchemy import text

from dame.audit.poisoning import largest_shift
from dame.planning.machines import MachinePlan
from dame.service.database import Database
from dame.service.logs import Log
from dame.service.stored import stored_plan
from dame.studies.plans import Plan

_WITHOUT = text("SELECT study, plan FROM studies WHERE shifts IS NULL ORDER BY id")
_STORE = text("UPDATE studies SET shifts = :shifts WHERE study = :study")


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
        shift = largest_shift(machine)
        if self._stopped:
            raise Stopped
        return shift

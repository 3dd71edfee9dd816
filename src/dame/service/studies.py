"""Studies in the store: created once with a frozen plan, and the tokens that let people take part."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, RowMapping, exc, text

from dame import checks
from dame.audit.poisoning import largest_shift
from dame.client.signed import participant_name, plan_identity
from dame.device.assignment import slot_of
from dame.device.questions import canonical
from dame.errors import InvalidInput
from dame.planning.codec import plan_to_json
from dame.planning.plans import Plan
from dame.protocols import first, plan_from_json
from dame.service import auth
from dame.service.database import Database
from dame.service.opening import open_round
from dame.service.problems import Problem
from dame.service.schedule import Schedule
from dame.service.signing import new_signing_key, public_key

MOST_INVITATIONS = 100_000
"""Tokens that are given out in one call."""
_UNFIT = frozenset('/\\?#%"')
"""What the name of a study may not contain, as it stands in addresses."""

_ESTIMATES = text("SELECT target, estimate FROM rounds WHERE study_id = :study AND estimate IS NOT NULL")

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study as it is stored: everything but the state of its rounds, which changes."""

    id: int
    study: str
    title: str
    plan: Plan
    plan_text: str
    plan_id: str
    public_key: str
    signing_key: bytes
    administrator_hash: bytes
    shift: float
    estimates: Mapping[str, dict[str, object]]
    """The estimate of each target whose rounds are closed."""

    @property
    def document(self) -> dict[str, object]:
        """The plan as JSON."""
        document: dict[str, object] = json.loads(self.plan_text)
        return document

    @property
    def state(self) -> str:
        """`running` until every target has its estimate, then `finished`."""
        return "finished" if self.estimates.keys() >= {slot.target for slot in self.plan.slots} else "running"

    @property
    def estimate(self) -> dict[str, object] | None:
        """The estimate of the plan's target, once there is one."""
        return self.estimates.get(self.plan.brief.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedStudy:
    """A new study, and the key of its administrator, which is told once."""

    study: Study
    administrator_key: str


class Studies:
    """The studies of one database."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, document: object, title: str | None = None, schedule: Schedule | None = None) -> CreatedStudy:
        """A new study, its first round open."""
        plan = _fit_plan(document)
        schedule = (schedule or Schedule()).fitting(plan.slots, self._clock())
        identity = plan_to_json(plan)
        key, signing_key = auth.new_key(), new_signing_key()
        values = {
            "study": plan.study,
            "title": checks.text("title", plan.study if title is None else title, 200),
            "plan": canonical(identity).decode("ascii"),
            "plan_id": plan_identity(identity),
            "administrator_hash": auth.digest(key),
            "signing_key": signing_key,
            "public_key": public_key(signing_key),
            "shift": largest_shift(plan),
            "created_at": self._clock(),
        }
        question = first(plan)
        try:
            with self._database.writing() as connection:
                study_id = _insert(connection, "studies", values)
                self._add_rounds(connection, study_id, plan, schedule)
                study = _study(connection, plan.study)
                open_round(connection, study, question, self._clock())
        except exc.IntegrityError:
            raise Problem("conflict", f"a study named {plan.study!r} is here already") from None
        return CreatedStudy(study=study, administrator_key=key)

    def _add_rounds(self, connection: Connection, study_id: int, plan: Plan, schedule: Schedule) -> None:
        for index, (slot, round_) in enumerate(zip(plan.slots, plan.rounds, strict=True)):
            values = {
                "study_id": study_id,
                "slot": index,
                "target": slot.target,
                "round": slot.round,
                "name": round_.name,
                "lens": round_.lens.kind,
                "state": "waiting",
                "close_at_count": schedule.count_of(index),
                "deadline": schedule.deadline_of(index),
            }
            _insert(connection, "rounds", values)

    def get(self, name: str) -> Study:
        """The study of that name."""
        with self._database.reading() as connection:
            return _study(connection, name)

    def administered(self, name: str, key: str) -> Study:
        """The study of that name, for whoever holds its administrator's key."""
        study = self.get(name)
        if not auth.matches(key, study.administrator_hash):
            raise Problem("forbidden", "this needs the administrator key of the study")
        return study

    def replace_key(self, name: str) -> str:
        """A new administrator's key, for whoever holds the database; the old one is worthless from now on."""
        key = auth.new_key()
        with self._database.writing() as connection:
            query = "UPDATE studies SET administrator_hash = :hash WHERE id = :id"
            connection.execute(text(query), {"hash": auth.digest(key), "id": _row(connection, name)["id"]})
        return key

    def invite(self, study: Study, count: int) -> list[str]:
        """New tokens; the store keeps their hashes and the slots that these lead to."""
        checks.whole("count", count, 1, MOST_INVITATIONS)
        tokens = [auth.new_token() for _ in range(count)]
        slots = [slot_of(study.study, study.plan.shares, participant_name(token)) for token in tokens]
        with self._database.writing() as connection:
            ids = _round_ids(connection, study.id, self._database.lock())
            for index in sorted(set(slots)):
                hashes = [auth.digest(token) for token, its in zip(tokens, slots, strict=True) if its == index]
                query = "UPDATE rounds SET invited = invited + :invited WHERE id = :id"
                connection.execute(text(query), {"invited": len(hashes), "id": ids[index]})
                self._database.add_participants(connection, ids[index], hashes)
        return tokens


def _fit_plan(document: object) -> Plan:
    plan = plan_from_json(document)
    if plan.study in (".", "..") or _UNFIT & set(plan.study):
        raise InvalidInput("study", plan.study, "a name without / \\ ? # % and quotes: it stands in addresses")
    return plan


def _round_ids(connection: Connection, study_id: int, lock: str) -> Sequence[int]:
    query = f"SELECT id FROM rounds WHERE study_id = :study ORDER BY slot{lock}"
    return connection.execute(text(query), {"study": study_id}).scalars().all()


def _insert(connection: Connection, table: str, values: dict[str, object]) -> int:
    columns, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
    query = f"INSERT INTO {table} ({columns}) VALUES ({marks}) RETURNING id"
    return int(connection.execute(text(query), values).scalar_one())


def _row(connection: Connection, name: str) -> RowMapping:
    # PostgreSQL's texts cannot hold the character 0, and no study is named so.
    query = text("SELECT * FROM studies WHERE study = :study")
    row = None if "\0" in name else connection.execute(query, {"study": name}).mappings().first()
    if row is None:
        raise Problem("unknown-study", "there is no study of this name")
    return row


def _study(connection: Connection, name: str) -> Study:
    row = _row(connection, name)
    done = connection.execute(_ESTIMATES, {"study": row["id"]})
    return Study(
        id=row["id"],
        study=row["study"],
        title=row["title"],
        plan=_plan(row["plan"]),
        plan_text=row["plan"],
        plan_id=row["plan_id"],
        public_key=row["public_key"],
        signing_key=bytes(row["signing_key"]),
        administrator_hash=bytes(row["administrator_hash"]),
        shift=row["shift"],
        estimates={target: json.loads(estimate) for target, estimate in done},
    )


@lru_cache(maxsize=128)
def _plan(plan_text: str) -> Plan:
    return plan_from_json(json.loads(plan_text))

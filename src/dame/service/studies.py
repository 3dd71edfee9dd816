"""Studies in the store: created once with a frozen plan, and the tokens that let people take part."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, exc, text

from dame import checks
from dame.client.signed import participant_name, plan_identity
from dame.device.assignment import slot_of
from dame.device.questions import canonical
from dame.errors import InvalidInput
from dame.service import auth
from dame.service.database import Database
from dame.service.opening import open_round
from dame.service.problems import Problem
from dame.service.schedule import Schedule
from dame.service.signing import new_signing_key, public_key
from dame.service.stored import StoredStudy, stored_groups, stored_study, study_row
from dame.studies.codec import plan_from_json, plan_to_json
from dame.studies.plans import Plan
from dame.studies.running import questions

MOST_INVITATIONS = 100_000
"""Tokens that are given out in one call."""
MOST_GROUPS = 200
"""Public groups of a study: an estimate is read for each of them."""
LONGEST_GROUP = 64
_UNFIT = frozenset('/\\?#%"')
"""What the name of a study may not contain, as it stands in addresses."""

_INVITED = text(
    "INSERT INTO groups (study_id, name, invited) VALUES (:study, :name, :more)"
    " ON CONFLICT (study_id, name) DO UPDATE SET invited = groups.invited + excluded.invited RETURNING id"
)

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedStudy:
    """A new study, and the key of its administrator, which is told once."""

    study: StoredStudy
    administrator_key: str


class Studies:
    """The studies of one database."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        self._database = database
        self._clock = clock

    def create(self, document: object, title: str | None = None, schedule: Schedule | None = None) -> CreatedStudy:
        """A new study; the first round of each of its machines is open."""
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
            "created_at": self._clock(),
        }
        asked = questions(plan)
        try:
            with self._database.writing() as connection:
                study_id = _insert(connection, "studies", values)
                self._add_rounds(connection, study_id, plan, schedule)
                study = stored_study(connection, plan.study)
                for question in asked:
                    open_round(connection, study, question, self._clock())
        except exc.IntegrityError:
            raise Problem("conflict", f"a study named {plan.study!r} is here already") from None
        return CreatedStudy(study=study, administrator_key=key)

    def _add_rounds(self, connection: Connection, study_id: int, plan: Plan, schedule: Schedule) -> None:
        rounds = [round_ for machine in plan.machines for round_ in machine.rounds]
        for index, (slot, round_) in enumerate(zip(plan.slots, rounds, strict=True)):
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

    def get(self, name: str) -> StoredStudy:
        """The study of that name."""
        with self._database.reading() as connection:
            return stored_study(connection, name)

    def administered(self, name: str, key: str) -> StoredStudy:
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
            connection.execute(text(query), {"hash": auth.digest(key), "id": study_row(connection, name)["id"]})
        return key

    def invite(self, study: StoredStudy, count: int, group: str | None = None) -> list[str]:
        """New tokens for people of a group; the store keeps their hashes, and the slots that these lead to."""
        checks.whole("count", count, 1, MOST_INVITATIONS)
        _check_group(study.plan, group)
        tokens = [auth.new_token() for _ in range(count)]
        slots = [slot_of(study.study, study.plan.shares, participant_name(token)) for token in tokens]
        with self._database.writing() as connection:
            ids = _round_ids(connection, study.id, self._database.lock())
            group_id = None if group is None else _grown(connection, study.id, group, count)
            for index in sorted(set(slots)):
                hashes = [auth.digest(token) for token, its in zip(tokens, slots, strict=True) if its == index]
                query = "UPDATE rounds SET invited = invited + :invited WHERE id = :id"
                connection.execute(text(query), {"invited": len(hashes), "id": ids[index]})
                self._database.add_participants(connection, ids[index], hashes, group_id)
        return tokens


def _check_group(plan: Plan, group: str | None) -> None:
    if plan.group and group is None:
        raise InvalidInput("group", None, f"given: this study tells its targets by {plan.group}")
    if not plan.group and group is not None:
        raise InvalidInput("group", group, "absent: the plan of this study has no groups")
    if group is not None:
        checks.text("group", group, LONGEST_GROUP)


def _grown(connection: Connection, study_id: int, group: str, more: int) -> int:
    """The id of a group, after so many more of its people were invited. Rows of the study's rounds are locked here."""
    known = [each.name for each in stored_groups(connection, study_id)]
    if group not in known and len(known) >= MOST_GROUPS:
        raise InvalidInput("group", group, f"one of the {MOST_GROUPS} groups that were invited: there may be no more")
    values = {"study": study_id, "name": group, "more": more}
    return int(connection.execute(_INVITED, values).scalar_one())


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

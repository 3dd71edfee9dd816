"""Studies in the store: created once with a frozen plan, and the tokens that let people take part."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, exc, text

from dame import checks
from dame.client.signed import participant_name, plan_identity
from dame.device.assignment import slot_of
from dame.device.questions import canonical
from dame.errors import InvalidInput
from dame.service import acts, administrators, auth
from dame.service.database import Database
from dame.service.opening import open_round
from dame.service.plan_bounds import check_cost
from dame.service.problems import Problem
from dame.service.public_log import add_plan
from dame.service.schedule import Schedule, iso
from dame.service.signing import new_signing_key, public_key
from dame.service.stored import Administered, StoredStudy, stored_groups, stored_study, study_row
from dame.service.study_limits import LONGEST_GROUP, MINIMUM_REPORTS, MOST_GROUPS, MOST_INVITATIONS
from dame.studies.codec import plan_from_json, plan_to_json
from dame.studies.plans import Plan
from dame.studies.running import questions

_UNFIT = frozenset('/\\?#%"')
"""What the name of a study may not contain, as it stands in addresses."""

_INVITED = text(
    "INSERT INTO groups (study_id, name, invited) VALUES (:study, :name, :more)"
    " ON CONFLICT (study_id, name) DO UPDATE SET invited = groups.invited + excluded.invited RETURNING id"
)

_SIGNING_KEYS = text("SELECT id, study, signing_key FROM studies ORDER BY id")
_SEALED = text("UPDATE studies SET signing_key = :sealed WHERE id = :id")
_OVER = text("SELECT ended_at, result IS NOT NULL AS finished FROM studies WHERE id = :study")
_TOKEN = text(
    "SELECT p.id FROM participants p JOIN rounds r ON r.id = p.round_id"
    " WHERE p.token_hash = :token AND r.study_id = :study"
)

_SHUFFLER = random.SystemRandom()
_ABOUT = {"asker": 200, "purpose": 1000, "contact": 200, "consent": 10_000}
"""What people are told about a study beside its title, and how long it may be."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Safeguards:
    """How many reports a round waits for, and for how many days reports are kept after it (None: until deleted)."""

    minimum_reports: int = MINIMUM_REPORTS
    keep_reports_days: float | None = None

    def __post_init__(self) -> None:
        checks.whole("minimum_reports", self.minimum_reports, 0, 10**12)
        if self.keep_reports_days is not None:
            checks.real("keep_reports_days", self.keep_reports_days, 0.0, 36_500.0)


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

    def create(
        self,
        document: object,
        title: str | None = None,
        schedule: Schedule | None = None,
        administrator: str = administrators.FIRST_NAME,
        safeguards: Safeguards | None = None,
        about: Mapping[str, str] | None = None,
    ) -> CreatedStudy:
        """A new study with its first administrator; the first round of each of its machines is open."""
        plan = _fit_plan(document)
        safeguards = safeguards or Safeguards()
        schedule = (schedule or Schedule()).fitting(plan.slots, self._clock(), safeguards.minimum_reports)
        identity = plan_to_json(plan)
        signing_key = new_signing_key()
        values = {
            "study": plan.study,
            "title": checks.text("title", plan.study if title is None else title, 200),
            "plan": canonical(identity).decode("ascii"),
            "plan_id": plan_identity(identity),
            "signing_key": self._database.vault.seal(signing_key, plan.study),
            "public_key": public_key(signing_key),
            "created_at": (now := self._clock()),
            "minimum_reports": safeguards.minimum_reports,
            "keep_reports_days": safeguards.keep_reports_days,
            "about": canonical(checked_about(about or {})).decode("ascii"),
        }
        asked = questions(plan)
        try:
            with self._database.writing() as connection:
                if acts.was_deleted(connection, plan.study):
                    raise Problem("conflict", f"a study named {plan.study!r} was deleted: take another name")
                study_id = _insert(connection, "studies", values)
                add_plan(connection, values, plan.alpha, now)
                key = administrators.add(connection, study_id, administrator, now)
                self._add_rounds(connection, study_id, plan, schedule)
                study = stored_study(connection, plan.study)
                for question in asked:
                    open_round(connection, self._database.vault, study, question, now)
                acts.note(connection, plan.study, acts.OPERATOR, "created", now, administrator=administrator)
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

    def administered(self, name: str, key: str) -> Administered:
        """The study of that name, for whoever holds a key of it."""
        with self._database.reading() as connection:
            who = administrators.holder(connection, study_row(connection, name)["id"], key)
            return Administered(study=stored_study(connection, name), who=who)

    def seal_keys(self) -> int:
        """How many signing keys were not stored as they should be, and are now: under the newest storage key."""
        vault = self._database.vault
        with self._database.writing() as connection:
            rows = [(row.id, row.study, bytes(row.signing_key)) for row in connection.execute(_SIGNING_KEYS)]
            stale = [row for row in rows if not vault.is_current(row[2])]
            for study_id, name, stored in stale:
                sealed = vault.seal(vault.open(stored, name), name)
                connection.execute(_SEALED, {"id": study_id, "sealed": sealed})
        return len(stale)

    def knows_token(self, name: str, token: str) -> bool:
        """Whether a token was given out for the study of that name."""
        with self._database.reading() as connection:
            values = {"study": study_row(connection, name)["id"], "token": auth.digest(token)}
            return connection.execute(_TOKEN, values).first() is not None

    def administrator_names(self, study: StoredStudy) -> list[str]:
        """The names of a study's administrators."""
        with self._database.reading() as connection:
            return administrators.names(connection, study.id)

    def add_administrator(self, study: StoredStudy, name: str, who: str) -> str:
        """The key of a new administrator, which is told once."""
        now = self._clock()
        with self._database.writing() as connection:
            key = administrators.add(connection, study.id, name, now)
            acts.note(connection, study.study, who, "administrator-added", now, administrator=name)
        return key

    def remove_administrator(self, study: StoredStudy, name: str, who: str) -> None:
        """Takes away the key of an administrator."""
        with self._database.writing() as connection:
            administrators.remove(connection, study.id, name)
            acts.note(connection, study.study, who, "administrator-removed", self._clock(), administrator=name)

    def trail(self, study: StoredStudy) -> list[acts.Act]:
        """What was done to a study, the earliest first."""
        with self._database.reading() as connection:
            return acts.of_study(connection, study.study)

    def replace_key(self, name: str, administrator: str = administrators.FIRST_NAME) -> str:
        """A new key of an administrator, for whoever holds the database; her old one is worthless from now on."""
        now = self._clock()
        with self._database.writing() as connection:
            key = administrators.replace(connection, study_row(connection, name)["id"], administrator, now)
            acts.note(connection, name, acts.OPERATOR, "key-replaced", now, administrator=administrator)
        return key

    def invite(
        self,
        study: StoredStudy,
        count: int,
        group: str | None = None,
        who: str = administrators.FIRST_NAME,
        until: float | None = None,
    ) -> list[str]:
        """New tokens for people of a group; the store keeps their hashes, and the slots that these lead to.

        They are good until some time, or as long as the study runs.
        """
        checks.whole("count", count, 1, MOST_INVITATIONS)
        _check_group(study.plan, group)
        if until is not None and until <= self._clock():
            raise InvalidInput("expires", iso(until), "a time to come")
        tokens = [auth.new_token() for _ in range(count)]
        slots = [slot_of(study.study, study.plan.shares, participant_name(token)) for token in tokens]
        with self._database.writing() as connection:
            ids = _round_ids(connection, study.id, self._database.lock())
            _check_running(connection, study.id)
            group_id = None if group is None else _grown(connection, study.id, group, count)
            for index in sorted(set(slots)):
                hashes = [auth.digest(token) for token, its in zip(tokens, slots, strict=True) if its == index]
                _SHUFFLER.shuffle(hashes)  # the order of rows must not be that of the list of invitations
                query = "UPDATE rounds SET invited = invited + :invited WHERE id = :id"
                connection.execute(text(query), {"invited": len(hashes), "id": ids[index]})
                self._database.add_participants(connection, ids[index], hashes, group_id, until)
            acts.note(connection, study.study, who, "invited", self._clock(), count=count, group=group)
        return tokens


def checked_about(about: Mapping[str, str]) -> dict[str, str]:
    """What people are told about a study, if they can be shown it: printable texts, the longest one in lines."""
    checks.keys("about", about, frozenset(), frozenset(_ABOUT))
    for name, words in about.items():
        for line in words.splitlines() if name == "consent" else [words] if words else []:
            if line.strip():
                checks.text(name, line.replace("\t", " "), _ABOUT[name])
    return {name: about.get(name, "") for name in _ABOUT}


def _check_running(connection: Connection, study_id: int) -> None:
    row = connection.execute(_OVER, {"study": study_id}).first()
    if row is None:
        raise Problem("unknown-study", "there is no study of this name")
    if row.ended_at is not None or row.finished:
        raise Problem("over", "the study is over: nobody can take part any more")


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
    check_cost(document)
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

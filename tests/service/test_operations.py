"""Generated lists of operations on one database: whatever happens in whatever order, nothing acknowledged is lost.

Two servers share the database. Crashes strike inside a transaction, before it is committed or after; the clock jumps.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from sqlalchemy import Connection, event, text

import dame
from dame.client.signed import participant_name
from dame.device.assignment import slot_of
from dame.device.questions import Question, Slot, question_from_json
from dame.device.reports import report_bytes
from dame.errors import DameError
from dame.protocols import ByGroup
from dame.service import auth
from dame.service.database import Database
from dame.service.problems import Problem
from dame.service.rounds import Rounds
from dame.service.schedule import Schedule
from dame.service.stored import REPORTS
from dame.service.studies import Safeguards, Studies
from dame.service.uploads import Upload, Uploads
from dame.studies.running import questions, result
from dame.tally import merged
from tests.service.studies import answer_of, mixed_document, plan_document

PEOPLE = 14
SEVERAL = "several targets, in groups"


class Crash(Exception):
    """The process is gone."""


class Operations(RuleBasedStateMachine):
    """Everything that participants, administrators, attackers and accidents do to a study."""

    new_address = staticmethod(lambda: "")

    @initialize(
        protocol=st.sampled_from(["paper", "one-bit", "adaptive", SEVERAL]), close_at=st.sampled_from([None, 3])
    )
    def begin(self, protocol: str, close_at: int | None) -> None:
        self.now = 1e9
        self.address = type(self).new_address()
        self.commits_left: int | None = None
        self.servers = [self.server(), self.server()]
        document = mixed_document() if protocol == SEVERAL else plan_document(protocol=protocol)
        rounds = max(len(machine["rounds"]) for target in document["targets"] for machine in target["machines"])
        schedule = Schedule(counts=[close_at] * rounds, deadlines=[1e9 + 1000.0 * (k + 1) for k in range(rounds)])
        self.study = (
            self.servers[0][1].create(document, schedule=schedule, safeguards=Safeguards(minimum_reports=0)).study
        )
        groups = ("old", "new") if document["group"] else (None,)
        self.tokens = [
            token for group in groups for token in self.servers[0][1].invite(self.study, PEOPLE // len(groups), group)
        ]
        self.acknowledged: dict[str, bytes] = {}
        self.tried: dict[str, set[bytes]] = {}
        self.closed: dict[Slot, ByGroup] = {}

    def server(self) -> tuple[Database, Studies, Rounds, Uploads]:
        database = Database(self.address)

        @event.listens_for(database.engine, "commit")
        def before_commit(connection: Connection) -> None:
            if self.commits_left is None or not connection.get_execution_options().get("dame_writes"):
                return
            if not self.commits_left:
                raise Crash
            self.commits_left -= 1

        studies = Studies(database, lambda: self.now)
        return database, studies, Rounds(database, studies, lambda: self.now), Uploads(database)

    def restart(self, place: int) -> None:
        self.servers[place][0].close()
        self.servers[place] = self.server()

    # --- what happens

    @rule(
        who=st.integers(0, PEOPLE - 1),
        server=st.integers(0, 1),
        damage=st.sampled_from(["", "", "", "bit", "short", "tag"]),
    )
    def upload(self, who: int, server: int, damage: str) -> None:
        token = self.tokens[who]
        report = self._report(token, damage)
        if report is not None:
            self._send(server, [(token, report)])

    @rule(who=st.lists(st.integers(0, PEOPLE - 1), max_size=8), server=st.integers(0, 1))
    def batch(self, who: list[int], server: int) -> None:
        pairs = [(self.tokens[one], self._report(self.tokens[one], "")) for one in who]
        self._send(server, [(token, report) for token, report in pairs if report is not None])

    @rule(who=st.integers(0, PEOPLE - 1), server=st.integers(0, 1))
    def replay(self, who: int, server: int) -> None:
        token = self.tokens[who]
        if token in self.acknowledged:
            (verdict,) = self._send(server, [(token, self.acknowledged[token])])
            assert verdict is None, "a retry of an acknowledged report is acknowledged again"

    @rule(server=st.integers(0, 1))
    def stranger(self, server: int) -> None:
        (verdict,) = self._send(server, [(auth.new_token(), b"x" * 12)])
        assert verdict is not None
        assert verdict.reason == "unknown-token"

    @rule(server=st.integers(0, 1), index=st.integers(0, 8))
    def close(self, server: int, index: int) -> None:
        known = index < len(self.study.plan.slots)
        waiting = not known or self._state(index) == "waiting"
        with pytest.raises(Problem) if waiting else contextlib.nullcontext():
            self.servers[server][2].close(self.study, index)

    @rule(server=st.integers(0, 1))
    def tick(self, server: int) -> None:
        self.servers[server][2].close_due()

    @rule(server=st.integers(0, 1), commits=st.integers(0, 2), which=st.integers(0, 8))
    def die_while_closing(self, server: int, commits: int, which: int) -> None:
        open_ = self._open()
        if open_:
            # Nothing is done; the reports are counted and forgotten again; or all is done but the study's result.
            self.commits_left = commits
            with pytest.raises(Crash) if commits < 2 else contextlib.suppress(Crash):
                self.servers[server][2].close(self.study, open_[which % len(open_)])
            self.commits_left = None
            self.restart(server)

    @rule(who=st.integers(0, PEOPLE - 1), server=st.integers(0, 1), when=st.sampled_from(["before", "after"]))
    def die_while_uploading(self, who: int, server: int, when: str) -> None:
        token = self.tokens[who]
        report = self._report(token, "")
        if report is None:
            return
        self.tried.setdefault(token, set()).add(report)
        self.commits_left = 0 if when == "before" else None
        with pytest.raises(Crash) if when == "before" else contextlib.nullcontext():
            self.servers[server][3].accept([Upload(self.study.study, auth.digest(token), report)])
        self.commits_left = None  # after the commit, before the answer: stored, and nobody knows
        self.restart(server)

    @rule(jump=st.sampled_from([-5000.0, -1.0, 1.0, 500.0, 5000.0]))
    def clock_jumps(self, jump: float) -> None:
        self.now = max(self.now + jump, 1.0)

    # --- what must hold

    @invariant()
    def acknowledged_reports_are_stored_once(self) -> None:
        stored, answered = self._stored(), self._answered()
        unlinked = self._unlinked()
        assert not stored.keys() & answered
        assert unlinked.total() == len(answered), "who has answered and whose report is unlinked are as many"
        known = {token: report for token, report in self.acknowledged.items() if auth.digest(token) in answered}
        assert Counter(known.values()) <= unlinked
        for token, report in self.acknowledged.items():
            assert token in known or stored.get(auth.digest(token)) == report
        for token_hash, report in stored.items():
            assert any(auth.digest(token) == token_hash and report in tried for token, tried in self.tried.items())

    @invariant()
    def counts_and_tallies_equal_a_recount(self) -> None:
        database, _, rounds, _ = self.servers[0]
        with database.reading() as connection:
            query = f"SELECT slot, state, {REPORTS}, tally, groups FROM rounds r ORDER BY slot"
            rows = connection.execute(text(query)).all()
        for index, state, reports, tally, groups in rows:
            recount = rounds.recount(self.study, index)
            total = None if recount is None else merged(recount.values())
            assert reports == (0 if total is None else total.reports)
            if state == "closed":
                assert recount is not None
                assert {**json.loads(tally), "question": total.question.to_json()} == total.to_json()
                each = {"": json.loads(tally)} if groups is None else json.loads(groups)
                assert each == {name: one.counts() for name, one in recount.items()}

    @invariant()
    def the_study_is_where_its_tallies_lead(self) -> None:
        _, studies, rounds, _ = self.servers[1]
        study = studies.get(self.study.study)
        tallies = {next(iter(each.values())).question.slot: each for each in rounds.tallies(study)}
        assert self.closed.items() <= tallies.items(), "a closed round never changes"
        self.closed = tallies
        asked = questions(study.plan, tallies.values())
        for question in asked:
            index = study.plan.slots.index(question.slot)
            if self._state(index) == "open":
                assert rounds.question(study, index).document == question.to_json()
            else:
                assert self._state(index) == "closing"
        if study.result is not None:
            assert not asked
            assert study.result == json.loads(json.dumps(result(study.plan, tallies.values()).to_json()))
        elif not asked:
            assert (study.study, len(study.plan.slots) - 1) in rounds.due(), "the result is read by whoever comes next"

    def teardown(self) -> None:
        """No state is a dead end: from wherever it got to, the study can be finished."""
        if not hasattr(self, "servers"):
            return
        _, studies, rounds, _ = self.servers[0]
        for index in range(len(self.study.plan.slots)):
            rounds.close(self.study, index)
        assert studies.get(self.study.study).state == "finished"
        for database, *_ in self.servers:
            database.close()

    # --- the ways there

    def _send(self, server: int, pairs: list[tuple[str, bytes]]) -> list[Problem | None]:
        uploads = [Upload(self.study.study, auth.digest(token), report) for token, report in pairs]
        verdicts = list(self.servers[server][3].accept(uploads).refusals) if uploads else []
        for (token, report), verdict in zip(pairs, verdicts, strict=True):
            self.tried.setdefault(token, set()).add(report)
            if verdict is None:
                first = self.acknowledged.setdefault(token, report)
                assert first == report or auth.digest(token) in self._answered(), (
                    "two reports were accepted from one person"
                )
        return verdicts

    def _report(self, token: str, damage: str) -> bytes | None:
        """An answer to her question, or, where that is not open, to another one that is."""
        question = self._question(token)
        if question is None:
            return None
        report = bytearray(answer_of(question, records=3))
        if damage == "bit":
            report[-1] ^= 0x80
        elif damage == "short":
            del report[report_bytes(question) // 2 :]
        elif damage == "tag":
            report[0] ^= 1
        return bytes(report)

    def _question(self, token: str) -> Question | None:
        open_ = self._open()
        if not open_:
            return None
        own = slot_of(self.study.study, self.study.plan.shares, participant_name(token))
        index = own if own in open_ else open_[0]
        return question_from_json(self.servers[0][2].question(self.study, index).document)

    def _open(self) -> list[int]:
        return [index for index in range(len(self.study.plan.slots)) if self._state(index) == "open"]

    def _state(self, index: int) -> str:
        with self.servers[0][0].reading() as connection:
            query = text("SELECT state FROM rounds WHERE slot = :slot")
            return str(connection.execute(query, {"slot": index}).scalar_one())

    def _answered(self) -> set[bytes]:
        """Whose report is unlinked: their rounds were closed."""
        with self.servers[0][0].reading() as connection:
            rows = connection.execute(text("SELECT token_hash FROM participants WHERE answered = 1"))
            return {bytes(row[0]) for row in rows}

    def _unlinked(self) -> Counter[bytes]:
        with self.servers[0][0].reading() as connection:
            rows = connection.execute(text("SELECT report FROM reports WHERE participant_id < 0"))
            return Counter(bytes(row[0]) for row in rows)

    def _stored(self) -> dict[bytes, bytes]:
        query = "SELECT p.token_hash, r.report FROM reports r JOIN participants p ON p.id = r.participant_id"
        with self.servers[0][0].reading() as connection:
            rows = connection.execute(text(query)).all()
        assert len({bytes(row[0]) for row in rows}) == len(rows), "a person is counted twice"
        return {bytes(row[0]): bytes(row[1]) for row in rows}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_any_list_of_operations_keeps_what_was_acknowledged(kind: str, request: pytest.FixtureRequest) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made: list[str] = []

        def new_address() -> str:
            if kind == "sqlite":
                return str(Path(folder) / f"{len(made)}{auth.new_token()}.sqlite")
            postgres = request.getfixturevalue("postgres")
            if made:
                postgres.drop_database(made.pop())
            made.append(postgres.new_database())
            return made[-1]

        machine = type("Machine", (Operations,), {"new_address": staticmethod(new_address)})
        examples = settings(max_examples=12 if kind == "sqlite" else 6, stateful_step_count=20, deadline=None)
        run_state_machine_as_test(machine, settings=examples)
        if made:
            postgres = request.getfixturevalue("postgres")
            postgres.drop_database(made.pop())


def test_the_invariants_would_notice_a_lost_report(tmp_path: Path) -> None:
    """The test of the test: a server that forgets a report it acknowledged is found out."""
    machine = type("Machine", (Operations,), {"new_address": staticmethod(lambda: str(tmp_path / "d.sqlite"))})()
    machine.begin(protocol="one-bit", close_at=None)
    machine.upload(who=0, server=0, damage="")
    machine.acknowledged_reports_are_stored_once()
    with machine.servers[0][0].writing() as connection:
        connection.execute(text("DELETE FROM reports"))
    with pytest.raises(AssertionError):
        machine.acknowledged_reports_are_stored_once()
    with pytest.raises(AssertionError):
        machine.counts_and_tallies_equal_a_recount()
    for database, *_ in machine.servers:
        database.close()


def test_somebody_is_in_each_slot() -> None:
    shares = dame.plan_from_json(plan_document()).shares
    slots = {slot_of("sleep", shares, participant_name(auth.new_token())) for _ in range(200)}
    assert slots == set(range(len(shares)))
    assert issubclass(Problem, DameError)

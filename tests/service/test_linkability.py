"""Who sent which report: known while a round is open, to whoever reads the database, and to nobody afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from sqlalchemy import text

from dame.service import auth, rounds
from dame.service.database import Database
from tests.service.studies import Live, Run, answer_of, several_document

PEOPLE = 120


def rows(address: str, query: str) -> list[tuple]:
    database = Database(address)
    with database.reading() as connection:
        found = [tuple(row) for row in connection.execute(text(query))]
    database.close()
    return found


def answered(study: Run, tokens: list[str]) -> dict[str, bytes]:
    question = study.question(0)
    reports = {token: answer_of(question, hours=place % 24) for place, token in enumerate(tokens)}
    assert set(study.batch(list(reports.items()))) == {"accepted"}
    return reports


def test_rows_do_not_follow_the_order_of_the_invitations(live: Live, address: str) -> None:
    study = live.create(protocol="one-bit")
    tokens = study.invite(PEOPLE)
    places = {auth.digest(token): place for place, token in enumerate(tokens)}
    stored = rows(address, "SELECT token_hash FROM participants ORDER BY id")
    order = [places[bytes(row[0])] for row in stored]
    assert sorted(order) == list(range(PEOPLE))
    rising = sum(one < other for one, other in itertools.pairwise(order))
    # A random order rises 59.5 times on average, with a standard deviation of 3.2: outside once in 10^9.
    assert abs(rising - (PEOPLE - 1) / 2) < 6.2 * 3.2


@pytest.mark.parametrize("group", [None, "old"])
def test_a_closed_round_does_not_know_who_sent_what(
    live: Live, address: str, group: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "UNLINKED_AT_ONCE", 7)
    study = (
        live.create(protocol="one-bit")
        if group is None
        else live.create_from({"plan": several_document(), "minimum_reports": 1})
    )
    tokens = study.invite(PEOPLE, group)
    first = study.by_round(tokens)[0]
    reports = answered(study, first)
    linked = "SELECT p.token_hash, r.report FROM reports r JOIN participants p ON p.id = r.participant_id"
    assert {bytes(row[0]): bytes(row[1]) for row in rows(address, linked)} == {
        auth.digest(token): report for token, report in reports.items()
    }
    assert study.close(0).status_code == 200, live.log.getvalue()
    assert rows(address, linked) == []
    kept = rows(address, "SELECT participant_id, report FROM reports")
    assert sorted(bytes(row[1]) for row in kept) == sorted(reports.values())
    assert all(row[0] < 0 for row in kept)
    assert len({row[0] for row in kept}) == len(kept)
    # What is known: who has answered, and how many said what.
    flags = {bytes(row[0]): row[1] for row in rows(address, "SELECT token_hash, answered FROM participants")}
    assert {token for token in tokens if flags[auth.digest(token)]} == set(first)
    services = live.app.state.services
    found = services.studies.get(study.study)
    assert services.rounds.recount(found, 0) == services.rounds.tally(found, 0)
    exported = b"".join(services.rounds.exported(found, 0, group)[1])
    assert len(exported) == sum(map(len, reports.values()))


def test_a_report_that_was_counted_is_told_so_whatever_comes_again(live: Live) -> None:
    """After closing, the service cannot compare: it says that one was counted, and takes nothing new."""
    study = live.create(protocol="one-bit")
    one, two, *_ = study.by_round(study.invite(40))[0]
    reports = answered(study, [one])
    other = bytes([*reports[one][:-1], reports[one][-1] ^ 1])
    assert study.upload(one, other).status_code == 409
    assert study.close(0).status_code == 200, live.log.getvalue()
    assert [study.upload(one, report).status_code for report in (reports[one], other)] == [200, 200]
    assert study.upload(two, reports[one]).json()["reason"] == "too-late"
    assert study.status()["rounds"][0]["reports"] == 1


def test_an_invitation_knows_whether_it_was_answered_before_and_after(live: Live) -> None:
    study = live.create(protocol="one-bit")
    one, two, *_ = study.by_round(study.invite(40))[0]

    def state(token: str) -> object:
        answer = live.http.get(f"{study.base}/invitation", headers={"Authorization": f"Bearer {token}"})
        return answer.json().get("answered", answer.json().get("reason"))

    other = live.create("steps")
    assert [state(token) for token in (one, two, "ab" * 16, other.invite(1)[0])] == [
        False, False, "unknown-token", "unknown-token",
    ]  # fmt: skip
    answered(study, [one])
    assert [state(one), state(two)] == [True, False]
    study.close(0)
    assert [state(one), state(two)] == [True, False]


def test_guessing_tokens_by_their_state_is_slowed_down(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, refusal_limit=1.0)
    study = live.create()
    asked = [
        live.http.get(f"{study.base}/invitation", headers={"Authorization": f"Bearer {auth.new_token()}"})
        for _ in range(10)
    ]
    assert {one.status_code for one in asked} == {401, 429}

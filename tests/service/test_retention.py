"""What is kept and for how long, who administers it, and the trail that remains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from dame.client.administration import Access, Administration
from dame.client.http import Refused
from dame.service import auth
from dame.service.export import export_study
from dame.service.migrations import schema_version
from tests.service.studies import Live, Run, answer_of, plan_document
from tests.service.test_study_runs import wait_for

TABLES = ["participants", "reports", "rounds", "groups", "administrators", "report_counts", "refusal_counts", "studies"]


def rows_of(live: Live, table: str) -> int:
    with live.app.state.services.database.reading() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def acts_of(study: Run, key: str | None = None) -> list[tuple[str, str]]:
    headers = {"Authorization": f"Bearer {key or study.key}"}
    answer = study.live.http.get(f"{study.base}/acts", headers=headers)
    return [(one["who"], one["act"]) for one in answer.json()["acts"]]


def answered(study: Run, people: int = 60) -> list[list[str]]:
    """The tokens of each round; everybody of the first round has answered."""
    tokens = study.by_round(study.invite(people))
    question = study.question(0)
    assert set(study.batch([(token, answer_of(question)) for token in tokens[0]])) == {"accepted"}
    return tokens


# --- 19: too few reports


def test_a_round_waits_for_enough_reports(live: Live) -> None:
    study = live.create_from({"plan": plan_document(), "minimum_reports": 25})
    assert study.public()["minimum_reports"] == 25
    tokens = study.by_round(study.invite(120))[0]
    question = study.question(0)
    for people, words in ((0, "0 reports"), (24, "24 reports")):
        study.batch([(token, answer_of(question)) for token in tokens[:people]])
        for refused in (
            study.close(0, anyway=False),
            live.http.post(f"{study.base}/rounds/0/close", headers=study.secret),
        ):
            assert (refused.status_code, refused.json()["reason"]) == (409, "too-few")
            assert words in refused.json()["detail"]
        assert study.public()["open_rounds"] == [0]
    study.batch([(token, answer_of(question)) for token in tokens[:25]])
    assert study.close(0, anyway=False).json()["open_rounds"] == [1]
    refused = study.close(1, anyway=False)
    assert refused.json()["reason"] == "too-few"
    assert study.close(1, anyway=True).json()["state"] == "finished"


def test_the_default_minimum_is_25_and_none_is_one(live: Live) -> None:
    made = live.http.post("/api/v1/studies", json={"plan": plan_document("default")}).json()
    assert Run(live, made["study"], made["administrator_key"]).public()["minimum_reports"] == 25
    none = live.create("none", minimum_reports=0)
    assert none.close(0, anyway=False).json()["reason"] == "too-few", "a round without a report ends nothing unasked"


def test_a_round_does_not_close_itself_with_too_few(live: Live) -> None:
    wanted = {"plan": plan_document(), "close_at_count": [10, None]}
    for least, status in ((25, 422), (10, 201)):
        answer = live.http.post("/api/v1/studies", json={**wanted, "minimum_reports": least})
        assert answer.status_code == status, answer.text
    assert "close_at_count" in live.http.post("/api/v1/studies", json=wanted).json()["detail"]


def test_a_deadline_waits_for_enough_reports(address: str, serve: Callable[..., Live]) -> None:
    now = [1e9]
    live = serve(address, lambda: now[0])
    deadlines = ["2001-09-09T02:00:00", None]
    study = live.create_from({"plan": plan_document(), "deadlines": deadlines, "minimum_reports": 5})
    tokens = study.by_round(study.invite(60))[0]
    question = study.question(0)
    study.batch([(token, answer_of(question)) for token in tokens[:4]])
    now[0] += 86_400
    rounds = live.app.state.services.rounds
    assert rounds.due() == []
    study.batch([(token, answer_of(question)) for token in tokens[:5]])
    wait_for(lambda: study.public()["open_rounds"] == [1])


def test_nobody_is_invited_to_a_study_that_is_over(live: Live) -> None:
    finished, ended = live.create("finished", "one-bit"), live.create("ended", "one-bit")
    assert finished.close(0).json()["state"] == "finished"
    assert ended.post("end").json()["state"] == "ended"
    for study in (finished, ended):
        refused = study.post("invitations", count=1)
        assert (refused.status_code, refused.json()["reason"]) == (410, "over")
        assert study.status()["invited"] == 0


# --- 21: the end


def test_a_study_is_ended(live: Live) -> None:
    study = live.create()
    tokens = answered(study)
    late = study.by_round(study.invite(60))[0][0]
    report = answer_of(study.question(0))
    status = study.post("end").json()
    assert (status["state"], status["open_rounds"], status["result"]) == ("ended", [], None)
    assert {one["state"] for one in status["rounds"]} == {"ended"}
    assert study.upload(late, report).json()["reason"] == "too-late"
    assert study.upload(tokens[1][0], report).json()["reason"] == "too-late"
    assert live.http.get(f"{study.base}/rounds/0/question").json()["reason"] == "too-late"
    assert study.close(0).json()["reason"] == "over"
    assert study.post("end").json()["reason"] == "over"
    assert live.http.get("/api/v1/studies").json()["studies"][0]["state"] == "ended"
    assert live.app.state.services.rounds.due() == []


def test_a_deleted_study_leaves_its_trail_only(live: Live) -> None:
    study, other = live.create(), live.create("other")
    tokens = answered(study)
    answered(other)
    before = {table: rows_of(live, table) for table in TABLES}
    study.upload("0" * 32, b"x")
    assert study.post("delete", study="sleep").json()["reason"] == "conflict", "it is running"
    study.post("end")
    assert study.post("delete", study="other").json()["reason"] == "invalid"
    assert study.post("delete", study="sleep").json() == {"deleted": "sleep"}
    with live.app.state.services.database.reading() as connection:
        left = connection.execute(text("SELECT count(*) FROM participants p LEFT JOIN rounds r ON r.id = p.round_id"
                                       " WHERE r.id IS NULL")).scalar_one()  # fmt: skip
        assert schema_version(connection)
    assert left == 0
    assert all(
        rows_of(live, table) < count for table, count in before.items() if table not in ("groups", "refusal_counts")
    )
    assert rows_of(live, "refusal_counts") == 0
    assert live.http.get(study.base).status_code == 404
    assert study.upload(tokens[0][0], answer_of(other.question(0))).json()["reason"] == "unknown-study"
    assert live.http.get(f"{study.base}/status", headers=study.secret).status_code == 404
    again = live.http.post("/api/v1/studies", json={"plan": plan_document("sleep")})
    assert (again.status_code, again.json()["reason"]) == (409, "conflict"), "devices have pinned its key"
    trail = live.http.get("/api/v1/acts").json()["acts"]
    assert (trail[0]["study"], trail[0]["act"], trail[0]["who"]) == ("sleep", "deleted", "administrator")
    assert other.close(0).status_code == 200


def test_the_trail_of_all_studies_is_the_operators(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, operator_key="a long operator key")
    assert live.http.get("/api/v1/acts").status_code == 403
    headers = {"Authorization": "Bearer a long operator key"}
    assert live.http.get("/api/v1/acts", headers=headers).json() == {"acts": []}


# --- 21: invitations


def test_withdrawn_invitations_are_worthless(live: Live) -> None:
    study, other = live.create(), live.create("other")
    tokens = study.by_round(study.invite(60))[0]
    foreign = other.invite(1)[0]
    report = answer_of(study.question(0))
    assert study.upload(tokens[0], report).status_code == 200
    done = study.post("withdraw", tokens=[*tokens[:3], tokens[1], auth.new_token(), foreign]).json()
    assert done == {"withdrawn": 2, "answered": 1, "unknown": 2}
    refused = study.upload(tokens[1], report)
    assert (refused.status_code, refused.json()["reason"]) == (410, "expired")
    assert study.upload(tokens[0], report).status_code == 200, "what was accepted stays accepted"
    assert study.upload(tokens[3], report).status_code == 200
    assert study.status()["rejected"] == {"expired": 1}
    assert other.batch([(foreign, report)]) != ["expired"]


def test_invitations_expire(address: str, serve: Callable[..., Live]) -> None:
    now = [1e9]
    live = serve(address, lambda: now[0])
    study = live.create()
    made = study.post("invitations", count=60, expires="2001-09-09T03:00:00").json()["invitations"]
    tokens = study.by_round([one["token"] for one in made])[0]
    report = answer_of(study.question(0))
    assert study.upload(tokens[0], report).status_code == 200
    now[0] = 1e9 + 7200  # 03:46
    assert study.upload(tokens[1], report).json()["reason"] == "expired"
    assert study.upload(tokens[0], report).status_code == 200
    assert study.post("invitations", count=1, expires="2001-09-09T03:00:00").json()["reason"] == "invalid"
    assert study.post("invitations", count=1, expires="soon").json()["reason"] == "invalid"


# --- 21: reports


def test_purged_reports_are_gone_and_tallies_stay(live: Live, tmp_path: Path) -> None:
    study = live.create()
    tokens = answered(study)
    assert study.post("purge").json() == {"rounds": []}, "an open round is not purged"
    study.close(0)
    question = study.question(1)
    assert set(study.batch([(token, answer_of(question)) for token in tokens[1]])) == {"accepted"}
    tally = live.http.get(f"{study.base}/rounds/0/tally", headers=study.secret).json()
    assert study.post("purge").json() == {"rounds": [0]}
    assert rows_of(live, "reports") == len(tokens[1])
    assert live.http.get(f"{study.base}/rounds/0/tally", headers=study.secret).json() == tally
    refused = live.http.get(f"{study.base}/rounds/0/reports", headers=study.secret)
    assert (refused.status_code, refused.json()["reason"]) == (410, "purged")
    status = study.close(1).json()
    assert status["state"] == "finished"
    assert status["rounds"][0]["purged_at"]
    assert status["rounds"][0]["reports"] == len(tokens[0]), "how many there were is still known"
    access = Access(server=live.base, study=study.study, administrator_key=study.key)
    with pytest.raises(Refused, match="purged"):
        export_study(Administration(access), tmp_path / "export")
    assert study.upload(tokens[0][0], b"x").json() == {"accepted": True}, "hers was counted, which one nobody knows"


def test_reports_are_kept_for_so_many_days(address: str, serve: Callable[..., Live]) -> None:
    now = [1e9]
    live = serve(address, lambda: now[0])
    study, other = live.create(keep_reports_days=2.0), live.create("other")
    for one in (study, other):
        answered(one)
        one.close(0)
    kept = rows_of(live, "reports")
    retention = live.app.state.services.retention
    now[0] += 2 * 86_400 - 60
    assert retention.purge_due() == []
    now[0] += 120
    wait_for(lambda: rows_of(live, "reports") < kept)
    assert study.status()["rounds"][0]["purged_at"]
    assert other.status()["rounds"][0]["purged_at"] is None
    assert ("service", "purged") in acts_of(study)
    assert "reports-purged" in live.log.getvalue()


# --- 21: administrators


def test_administrators_have_keys_of_their_own(live: Live) -> None:
    study = live.create(administrator="ada")
    answer = study.post("administrators", name="grace")
    assert answer.status_code == 201
    grace = Run(live, study.study, answer.json()["administrator_key"])
    assert grace.key != study.key
    assert study.post("administrators", name="grace").json()["reason"] == "conflict"
    tokens = grace.by_round(grace.invite(60))[0]
    question = study.question(0)
    study.batch([(token, answer_of(question)) for token in tokens])
    grace.close(0)
    assert study.post("administrators/remove", name="grace").json() == {"administrators": ["ada"]}
    assert grace.live.http.get(f"{study.base}/status", headers=grace.secret).status_code == 403
    assert study.status()["open_rounds"] == [1]
    assert study.post("administrators/remove", name="ada").json()["reason"] == "conflict", "somebody has to stay"
    assert study.post("administrators/remove", name="nobody").json()["reason"] == "unknown-administrator"
    assert acts_of(study) == [
        ("operator", "created"),
        ("ada", "administrator-added"),
        ("grace", "invited"),
        ("grace", "round-closed"),
        ("ada", "administrator-removed"),
    ]


def test_the_trail_has_no_secret_and_no_person(live: Live) -> None:
    study = live.create()
    tokens = study.invite(3)
    study.post("withdraw", tokens=tokens)
    told = live.http.get(f"{study.base}/acts", headers=study.secret).text
    assert study.key not in told
    assert not [token for token in tokens if token in told or auth.digest(token).hex() in told]


def test_a_replaced_key_is_in_the_trail(live: Live) -> None:
    study = live.create()
    key = live.app.state.services.studies.replace_key(study.study)
    assert acts_of(study, key)[-1] == ("operator", "key-replaced")

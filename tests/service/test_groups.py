"""Public groups: who is invited with which, what is counted for each, and what the study tells of them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from dame.client.administration import Access, Administration
from dame.engines.steps import tallies_from
from dame.errors import InvalidInput, Mismatch
from dame.service.database import Database
from dame.service.export import export_study
from dame.service.rounds import Rounds
from dame.service.studies import MOST_GROUPS, Studies
from tests.service.studies import Live, Run, answer_of, plan_document, several_document
from tests.service.test_study_runs import offline_estimate

HOURS = {"old": 6.0, "new": 9.0}
EACH = 150


def answered(study: Run) -> dict[str, list[list[str]]]:
    """Everybody of both groups has answered every first round; the tokens of each, by slot."""
    tokens = {group: study.by_round(study.invite(EACH, group)) for group in HOURS}
    for index in study.public()["open_rounds"]:
        question = study.question(index)
        for group, hours in HOURS.items():
            pairs = [(token, answer_of(question, hours, 30)) for token in tokens[group][index]]
            assert study.batch(pairs) == ["accepted"] * len(pairs)
    return tokens


@pytest.fixture
def study(live: Live) -> Run:
    return live.create_from({"plan": several_document()})


def test_a_study_tells_groups_and_the_effect_between_two(study: Run) -> None:
    tokens = answered(study)
    assert study.status()["groups"] == [{"group": "new", "invited": EACH, "counted": 0},
                                        {"group": "old", "invited": EACH, "counted": 0}]  # fmt: skip
    status = study.close(0).json()
    assert {one["group"]: one["counted"] for one in status["groups"]} == {
        group: len(tokens[group][0]) for group in HOURS
    }
    for index in range(1, 5):
        status = study.close(index).json()
    told = status["result"]
    assert [one["group"] for one in told["groups"]] == ["new", "old"]
    assert [one["users"] for one in told["groups"]] == [EACH, EACH]
    assert {(one["name"], one["group"], one["than"]) for one in told["differences"]} == {
        (name, "old", "new") for name in ("hours", "hours-above-8", "steps")
    }
    for one in told["differences"]:
        low, high = one["interval"]
        assert low <= one["estimate"] <= high
    hours = told["differences"][0]
    means = {one["group"]: one["targets"][0]["estimate"] for one in told["groups"]}
    assert hours["estimate"] == pytest.approx(means["old"] - means["new"])


def test_what_is_counted_is_exact_and_by_group(study: Run) -> None:
    tokens = answered(study)
    study.close(0)
    path = f"{study.base}/rounds/0/tally"
    document = study.live.http.get(path, headers=study.secret).json()
    by_group = tallies_from(document)  # refuses parts that do not add up to the whole
    assert {group: tally.reports for group, tally in by_group.items()} == {
        group: len(tokens[group][0]) for group in HOURS
    }
    services = study.live.app.state.services
    assert services.rounds.recount(services.studies.get(study.study), 0) == by_group


def test_an_export_has_the_groups_and_leads_to_the_same_result(study: Run, tmp_path: Path, capsys) -> None:
    answered(study)
    for index in range(5):
        study.close(index)
    assert offline_estimate(study, tmp_path / "export", capsys) == study.result()


def test_an_export_of_groups_that_do_not_add_up_is_refused(study: Run, tmp_path: Path) -> None:
    answered(study)
    study.close(0)
    access = Access(server=study.live.base, study=study.study, administrator_key=study.key)
    administration = Administration(access)
    honest = administration.reports
    administration.reports = lambda index, group=None: honest(index, {"old": "new", "new": "old"}[group])
    with pytest.raises(Mismatch, match="do not add up"):
        export_study(administration, tmp_path / "export")
    assert not (tmp_path / "export").exists()


def test_reports_of_a_group_nobody_belongs_to(study: Run) -> None:
    answered(study)
    study.close(0)
    path = f"{study.base}/rounds/0/reports"
    everybody, old = (
        study.live.http.get(path, params=params, headers=study.secret).content for params in ({}, {"group": "old"})
    )
    assert 0 < len(old) < len(everybody)
    refused = study.live.http.get(path, params={"group": "middle"}, headers=study.secret)
    assert (refused.status_code, refused.json()["reason"]) == (404, "unknown-group")


def test_an_invitation_names_its_group(study: Run) -> None:
    wanted = {"count": 2, "group": "Île de Ré & co"}
    told = study.live.http.post(f"{study.base}/invitations", json=wanted, headers=study.secret).json()
    assert told["group"] == wanted["group"]
    for one in told["invitations"]:
        fields = parse_qs(urlsplit(one["link"]).fragment)
        assert fields["group"] == [wanted["group"]]
        assert fields["token"] == [one["token"]]


@pytest.mark.parametrize(
    ("plan", "wanted", "word"),
    [
        (several_document, {"count": 1}, "by arm"),
        (several_document, {"count": 1, "group": ""}, "group"),
        (several_document, {"count": 1, "group": "x" * 65}, "group"),
        (several_document, {"count": 1, "group": "a\nb"}, "group"),
        (plan_document, {"count": 1, "group": "old"}, "no groups"),
    ],
)
def test_groups_where_they_do_not_belong_are_refused(live: Live, plan, wanted: dict, word: str) -> None:
    study = live.create_from({"plan": plan()})
    refused = live.http.post(f"{study.base}/invitations", json=wanted, headers=study.secret)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid")
    assert word in refused.json()["detail"]
    assert study.status()["invited"] == 0


def test_there_are_only_so_many_groups(database: Database) -> None:
    studies = Studies(database)
    study = studies.create(several_document()).study
    for number in range(MOST_GROUPS):
        studies.invite(study, 1, f"group {number}")
    studies.invite(study, 1, "group 0")
    with pytest.raises(InvalidInput, match="one of the 200 groups"):
        studies.invite(study, 1, "one more")


def test_a_small_group_and_one_that_says_nothing_are_as_wide_as_they_are(database: Database) -> None:
    studies = Studies(database)
    rounds = Rounds(database, studies)
    study = studies.create(several_document()).study
    studies.invite(study, 3, "silent")
    for index in range(len(study.plan.slots)):
        rounds.close(study, index)
    told = studies.get(study.study).result
    (silent,) = told["groups"]
    assert (silent["group"], silent["users"]) == ("silent", 0)
    assert silent["targets"][0]["interval"] == [0.0, 24.0]
    assert told["differences"] == []
